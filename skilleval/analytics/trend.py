"""One skill over time: the lines that runs can be joined to, and the matrix of task means behind a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

LINE_KEYS = ("skill_id", "mode", "adapter", "model", "sandbox", "scorer", "benchmark_id")
"""What a reader expects to see as one line."""

METHOD_KEYS = ("benchmark_version", "benchmark_digest", "scorer_version", "scorer_settings", "formulas")
"""What must be equal too: figures that differ in it do not measure the same thing."""

TASK_MEANS: Final[Mapping[str, str]] = {
    "completion_rate": "completion_rate",
    "completion_rate_macro": "completion_rate",
    "partial_score": "score",
    "error_rate": "error_rate",
}
"""The metrics that are means over tasks, and the column of `task_results` each is a mean of."""


def numbered_lines(points: pl.LazyFrame) -> pl.LazyFrame:
    """Join points to lines: only what is equal in `LINE_KEYS` and `METHOD_KEYS` can be compared.

    Where a run has several conditions that stand for one line, the one with the lowest value counts.

    Grain: one row a line × run, the lines in the order of their keys, the newest method last, runs in their order.
    Columns: as given (`LINE_KEYS`, `METHOD_KEYS`, `run_id`, `started_at`, `value` and whatever else), plus `line`.
    """
    keys = [*LINE_KEYS, *METHOD_KEYS]
    lowest = points.sort("value", nulls_last=True, maintain_order=True).unique(
        [*keys, "run_id"], keep="first", maintain_order=True
    )
    newest = lowest.with_columns(newest=pl.col("started_at").max().over(keys))
    ordered = newest.sort(*LINE_KEYS, "newest", *METHOD_KEYS, "started_at", "run_id")
    return ordered.with_columns(line=pl.struct(keys).rle_id().cast(pl.Int64)).drop("newest")


def task_matrix(tasks: pl.DataFrame, runs: Sequence[str]) -> npt.NDArray[np.float64]:
    """Lay out task means as runs × tasks, NaN where one is not known; `tasks` has `run_id`, `task_id`, `value`."""
    names = {name: column for column, name in enumerate(tasks["task_id"].unique().sort())}
    rows = {run: row for row, run in enumerate(runs)}
    matrix = np.full((len(rows), len(names)), np.nan)
    for run, task, value in tasks.select("run_id", "task_id", "value").iter_rows():
        if value is not None and run in rows:
            matrix[rows[run], names[task]] = value
    return matrix
