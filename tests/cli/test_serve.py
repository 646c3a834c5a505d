"""`skilleval report serve` through the installed console script."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from cli.conftest import SCRIPT, Run
from written_runs import write_run


@contextmanager
def serving(
    folder: Path, environment: Mapping[str, str], *options: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve a folder in a process of its own; give the first line that it says, and the process."""
    command = [str(SCRIPT), "report", "serve", str(folder), "--port", "0", *options]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def test_it_serves_until_ctrl_c_and_ends_quietly(tmp_path: Path, environment: Mapping[str, str]) -> None:
    """The address is the result; Ctrl-C is the way to end it: exit 0, and nothing that looks like a mistake."""
    write_run(tmp_path / "runs", "nightly/one")
    with serving(tmp_path / "runs", environment) as (address, process):
        assert address.startswith("http://127.0.0.1:")
        assert httpx.get(f"{address}runs.json", timeout=120).json()["runs"][0]["key"] == "nightly/one"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "")
    assert err == f"serving the runs in {tmp_path / 'runs'}; Ctrl-C ends it\n"


def test_json_tells_the_address_and_nothing_else(tmp_path: Path, environment: Mapping[str, str]) -> None:
    """A program that starts it reads one document, also where a run it asks for is a puzzle to us."""
    write_run(tmp_path, "odd", config=[1])
    with serving(tmp_path, environment, "--json") as (first, process):
        assert first == "{"
        assert process.stdout is not None
        lines = [first]
        while lines[-1].rstrip() != "}":
            lines.append(process.stdout.readline())
        document = json.loads("".join(lines))
        assert httpx.get(document["url"], timeout=120).status_code == 200
        assert httpx.get(f"{document['url']}report?run=odd", timeout=120).status_code in {404, 500}
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (out, "Traceback" in err) == ("", False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("nowhere",), "there is no folder nowhere"),
        ((".", "--host", "0.0.0.0"), "shown to this machine alone"),  # noqa: S104 - refused
        ((".", "--port", "70000"), "70000"),
    ],
)
def test_mistakes_are_told(run: Run, options: tuple[str, ...], said: str) -> None:
    """A folder that is not there, another host and an impossible port are exit 2 with the reason."""
    done = run("report", "serve", *options)
    assert (done.code, said in done.err) == (2, True), done.err


def test_a_port_that_is_taken_is_told(run: Run) -> None:
    """The way out is in the message."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = run("report", "serve", ".", "--port", str(other.getsockname()[1]))
    assert (done.code, "--port 0" in done.err) == (2, True), done.err
