"""Intervals beside the figures they belong to: columns of a summary instead of rows of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from skilleval.analytics.intervals_table import interval_metrics, intervals_of
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS, trial_outcomes, with_counted_latency
from skilleval.analytics.spec import AnalysisSpec, Preset

_COLUMNS: Final = {"low": "ci_low", "high": "ci_high", "method": "ci_method"}
_OF_SUMMARY = "completion_rate"  # its interval is a part of every summary, without a name before it


def interval_columns(metric: str) -> tuple[str, str, str]:
    """Name the columns that hold both ends of the interval of a metric, and its method."""
    before = "" if metric == _OF_SUMMARY else f"{metric}_"
    low, high, method = (f"{before}{name}" for name in _COLUMNS.values())
    return low, high, method


def with_intervals(
    rows: pl.LazyFrame,
    trials: pl.LazyFrame,
    scores: pl.LazyFrame,
    *,
    metrics: Sequence[str],
    spec: AnalysisSpec,
) -> pl.LazyFrame:
    """Set the intervals of some metrics beside them; `rows` is the summary of these trials. See `join_intervals`."""
    outcomes = with_counted_latency(trial_outcomes(trials, scores), spec)
    return join_intervals(rows, outcomes, by=CONDITION_KEYS, metrics=metrics, spec=spec)


def join_intervals(
    rows: pl.LazyFrame,
    outcomes: pl.LazyFrame,
    *,
    by: Sequence[str],
    metrics: Sequence[str],
    spec: AnalysisSpec,
) -> pl.LazyFrame:
    """Set the intervals of some metrics beside them; `rows` is the summary of outcomes that have a counted latency.

    A metric that has no interval gets no columns. Nor does any of a preset that defines its figures otherwise: they
    would be intervals of other numbers.

    Grain: unchanged, one row a `by`.
    Columns: those of `rows`, then `<metric>_ci_low`, `<metric>_ci_high` (null where there is none) and
        `<metric>_ci_method` (how, or why not).
    """
    known = set(interval_metrics(spec)) - {_OF_SUMMARY}
    wanted = [name for name in dict.fromkeys(metrics) if name in known]
    if spec.preset != Preset.DEFAULT or not wanted:
        return rows
    table = intervals_of(outcomes, by=by, spec=spec, metrics=wanted)
    beside = summarise(table, by=by, metrics=[_end(name, end) for name in wanted for end in _COLUMNS])
    return rows.join(beside, on=list(by), how="left", nulls_equal=True, maintain_order="left")


def _end(metric: str, end: str) -> Metric:
    found = pl.col(end).filter(pl.col("metric") == metric).first()
    return Metric(name=f"{metric}_{_COLUMNS[end]}", expr=found, unit="that of the metric")
