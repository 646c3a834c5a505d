"""Intervals beside the figures they belong to: columns of a summary instead of rows of their own."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skilleval.analytics.intervals_table import interval_table
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS
from skilleval.analytics.spec import AnalysisSpec, Preset

ENDS = {"low": "ci_low", "high": "ci_high", "method": "ci_method"}
"""The columns of `interval_table`, and what they are called behind the name of their metric."""


def with_intervals(
    rows: pl.LazyFrame,
    trials: pl.LazyFrame,
    scores: pl.LazyFrame,
    *,
    metrics: Sequence[str],
    spec: AnalysisSpec,
) -> pl.LazyFrame:
    """Set the intervals of some metrics beside them; `rows` is the summary of these trials.

    A preset that defines its figures otherwise gets none: they would be intervals of other numbers.

    Grain: unchanged, one row a condition × scorer × benchmark version.
    Columns: those of `rows`, then `<metric>_ci_low`, `<metric>_ci_high` (null where there is none) and
        `<metric>_ci_method` (how, or why not).
    """
    if spec.preset != Preset.DEFAULT:
        return rows
    table = interval_table(trials, scores, spec=spec).filter(pl.col("metric").is_in(list(metrics)))
    beside = summarise(
        table, by=CONDITION_KEYS, metrics=[_end(name, end) for name in metrics for end in ENDS]
    )
    keys = list(CONDITION_KEYS)
    return rows.join(beside, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _end(metric: str, end: str) -> Metric:
    found = pl.col(end).filter(pl.col("metric") == metric).first()
    return Metric(name=f"{metric}_{ENDS[end]}", expr=found, unit="that of the metric")
