"""What a killed run must still hold, and how a finished one compares with one that nobody disturbed."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.results.schema import TABLES, Table
from skilleval.results.store import read_statuses, scan_table

VOLATILE = {
    "run_id",
    "sweep_id",
    "started_at",
    "ended_at",
    "queue_ms",
    "scoring_ms",
    "write_ms",
    "in_flight",
}
"""Columns that differ between any two runs: when it was, and how busy the machine."""
_OF_THE_RUN = {"run", "provenance"}
"""Parts of a report that say when and by what command it was."""


def only_run(out: Path) -> Path | None:
    """Give the folder of the run; null where none came as far as its manifest."""
    found = sorted(path.parent for path in out.glob("*/manifest.json"))
    assert len(found) <= 1, f"{len(found)} runs instead of one"
    return found[0] if found else None


def moment(folder: Path | None) -> str:
    """Say how far a killed process had come, by what it left."""
    if folder is None:
        return "before the manifest"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if list(folder.glob("*/.part-*")):
        return "making tables"
    if list(folder.glob("journal-*")):
        parts = {path.stem.removeprefix("part-") for path in folder.glob("scores/part-*")}
        new = {path.stem.removeprefix("journal-") for path in folder.glob("journal-*")}
        return "removing the journal" if new & parts else "among the trials"
    if manifest["ended_at"] is not None:
        return "writing reports, or after"
    return "between trials and manifest" if list(folder.glob("trials/*")) else "before the first trial"


def after_kill(folder: Path, known: dict[str, str]) -> Counter[str]:
    """Look at what a killed process left, without touching it: no finished trial is gone, none stands there twice.

    `known` holds the trials that were there after the kill before; those of now are put in.
    """
    now = read_statuses(folder)
    lost = len(known.keys() - now.keys())
    known.update(now)
    return Counter(lost=lost, doubled=_doubled(folder))


def _doubled(folder: Path) -> int:
    """Count the rows too many, as anybody sees them who scans the files."""
    tables = [table for table in TABLES.values() if list((folder / table.name).glob("*.parquet"))]
    keys = [
        pl.scan_parquet(folder / table.name / "*.parquet").select(table.key).collect() for table in tables
    ]
    return sum(frame.height - frame.n_unique() for frame in keys)


def after_end(folder: Path, undisturbed: Path) -> Counter[str]:
    """Compare a run that was resumed to its end with one that nobody disturbed: row by row, figure by figure."""
    found = Counter(doubled=_doubled(folder), left_behind=len(_leftovers(folder)))
    for table in TABLES.values():
        found.update(_compared(_rows(folder, table), _rows(undisturbed, table), table))
    found["summaries"] += int(not _same(_report(folder), _report(undisturbed)))
    return found


def _same(one: Any, other: Any) -> bool:
    """Compare JSON values. Sums depend on the order of rows in their last bit, between undisturbed runs too."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12)
    return bool(one == other)


def _leftovers(folder: Path) -> list[Path]:
    return [path for pattern in ("journal-*", ".*.tmp", "*/.*.tmp") for path in folder.glob(pattern)]


def _rows(folder: Path, table: Table) -> pl.DataFrame:
    columns = [name for name in table.names if name not in VOLATILE]
    return scan_table(folder, table).select(columns).collect()


def _compared(ours: pl.DataFrame, theirs: pl.DataFrame, table: Table) -> Counter[str]:
    """Count rows that are missing, strange or different; null equals null, and NaN itself."""
    key = [name for name in table.key if name not in VOLATILE]
    lost = theirs.join(ours, on=key, how="anti").height
    strange = ours.join(theirs, on=key, how="anti").height
    both = ours.join(theirs, on=key, how="semi").sort(key)
    same = theirs.join(ours, on=key, how="semi").sort(key)
    # Doubled rows are counted elsewhere; beside them no row has a partner of its own.
    different = (
        sum(one != other for one, other in zip(both.rows(), same.rows(), strict=True))
        if (both.height == same.height)
        else both.height
    )
    return Counter(lost=lost, differing=strange + different)


def _report(folder: Path) -> Mapping[str, Any]:
    path = folder / "report.json"
    report = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {key: value for key, value in report.items() if key not in _OF_THE_RUN}
