from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cli.conftest import SCRIPT
from cli.test_evaluation import RIGHT

Replayed = Callable[[Mapping[str, Any]], list[str]]


@pytest.fixture
def shell(folder: Path, environment: Mapping[str, str]) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run a line of a shell."""

    def call(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", line],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("benchmark list", 0),
        ("benchmark list --json", 0),
        ("--version", 0),
        ("eval --help", 0),
        ("benchmark show nowhere --json", 2),
        ("nonsense --json", 2),
    ],
)
def test_a_stream_that_is_closed_leaves_the_exit_code_alone(
    shell: Callable[[str], subprocess.CompletedProcess[str]], command: str, code: int, closed: str
) -> None:
    """Whoever closes stdout or stderr wants to hear nothing; the exit code says how it went all the same."""
    done = shell(f"{SCRIPT} {command} {closed}")
    assert (done.returncode, "Traceback" in done.stderr, "NoneType" in done.stderr) == (code, False, False)


def test_a_run_without_streams_keeps_its_results(
    replayed: Replayed, folder: Path, shell: Callable[[str], subprocess.CompletedProcess[str]]
) -> None:
    """No file of a run takes the place of a closed stream, where prints and warnings would go."""
    arguments = " ".join(replayed({"t1": RIGHT, "t2": RIGHT}))
    done = shell(f"{SCRIPT} eval {arguments} --output-dir runs -v <&- >&- 2>&-")
    assert done.returncode == 0
    (run,) = (path.parent for path in (folder / "runs").glob("*/manifest.json"))
    assert json.loads((run / "manifest.json").read_text())["exit_code"] == 0
    assert pl.read_parquet(run / "trials" / "*.parquet").height == 2
