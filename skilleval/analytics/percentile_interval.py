"""Intervals of percentiles from order statistics: which of the sorted values are sure to lie around the percentile."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from skilleval.analytics.distribution import nearest_rank
from skilleval.analytics.metric import Metric, summarise

_LATENCY = pl.col("counted_latency_ms")
_N = pl.col("n").cast(pl.Int64)
_RANKS = pl.Struct({"low": pl.Int64(), "high": pl.Int64(), "coverage": pl.Float64()})


def smallest_n(share: float, *, level: float, sides: int = 2) -> int:
    """Give the fewest values that bound a percentile from above (`sides` 1) or on both sides.

    One of n values exceeds the percentile but for a chance of share^n; the other end has the like.

    Source: Conover 1999, 3.2.
    """
    tail = (1 - level) / sides
    rarer = max(share, 1 - share) if sides > 1 else share
    # A hair less, because logarithms of exact powers may end above the whole number.
    return max(math.ceil(math.log(tail) / math.log(rarer) - 1e-9), 1)


def order_ranks(n: int, share: float, *, level: float) -> tuple[int, int, float] | None:
    """Give the 1-based ranks of n sorted values that enclose a percentile, and the coverage; null if n is too small.

    The number of values below the percentile is binomial: P(l <= B < u) is the coverage of the l-th to u-th value.

    Source: Conover 1999, 3.2.
    """
    from scipy.special import bdtr

    if n < smallest_n(share, level=level):
        return None
    tail = (1 - level) / 2
    low = _binomial_quantile(n, share, tail)
    high = _binomial_quantile(n, share, 1 - tail) + 1
    if low < 1 or high > n:
        return None
    return low, high, float(bdtr(high - 1, n, share) - bdtr(low - 1, n, share))


def _binomial_quantile(n: int, share: float, probability: float) -> int:
    """Give the smallest count whose cumulated probability reaches `probability`."""
    from scipy.special import bdtr

    below, at = -1, n
    while at - below > 1:
        middle = (below + at) // 2
        below, at = (below, middle) if bdtr(middle, n, share) >= probability else (middle, at)
    return at


def percentile_intervals(
    outcomes: pl.LazyFrame, *, by: Sequence[str], percents: Sequence[int], level: float
) -> pl.LazyFrame:
    """Give percentiles of the counted latency with the order statistics around them.

    Values are taken as independent, so that repeats of one task narrow the interval as if they were other tasks.

    Grain: one row a `by` × percentile.
    Columns: `by`, `metric` (`p95_ms`), `estimate`, `low`, `high` (null below the smallest n, and where both would be
        the same value), `method`, `n`, `n_clusters` (tasks with a latency).
    """
    return pl.concat([_of_percent(outcomes, by=by, percent=one, level=level) for one in percents])


def _of_percent(outcomes: pl.LazyFrame, *, by: Sequence[str], percent: int, level: float) -> pl.LazyFrame:
    share = percent / 100
    known = _LATENCY.drop_nulls().sort()
    ranks = _ranks(_LATENCY.count(), share, level).struct
    measured = summarise(
        outcomes,
        by=by,
        metrics=(
            Metric(name="estimate", expr=nearest_rank(_LATENCY, share), unit="ms"),
            Metric(name="low", expr=known.get(ranks.field("low") - 1, null_on_oob=True), unit="ms"),
            Metric(name="high", expr=known.get(ranks.field("high") - 1, null_on_oob=True), unit="ms"),
            Metric(name="coverage", expr=ranks.field("coverage"), unit="share"),
            Metric(name="n", expr=_LATENCY.count().cast(pl.Float64), unit="trials"),
            Metric(
                name="n_clusters",
                expr=pl.col("task_id").filter(_LATENCY.is_not_null()).n_unique().cast(pl.Int64),
                unit="tasks",
            ),
        ),
    )
    made = pl.format(
        "order statistics, values taken as independent, coverage {}, level " + f"{level:g}",
        pl.col("coverage").round(4),
    )
    alike = pl.format(f"no interval: the values around p{percent} are all the same, of {{}}", _N)
    few = f"no interval: p{percent} needs {smallest_n(share, level=level)} values at level {level:g}, there are "
    none = pl.format(few + "{}", _N)
    # Values that tie, like whole seconds, would make a point of it, which claims what no interval can.
    varies = pl.col("high") > pl.col("low")
    return measured.select(
        *by,
        pl.lit(f"p{percent}_ms").alias("metric"),
        "estimate",
        pl.when(varies).then("low").alias("low"),
        pl.when(varies).then("high").alias("high"),
        pl.when(varies)
        .then(made)
        .when(pl.col("low").is_not_null())
        .then(alike)
        .otherwise(none)
        .alias("method"),
        "n_clusters",
        "n",
    )


def _ranks(n: pl.Expr, share: float, level: float) -> pl.Expr:
    def ranks(counts: pl.Series) -> pl.Series:
        found = [order_ranks(count, share, level=level) or (None, None, None) for count in counts]
        rows = [dict(zip(("low", "high", "coverage"), one, strict=True)) for one in found]
        return pl.Series(rows, dtype=_RANKS)

    return n.map_batches(ranks, return_dtype=_RANKS, returns_scalar=True)
