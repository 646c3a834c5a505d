"""Comparing two stored runs or JSON reports."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from skilleval.analytics.regression import COMPARED, PAIRED_BY, deltas
from skilleval.app.convert import read_report
from skilleval.report.comparison import Comparison, warnings
from skilleval.report.document import Report
from skilleval.report.task_changes import with_tasks

_TEXT = ("skill_version", "skill_digest", "benchmark_version")
_WHOLE = ("n_tasks", "n_trials", "n_graded")
_SCHEMA = pl.Schema(
    {name: pl.String() for name in (*PAIRED_BY, *_TEXT)}
    | {name: pl.Int64() for name in _WHOLE}
    | {name: pl.Float64() for name in (*COMPARED, "ci_low", "ci_high")}
)


def compare(before: str, after: str, *, store: Path, labels: tuple[str, str]) -> Comparison:
    """Compare two runs (folder, id, `latest`) or JSON reports.

    Raises:
        ResultsError: one of them cannot be read.
    """
    (one, _), (other, _) = read_report(before, store), read_report(after, store)
    rows = with_tasks(deltas(_summary(one), _summary(other)).collect().to_dicts(), one, other)
    return Comparison(before=labels[0], after=labels[1], rows=rows, warnings=warnings(one, other))


def _summary(report: Report) -> pl.LazyFrame:
    rows = [{name: row.get(name) for name in _SCHEMA} for row in report.summary]
    return pl.LazyFrame(rows, schema=_SCHEMA)
