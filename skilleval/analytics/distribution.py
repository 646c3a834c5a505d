"""Latency by nearest rank, and what the trials consumed."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skilleval.analytics.completion import trial_count
from skilleval.analytics.metric import Metric

_LATENCY = pl.col("counted_latency_ms")
_REUSED = pl.col("is_reused")
# 0.07 * 100 is a little above 7 in binary: without this slack its rank would be 8.
_RANK_SLACK = 1e-9


def nearest_rank(values: pl.Expr, share: float) -> pl.Expr:
    """Give the smallest known value that at least a share of the known values does not exceed; null if none."""
    known = values.drop_nulls()
    return known.sort().get(_place(known.len(), share), null_on_oob=True)


def nearest_rank_of_sorted(values: pl.Expr, share: float) -> pl.Expr:
    """Give the same of a list of known values in their order."""
    return values.list.get(_place(values.list.len(), share), null_on_oob=True)


def nearest_ranks_of_sorted(values: pl.Expr, shares: Sequence[float]) -> pl.Expr:
    """Give many of them at once, as a list: an expression for each would take longer to plan than to work out."""
    ranks = pl.lit(list(shares), dtype=pl.List(pl.Float64)) * values.list.len()
    return values.list.gather(ranks.list.eval(_place_of(pl.element())), null_on_oob=True)


def _place(n: pl.Expr, share: float) -> pl.Expr:
    """Give the 0-based place of a nearest rank among n sorted values."""
    return _place_of(share * n)


def _place_of(rank: pl.Expr) -> pl.Expr:
    """Give the 0-based place of a rank that may lie between two values."""
    return (rank - _RANK_SLACK).ceil().clip(lower_bound=1).cast(pl.Int64) - 1


SORTED_VALUES: tuple[Metric, ...] = (
    Metric(name="sorted_ms", expr=_LATENCY.drop_nulls().sort(), unit="list of ms", sorts=True),
    Metric(
        name="sorted_spawn_ms",
        expr=pl.col("spawn_ms").filter(~_REUSED).drop_nulls().sort(),
        unit="list of ms",
        sorts=True,
    ),
)
"""What `PERCENTILES` are taken of; sorted once for all of them."""


def latency_percentile(percent: int) -> Metric:
    """Give a percentile of the latency; a time-out stays in at its limit, so it may be a lower bound."""
    return Metric(
        name=f"p{percent}_ms",
        expr=nearest_rank_of_sorted(pl.col("sorted_ms"), percent / 100),
        unit="ms",
        source="nearest rank",
        doc="over the n_latency trials that completed, timed out or broke and whose time is known",
    )


PERCENTILES: tuple[Metric, ...] = (
    *(latency_percentile(percent) for percent in (50, 95, 99)),
    *(latency_percentile(percent) for percent in (10, 25, 75, 90)),
    Metric(
        name="spawn_p50_ms",
        expr=nearest_rank_of_sorted(pl.col("sorted_spawn_ms"), 0.5),
        unit="ms",
        source="nearest rank",
        doc="median time to start a process, which is no part of the latency; attempts of earlier runs stay out",
    ),
)
"""Percentiles of a summary row that has `SORTED_VALUES`."""


def _total(name: str, unit: str) -> Metric:
    """Sum what was reported; null, never 0, where nothing was."""
    column = pl.col(name)
    reported = column.is_not_null().any()
    return Metric(
        name=name, expr=pl.when(reported).then(column.sum()), unit=unit, doc="sum of what was reported"
    )


def _spent(name: str, counted: pl.Expr, doc: str) -> Metric:
    """Sum the prices of some trials; null where no trial at all has one."""
    price = pl.col("cost_usd")
    return Metric(
        name=name,
        expr=pl.when(price.is_not_null().any()).then(price.filter(counted).sum()),
        unit="USD",
        doc=doc,
    )


DISTRIBUTION: tuple[Metric, ...] = (
    Metric(name="min_ms", expr=_LATENCY.min(), unit="ms", doc="shortest of the counted latencies"),
    Metric(name="max_ms", expr=_LATENCY.max(), unit="ms", doc="longest of the counted latencies"),
    Metric(
        name="n_latency",
        expr=_LATENCY.count().cast(pl.Int64),
        unit="trials",
        doc="trials whose latency enters the percentiles",
    ),
    Metric(
        name="n_censored",
        expr=trial_count(pl.col("is_censored")),
        unit="trials",
        doc="those of them that were cut off: their latency is a lower bound",
    ),
    Metric(name="n_tries", expr=pl.col("n_tries").sum(), unit="tries", doc="executions, retries included"),
    Metric(
        name="n_usage",
        expr=trial_count(
            pl.any_horizontal(pl.col("input_tokens", "output_tokens", "total_tokens").is_not_null())
        ),
        unit="trials",
        doc="trials that reported tokens",
    ),
    _total("input_tokens", "tokens"),
    _total("output_tokens", "tokens"),
    _total("total_tokens", "tokens"),
    Metric(
        name="n_cost",
        expr=pl.col("cost_usd").count().cast(pl.Int64),
        unit="trials",
        doc="trials with a price",
    ),
    _spent("cost_usd", ~_REUSED, "what this run spent: attempts of earlier runs cost it nothing"),
    _spent("reused_cost_usd", _REUSED, "what the attempts of earlier runs had cost there"),
)
