"""The full summary of many outcomes by skill × benchmark × scorer, beside DuckDB on the same Parquet files.

Each side runs in a process of its own, so that its peak memory is its own; the faster of two runs counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from outcome_files import FILE_ROWS, write_outcomes, write_run
from rows import Row

SIZES = (100_000, 1_000_000, 10_000_000)
QUICK_SIZES = (100_000, 1_000_000)
STORED_TRIALS = 1_000_000
MOST_RATIO = 1.5
MOST_MB = 1024.0
MOST_GROWTH = 1.3
"""A further row among ten million may take that much more CPU time than one among a million."""

PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import summaries
print(json.dumps(getattr(summaries, sys.argv[2])(json.loads(sys.argv[3]))))
"""


def rows(*, quick: bool) -> list[Row]:
    """Measure sizes that grow tenfold, then one stored run whose trials and scores have to be joined first."""
    with tempfile.TemporaryDirectory() as folder:
        return _rows(Path(folder), QUICK_SIZES if quick else SIZES)


def _rows(root: Path, sizes: tuple[int, ...]) -> list[Row]:
    files = write_outcomes(root / "outcomes", sizes[-1])
    measured = {n: _both("outcomes", [str(path) for path in files[: n // FILE_ROWS]]) for n in sizes}
    # What a process needs to begin weighs more than few rows, so that only the most are promised.
    compared = [
        _ratio(f"summary of {n:,} outcomes", *pair, MOST_RATIO if n == sizes[-1] else None)
        for n, pair in measured.items()
    ]
    ours = {n: pair[0] for n, pair in measured.items()}
    stored = write_run(root / "run", STORED_TRIALS)
    joined = _both("stored", [str(stored)])
    return [
        *compared,
        _memory(sizes[-1], ours[sizes[-1]]["mb"]),
        _growth(sizes, {n: one["cpu_s"] for n, one in ours.items()}),
        _ratio(f"summary of {STORED_TRIALS:,} stored trials, joined with their scores", *joined, None),
    ]


def _both(what: str, paths: list[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Let both sides run in turn, twice, and check that they give the same numbers."""
    found = [(_measured(f"{what}_by_us", paths), _measured(f"{what}_by_duckdb", paths)) for _ in range(2)]
    for ours, theirs in found:
        for name in ("n_passed", "mean_rate", "mean_p95_ms"):
            if abs(ours[name] - theirs[name]) > 1e-9 * max(1.0, abs(theirs[name])):
                raise SystemExit(f"{name}: {ours[name]!r} here, {theirs[name]!r} by DuckDB")
    return (
        min((ours for ours, _ in found), key=lambda one: one["s"]),
        min((theirs for _, theirs in found), key=lambda one: one["s"]),
    )


def _measured(function: str, paths: list[str]) -> dict[str, float]:
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), function, json.dumps(paths)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _ratio(what: str, ours: dict[str, float], theirs: dict[str, float], most: float | None) -> Row:
    ratio = ours["s"] / theirs["s"]
    return Row(
        what=what,
        value=f"{ours['s']:.2f} s, {ours['cpu_s']:.2f} s CPU, {ours['mb']:.0f} MB",
        floor=f"DuckDB {theirs['s']:.2f} s, {theirs['cpu_s']:.2f} s CPU, {theirs['mb']:.0f} MB",
        ratio=ratio,
        goal="none: told" if most is None else f"≤ {most:g} × DuckDB",
        met=most is None or ratio <= most,
    )


def _memory(n: int, mb: float) -> Row:
    return Row(
        what=f"peak memory of the summary of {n:,} outcomes",
        value=f"{mb:.0f} MB",
        floor=f"limit {MOST_MB:.0f} MB",
        ratio=mb / MOST_MB,
        goal="≤ 1 GiB",
        met=mb <= MOST_MB,
    )


def _growth(sizes: tuple[int, ...], cpu_s: dict[int, float]) -> Row:
    """Compare the CPU time that a further row takes between the largest sizes with that between the smallest."""
    steps = [(cpu_s[b] - cpu_s[a]) / (b - a) for a, b in pairwise(sizes)]
    upper, lower = steps[-1], steps[0]
    return Row(
        what=f"CPU time of a further row, up to {sizes[-1]:,} rows",
        value=f"{1e9 * upper:.0f} ns",
        floor=f"up to {sizes[1]:,} rows {1e9 * lower:.0f} ns",
        ratio=upper / lower,
        goal=f"≤ {MOST_GROWTH:g} × (linear)",
        met=upper <= MOST_GROWTH * lower,
    )
