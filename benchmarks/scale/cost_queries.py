"""What the summary takes of CPU time and memory, by rows: of outcomes as they are, and of a stored run to be joined."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import analytics
from fits import Estimate, line_of
from outcome_files import FILE_ROWS, write_outcomes, write_run

PERF = Path(analytics.__file__).parent


def measured_queries(*, quick: bool) -> dict[str, Estimate]:
    """Measure summaries of several sizes and fit lines."""
    sizes = [FILE_ROWS * n for n in ((1, 2) if quick else (1, 2, 5))]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = [str(path) for path in write_outcomes(root / "outcomes", sizes[-1])]
        found = _fitted("summary of outcomes", "outcomes_by_us", {n: files[: n // FILE_ROWS] for n in sizes})
        runs = {n: [str(write_run(root / f"run-{n}", n))] for n in sizes}
        return found | _fitted("summary of stored trials", "stored_by_us", runs)


def _fitted(name: str, function: str, paths: dict[int, list[str]]) -> dict[str, Estimate]:
    points = [(n, _summary(function, one)) for n, one in paths.items() for _ in range(2)]
    n_rows = [n for n, _ in points]
    seconds = line_of(n_rows, [cost["cpu_s"] for _, cost in points])
    memory = line_of(n_rows, [cost["mb"] * 1024 * 1024 for _, cost in points])
    return {
        name: seconds.fixed,
        f"{name}: each row": seconds.each,
        f"{name}, memory": memory.fixed,
        f"{name}, memory: each row": memory.each,
    }


def _summary(function: str, paths: list[str]) -> dict[str, float]:
    """Summarise in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, "-c", analytics.PROGRAM, str(PERF), function, json.dumps(paths)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found
