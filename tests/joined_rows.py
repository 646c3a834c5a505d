"""What two runs of one plan have in common: rows but for ids and times, reports but for where they come from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.results.schema import TABLES
from skilleval.results.store import scan_table

OWN = (
    "run_id",
    "sweep_id",
    "started_at",
    "ended_at",
    "concurrency",
    "in_flight",
    "queue_ms",
    "scoring_ms",
    "write_ms",
)
"""Columns that belong to one execution: who wrote the row, and when."""
_EXECUTION = ("run", "provenance")


def rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Give the rows of each table, sorted by their key, without what belongs to one execution."""
    found = {}
    for name, table in TABLES.items():
        key = [column for column in table.key if column not in OWN]
        kept = scan_table(folder, table).drop(OWN, strict=False).sort(key)
        found[name] = kept.collect().to_dicts()
    return found


def findings(folder: Path) -> dict[str, Any]:
    """Give what the report of a run says, without the run itself and where it comes from."""
    document: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return {key: value for key, value in document.items() if key not in _EXECUTION}


def same_numbers(one: Any, other: Any) -> bool:
    """Say whether two documents are equal, floats but for the last places: their sums depend on the order of rows."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_numbers(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
    if isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str):
        return len(one) == len(other) and all(map(same_numbers, one, other))
    return bool(one == other)


def n_rows(folder: Path, table: str) -> int:
    """Count the rows of a table."""
    counted: int = scan_table(folder, TABLES[table]).select(pl.len()).collect().item()
    return counted
