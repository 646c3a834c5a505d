"""Whole distributions of what a trial took: how large a share of trials stays below a value."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from skilleval.analytics.completion import trial_count
from skilleval.analytics.distribution import nearest_ranks_of_sorted
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS, trial_outcomes, with_counted_latency
from skilleval.analytics.pareto import pareto_front

if TYPE_CHECKING:
    from skilleval.analytics.spec import AnalysisSpec

STEPS = 200
"""A distribution of more values is told at every half percent."""

LATENCY, COST, TOKENS = "latency_ms", "cost_usd", "total_tokens"
MEDIAN_LATENCY, MEAN_COST = "p50_ms", "mean_cost_usd"

_OF = {LATENCY: ("counted_latency_ms", "ms"), COST: (COST, "USD"), TOKENS: (TOKENS, "tokens")}
_CONDITION = tuple(key for key in CONDITION_KEYS if key != "scorer")
_KEYS = (*_CONDITION, "measure", "unit")
_VALUE = pl.col("value")
_METRICS = (
    Metric(name="n", expr=pl.len().cast(pl.Int64), unit="trials", doc="trials whose value is known"),
    Metric(name="n_censored", expr=trial_count(pl.col("is_censored")), unit="trials", doc="cut off"),
    Metric(name="mean", expr=_VALUE.mean(), unit="of the measure", doc="mean of a trial"),
    Metric(name="sorted_values", expr=_VALUE.sort(), unit="list of the measure", sorts=True),
)


@cache
def _curve() -> tuple[Metric, ...]:
    """Give the points of the empirical distribution function of a row with `n` and `sorted_values`.

    Source: nearest rank, as of the percentiles.
    """
    values = pl.col("sorted_values")
    is_short = pl.col("n") <= STEPS
    steps = [step / STEPS for step in range(STEPS + 1)]
    ranked = nearest_ranks_of_sorted(values, steps)
    ranks = pl.int_ranges(1, pl.col("n") + 1).cast(pl.List(pl.Float64)) / pl.col("n")
    return (
        Metric(
            name="shares", expr=pl.when(is_short).then(ranks).otherwise(pl.lit(steps)), unit="list of shares"
        ),
        Metric(
            name="values", expr=pl.when(is_short).then(values).otherwise(ranked), unit="list of the measure"
        ),
    )


def distributions(trials: pl.LazyFrame, scores: pl.LazyFrame, *, spec: AnalysisSpec) -> pl.LazyFrame:
    """Give how latency, cost and tokens of a trial are distributed, where they are known.

    The latency is the one that percentiles are taken of: a time-out counts with its limit. A cost is that of every
    trial with a price, whichever run paid it.

    Grain: one row a condition × measure, sorted.
    Columns: those of a condition, `measure` (`latency_ms`, `cost_usd`, `total_tokens`), `unit`, `n` (trials),
        `n_censored` (of them cut off, so that their value is a lower bound), `mean`, and two lists of one length:
        `shares` and the `values` that so large a share of trials does not exceed. These are all values where they are
        200 or fewer, else those at 0, 0.5, 1 … 100 %.
    Source: nearest rank.
    """
    # Without a score there is one row a trial: what it took belongs to no scorer.
    taken = with_counted_latency(trial_outcomes(trials, scores.limit(0)), spec)
    measured = [
        taken.select(
            *_CONDITION,
            measure=pl.lit(measure),
            unit=pl.lit(unit),
            value=pl.col(column).cast(pl.Float64).fill_nan(None),
            is_censored=pl.col("is_censored") if measure == LATENCY else pl.lit(value=False),
        ).filter(_VALUE.is_not_null())
        for measure, (column, unit) in _OF.items()
    ]
    sorted_values = summarise(pl.concat(measured), by=_KEYS, metrics=_METRICS)
    return derive(sorted_values, metrics=_curve()).drop("sorted_values")


def fronts(summary: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Say which conditions nobody beats in completion and latency, and in completion and cost.

    `summary` gives completion and median latency, `measured` (see `distributions`) the mean cost of a trial.

    Grain: one row a condition × scorer × measure where both are known.
    Columns: `condition_id`, `scorer`, `measure` (`p50_ms`, `mean_cost_usd`), `value`, `is_on_front`, `dominated_by`
        (condition ids).
    Source: Pareto 1896.
    """
    costs = measured.filter(pl.col("measure") == COST).select(*_CONDITION, pl.col("mean").alias(MEAN_COST))
    rows = summary.join(costs, on=_CONDITION, how="left", nulls_equal=True)
    groups = rows.partition_by("benchmark_id", "benchmark_version", "scorer", maintain_order=True)
    found = [_front(group, measure) for measure in (MEDIAN_LATENCY, MEAN_COST) for group in groups]
    return pl.concat(found) if found else pl.DataFrame()


def _front(group: pl.DataFrame, measure: str) -> pl.DataFrame:
    """Mark the front of one benchmark and scorer; see `fronts`."""
    known = group.lazy().with_columns(value=pl.col(measure).cast(pl.Float64), measure=pl.lit(measure))
    known = known.filter(pl.col("value").is_not_null() & pl.col("completion_rate").is_not_null())
    criteria = {"completion_rate": False, "value": True}
    marked = pareto_front(known, criteria=criteria, key="condition_id", name="condition_id")
    columns = ("condition_id", "scorer", "measure", "value", "dominated_by")
    return marked.select(*columns, is_on_front=pl.col("on_front")).collect()
