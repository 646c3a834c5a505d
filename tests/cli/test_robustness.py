"""What a rough environment may do to a command, and what it may never do to a result or an exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cli.conftest import EXAMPLES, SCRIPT, Run
from cli.test_evaluation import RIGHT, WRONG, processes_in, start_slow_run, wait_for_lines, write_slow_skill

Replayed = Callable[[Mapping[str, Any]], list[str]]


Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(folder: Path, environment: Mapping[str, str]) -> Shell:
    """Run a line of bash and end with the exit code of its first program."""

    def call(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    return call


@pytest.mark.parametrize(
    ("outcome", "rest", "code"),
    [(RIGHT, "| true", 0), (WRONG, "--json | true", 1), (WRONG, "--json | head -c 1", 1)],
)
def test_es21_a_closed_stdout_leaves_the_exit_code_alone(
    replayed: Replayed, shell: Shell, outcome: Mapping[str, Any], rest: str, code: int
) -> None:
    """A reader who has left, at once or after a byte, changes nothing about the verdict and sees no traceback."""
    arguments = " ".join(replayed({"t1": outcome, "t2": outcome}))
    done = shell(f"{SCRIPT} eval {arguments} --exit-on-fail {rest}")
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize("command", ["config list", "eval --skills x --cfg job"])
def test_a_closed_stdout_is_quiet_everywhere(command: str, shell: Shell) -> None:
    """Listing into a reader who has left is no error."""
    done = shell(f"{SCRIPT} {command} | true")
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr


def test_a_full_stdout_is_told(replayed: Replayed, shell: Shell) -> None:
    """An output that cannot be written exits 3 with one line."""
    arguments = " ".join(replayed({"t1": RIGHT, "t2": RIGHT}))
    done = shell(f"{SCRIPT} eval {arguments} > /dev/full")
    assert done.returncode == 3
    assert "cannot write to stdout" in done.stderr


@pytest.mark.parametrize(
    "setting", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_a_terminal_without_unicode_gets_signs_instead(
    setting: dict[str, str], folder: Path, environment: Mapping[str, str], replayed: Replayed
) -> None:
    """A character that cannot be shown costs neither the output nor the exit code."""
    arguments = replayed({"t1": RIGHT, "t2": RIGHT})
    command = [str(SCRIPT), "eval", *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**environment, **setting},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "recorded" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["eval", "--nope", "--json"], ["--json", "eval", "--runs", "x"], ["--json", "nonsense"]]
)
def test_es30_a_usage_error_is_a_document_too(run: Run, arguments: list[str]) -> None:
    """With --json even a mistake on the command line is one JSON document."""
    done = run(*arguments)
    assert done.code == 2
    assert done.document["exit_code"] == 2


def test_a_killed_run_is_never_called_passed(run: Run, folder: Path, environment: Mapping[str, str]) -> None:
    """A run that never came to its end is interrupted, in its report and in the verdict."""
    write_slow_skill(folder, slow_from=4)
    process = start_slow_run(folder, environment)
    wait_for_lines(folder, 4)
    live = run("report", "convert", "--input", "latest", "--store", "out")
    process.kill()
    process.wait(timeout=60)
    assert live.code == 2
    assert "still being written" in live.err
    shown = run("report", "show", "latest", "--store", "out", "--json").document
    assert shown["run"]["interrupted"] is True
    assert shown["verdict"]["state"] != "passed"
    assert shown["summary"][0]["n_trials"] == 4


def test_readers_of_one_killed_run_do_not_collide(
    folder: Path, environment: Mapping[str, str], replayed: Replayed
) -> None:
    """Three that make tables of the same journal at once all succeed, and no row is lost or doubled."""
    arguments = replayed({"t1": RIGHT, "t2": RIGHT})
    command = [str(SCRIPT), "eval", *arguments, "--runs", "60000", "--output-dir", "out"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for_lines(folder, 3000)
    process.kill()
    process.wait(timeout=60)
    lines = sum(path.read_bytes().count(b"\n") for path in folder.glob("out/*/journal-*.jsonl"))
    read = [str(SCRIPT), "report", "show", "latest", "--store", "out"]
    readers = [
        subprocess.Popen(
            read, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for reader in readers:
        _, err = reader.communicate(timeout=180)
        assert reader.returncode == 0, err
    assert (
        pl.scan_parquet(folder / "out" / "*" / "trials" / "*.parquet").select(pl.len()).collect().item()
        == lines
    )


def test_es23_impatient_signals_leave_no_skill_alive(folder: Path, environment: Mapping[str, str]) -> None:
    """Several Ctrl-C in a row still end every process, exit 130 and say where the rows are."""
    skill = write_slow_skill(folder, slow_from=0)
    command = [str(SCRIPT), "eval", "--skills", "slow", "--tasks", "tasks.json", "--concurrency", "3"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 120
    while len(processes_in(skill)) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    for _ in range(4):
        process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    _, err = process.communicate(timeout=180)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "skilleval eval --resume outputs" in err
    assert processes_in(skill) == []


def test_a_report_is_never_written_over_something_else(run: Run, replayed: Replayed) -> None:
    """A name that says another format, or that of the manifest, is refused."""
    done = run("eval", *replayed({"t1": RIGHT, "t2": RIGHT}), "--json")
    manifest = done.run_folder() / "manifest.json"
    before = manifest.read_text()
    for output in (manifest, Path("x.pdf")):
        refused = run("report", "convert", "--input", "latest", "--format", "html", "--output", output)
        assert refused.code == 2
    assert manifest.read_text() == before


@pytest.mark.parametrize("damage", ["manifest", "parquet", "journal"])
def test_a_damaged_run_is_a_clear_error(run: Run, replayed: Replayed, damage: str) -> None:
    """A manifest of something else, a truncated table: named, exit 2; a stranger's file is left alone."""
    folder = run("eval", *replayed({"t1": RIGHT, "t2": RIGHT}), "--json").run_folder()
    if damage == "manifest":
        (folder / "manifest.json").write_text("{}")
    elif damage == "parquet":
        (part,) = (folder / "trials").glob("*.parquet")
        part.write_bytes(part.read_bytes()[:100])
    else:
        (folder / "journal-abc.jsonl").write_text("not ours")
    done = run("report", "show", "latest")
    assert done.code == (0 if damage == "journal" else 2), done.err
    assert "fault of skilleval" not in done.err


def test_further_benchmark_folders_are_added(run: Run, folder: Path) -> None:
    """--benchmarks-dir does not hide the shipped benchmarks, and a folder that is not there is named."""
    (folder / "more").mkdir()
    assert run("eval", EXAMPLES / "calculator", "--benchmarks-dir", "more", "--dry-run").code == 0
    absent = run("eval", EXAMPLES / "calculator", "--benchmarks-dir", "nothere", "--dry-run")
    assert absent.code == 2
    assert "nothere" in absent.err


@pytest.mark.parametrize(
    "option", [["--store", "x.DB"], ["--output-dir", "file/x"], ["--runs", "1000000000"]]
)
def test_es30_a_dry_run_finds_what_would_stop_the_run(run: Run, folder: Path, option: list[str]) -> None:
    """A place that cannot be written to and a plan that cannot be held are found before the first trial."""
    (folder / "file").write_text("x")
    assert run("eval", EXAMPLES / "calculator", "--dry-run", *option).code in {2, 3}


def test_a_path_of_any_length_is_answered(run: Run) -> None:
    """A word that cannot be a file name is a problem, not a crash."""
    for word in ("x" * 5000, "a," * 3000):
        done = run("eval", "--skills", word)
        assert done.code == 2
        assert "fault of skilleval" not in done.err


def test_secrets_of_the_environment_reach_no_file(folder: Path, environment: Mapping[str, str]) -> None:
    """A key in the evaluator's environment is neither handed to a skill nor written anywhere."""
    secret = f"sk-{os.urandom(8).hex()}"
    skill = folder / "spy"
    skill.mkdir()
    manifest = {
        "id": "spy",
        "name": "Spy",
        "version": "1.0.0",
        "adapterType": "subprocess",
        "entrypoint": "python3 s.py",
    }
    (skill / "skill.json").write_text(json.dumps(manifest))
    (skill / "s.py").write_text(
        "import json, os, sys\njson.load(sys.stdin)\n"
        'print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": dict(os.environ)}))\n'
    )
    (folder / "tasks.json").write_text('[{"id": "t", "inputData": {}, "expectedOutput": {"value": 1}}]')
    done = subprocess.run(
        [str(SCRIPT), "eval", "spy", "--tasks", "tasks.json", "--format", "html", "json", "markdown"],
        cwd=folder,
        env={**environment, "OPENAI_API_KEY": secret},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert secret not in done.stdout + done.stderr
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert len(written) > 5
    assert [path for path in written if secret.encode() in path.read_bytes()] == []


def test_what_is_redacted_reaches_no_file(run: Run, replayed: Replayed) -> None:
    """A pattern of privacy.redact keeps what it matches out of tables and reports; the manifest counts the places."""
    address = "jane@example.org"
    arguments = replayed({"t1": {"output": {"result": f"write to {address}"}}, "t2": RIGHT})
    done = run(
        "eval", *arguments, "privacy.redact=['[a-z]+@[a-z.]+']", "--format", "html", "json", "csv", "--json"
    )
    assert done.code == 0, done.err
    folder = done.run_folder()
    assert [
        path for path in folder.rglob("*") if path.is_file() and address.encode() in path.read_bytes()
    ] == []
    outputs = pl.read_parquet(folder / "trials" / "*.parquet")["output"].to_list()
    assert '{"result":"write to [redacted]"}' in outputs
    privacy = json.loads((folder / "manifest.json").read_text())["privacy"]
    assert privacy["n_redacted"] >= 2
    assert privacy["redact"] == ["[a-z]+@[a-z.]+"]
    refused = run("eval", *arguments, "privacy.redact=['(']")
    assert refused.code == 2
    assert "privacy.redact[0]" in refused.err
