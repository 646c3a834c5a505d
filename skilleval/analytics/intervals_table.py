"""The interval of every rate and every mean of a condition, one row each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from skilleval.analytics.completion import COMPLETED, GRADED, PASSED, share, trial_count
from skilleval.analytics.flakiness import flip_chance
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS, trial_outcomes, with_counted_latency
from skilleval.analytics.pass_k import pass_at_k, pass_hat_k
from skilleval.analytics.percentile_interval import percentile_intervals
from skilleval.analytics.spec import AnalysisSpec, ScoringMethod
from skilleval.analytics.uncertainty import (
    Seen,
    cluster_count,
    clustered_error,
    drawn_bounds,
    effective_trials,
    family,
    mean_bounds,
    mean_method,
    rate_bounds,
    rate_method,
    share_bounds,
    share_method,
)

PERCENTS = (50, 95, 99)

_SCORE, _WEIGHT, _LATENCY = pl.col("score"), pl.col("task_weight"), pl.col("counted_latency_ms")

_OF_TASK = (
    Metric(name="n_graded", expr=trial_count(GRADED), unit="trials"),
    Metric(name="n_passed", expr=trial_count(PASSED), unit="trials"),
    Metric(name="n_trials", expr=pl.len().cast(pl.Int64), unit="trials"),
    Metric(name="n_errors", expr=trial_count(~COMPLETED), unit="trials"),
    Metric(name="n_infrastructure", expr=trial_count(pl.col("is_infrastructure")), unit="trials"),
    Metric(name="n_scored", expr=_SCORE.count().cast(pl.Int64), unit="trials"),
    Metric(name="total_score", expr=_SCORE.sum(), unit="shares"),
    Metric(name="weighted_score", expr=(_WEIGHT * _SCORE).sum(), unit="weighted shares"),
    Metric(name="weight", expr=_WEIGHT.filter(_SCORE.is_not_null()).sum(), unit="weight"),
    Metric(name="n_latency", expr=_LATENCY.count().cast(pl.Int64), unit="trials"),
    Metric(name="total_ms", expr=_LATENCY.sum(), unit="ms"),
)

_SEEN = Seen(
    value=pl.col("estimate"),
    n=pl.col("whole"),
    passed=pl.col("part"),
    clusters=pl.col("n_clusters"),
    se=pl.col("se"),
    drawn=(pl.col("drawn_low"), pl.col("drawn_high")),
)


class Scale(StrEnum):
    """What a number can be, and so which methods fit: a share of trials, a mean of shares, an amount."""

    RATE = "rate"
    SHARE = "share"
    AMOUNT = "amount"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratio:
    """A metric as Σ parts / Σ wholes over tasks; both follow from the sums of one task."""

    name: str
    scale: Scale
    part: pl.Expr
    whole: pl.Expr


def interval_metrics(spec: AnalysisSpec) -> tuple[str, ...]:
    """Name the metrics that `interval_table` has."""
    return (*(one.name for one in _ratios(spec)), *(f"p{percent}_ms" for percent in PERCENTS))


def interval_table(
    trials: pl.LazyFrame, scores: pl.LazyFrame, *, spec: AnalysisSpec, by: Sequence[str] = CONDITION_KEYS
) -> pl.LazyFrame:
    """Give every rate, mean and percentile of each group with its interval; see `docs/methods.md`.

    Grain: one row a `by` × metric, sorted by `by`.
    Columns: `by`, `metric`, `estimate`, `low`, `high` (null where there is none), `method` (how, or why not), `se`
        (null for percentiles), `n_clusters` (tasks or families that have anything), `n` (what is counted: trials, or
        tasks for means over tasks; for `weighted_mean` the sum of weights). `mean_ms` and percentiles are in ms.
    """
    return intervals_of(with_counted_latency(trial_outcomes(trials, scores), spec), by=by, spec=spec)


def intervals_of(
    outcomes: pl.LazyFrame, *, by: Sequence[str], spec: AnalysisSpec, metrics: Collection[str] | None = None
) -> pl.LazyFrame:
    """Give the same of outcomes that have a counted latency, by any of their columns.

    `metrics` names those that are asked for, at least one of `interval_metrics`; the others are not computed. Where
    only percentiles are asked for, there is no column `se`.

    Grain: one row a `by` × metric, sorted by `by`.
    """
    wanted = interval_metrics(spec) if metrics is None else metrics
    rows = outcomes.with_columns(cluster=family(spec))
    tasks = summarise(rows, by=(*by, "cluster", "task_id"), metrics=_OF_TASK)
    ratios = [one for one in _ratios(spec) if one.name in wanted]
    scales = [[one for one in ratios if one.scale is scale] for scale in Scale]
    found = [_of_scale(tasks, alike, by=by, spec=spec) for alike in scales if alike]
    if percents := [percent for percent in PERCENTS if f"p{percent}_ms" in wanted]:
        found.append(percentile_intervals(rows, by=by, percents=percents, level=spec.level))
    return pl.concat(found, how="diagonal").sort(by, maintain_order=True)


def cluster_intervals(
    clusters: pl.LazyFrame, *, by: Sequence[str], spec: AnalysisSpec, scale: Scale = Scale.RATE
) -> pl.LazyFrame:
    """Give Σ part / Σ whole of each group with its interval, from one row a cluster.

    Grain: one row a `by`, sorted.
    Columns: `by`, `estimate`, `low`, `high`, `method`, `se`, `n_clusters`, `n`.
    """
    part, whole = pl.col("part"), pl.col("whole")
    drawn_low, drawn_high = drawn_bounds(part, whole, spec)
    sums = (
        Metric(name="part", expr=_known_sum(part), unit="units of the metric"),
        Metric(name="whole", expr=whole.sum(), unit="trials or tasks"),
        Metric(name="n_clusters", expr=cluster_count(whole), unit="clusters"),
        Metric(name="se", expr=clustered_error(part, whole), unit="units of the metric"),
        Metric(name="drawn_low", expr=drawn_low, unit="units of the metric"),
        Metric(name="drawn_high", expr=drawn_high, unit="units of the metric"),
    )
    estimate = pl.when(pl.col("whole") > 0).then(pl.col("part") / pl.col("whole"))
    summed = derive(
        summarise(clusters, by=by, metrics=sums),
        metrics=(Metric(name="estimate", expr=estimate, unit="units of the metric"),),
    )
    low, high, method = _bounds(spec, scale)
    known = pl.col("estimate").is_not_null()
    return summed.select(
        *by,
        "estimate",
        pl.when(known).then(low).alias("low"),
        pl.when(known).then(high).alias("high"),
        method.alias("method"),
        "se",
        "n_clusters",
        pl.col("whole").cast(pl.Float64).alias("n"),
    )


def _of_scale(
    tasks: pl.LazyFrame, ratios: Sequence[Ratio], *, by: Sequence[str], spec: AnalysisSpec
) -> pl.LazyFrame:
    """Sum the tasks of each cluster, then give the interval of each group and metric of one scale."""
    sides = pl.concat(
        tasks.select(
            *by,
            "cluster",
            metric=pl.lit(one.name),
            part=one.part.cast(pl.Float64),
            whole=one.whole.cast(pl.Float64),
        )
        for one in ratios
    )
    sums = (
        Metric(name="part", expr=_known_sum(pl.col("part")), unit="units of the metric"),
        Metric(name="whole", expr=pl.col("whole").sum(), unit="trials or tasks"),
    )
    clusters = summarise(sides, by=(*by, "metric", "cluster"), metrics=sums)
    return cluster_intervals(clusters, by=(*by, "metric"), spec=spec, scale=ratios[0].scale)


def _bounds(spec: AnalysisSpec, scale: Scale) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    if scale is Scale.RATE:
        low, high = rate_bounds(_SEEN, spec, n_eff=effective_trials(_SEEN))
        return low, high, _or_unknown(rate_method(_SEEN, low, spec))
    if scale is Scale.SHARE:
        low, high = share_bounds(_SEEN, spec)
        return low, high, _or_unknown(share_method(_SEEN, low, spec))
    low, high = mean_bounds(_SEEN, spec)
    return low.clip(lower_bound=0.0), high, _or_unknown(mean_method(_SEEN, low, spec))


def _or_unknown(method: pl.Expr) -> pl.Expr:
    unknown = pl.lit("no interval: the number itself is not known")
    return pl.when(pl.col("estimate").is_null()).then(unknown).otherwise(method)


def _known_sum(part: pl.Expr) -> pl.Expr:
    """Sum; null as soon as one task is not known, for a sum of the others would be of another benchmark."""
    return pl.when(part.null_count() == 0).then(part.sum())


def _ratios(spec: AnalysisSpec) -> tuple[Ratio, ...]:
    n, passed, every = pl.col("n_graded"), pl.col("n_passed"), pl.col("n_trials")
    flips = flip_chance(n, passed)
    at_k, hat_k, one = pass_at_k(n, passed, k=spec.k), pass_hat_k(n, passed, k=spec.k), pl.lit(1.0)
    return (
        Ratio(name="completion_rate", scale=Scale.RATE, part=passed, whole=n),
        Ratio(
            name="completion_rate_macro",
            scale=Scale.SHARE,
            part=share(passed, n).fill_null(0.0),
            whole=(n > 0),
        ),
        Ratio(name="error_rate", scale=Scale.RATE, part=pl.col("n_errors"), whole=every),
        Ratio(name="infrastructure_rate", scale=Scale.RATE, part=pl.col("n_infrastructure"), whole=every),
        _partial(spec, at_k),
        Ratio(name="pass_at_k", scale=Scale.SHARE, part=at_k, whole=one),
        Ratio(name="pass_hat_k", scale=Scale.SHARE, part=hat_k, whole=one),
        Ratio(name="flip_rate", scale=Scale.SHARE, part=flips.fill_null(0.0), whole=flips.is_not_null()),
        Ratio(name="mean_ms", scale=Scale.AMOUNT, part=pl.col("total_ms"), whole=pl.col("n_latency")),
    )


def _partial(spec: AnalysisSpec, at_k: pl.Expr) -> Ratio:
    scores, weight = pl.col("total_score"), pl.col("n_scored")
    if spec.scoring_method == ScoringMethod.WEIGHTED_MEAN:
        scores, weight = pl.col("weighted_score"), pl.col("weight")
    if spec.scoring_method == ScoringMethod.PASS_AT_K:
        scores, weight = at_k, pl.lit(1.0)
    return Ratio(name="partial_score", scale=Scale.SHARE, part=scores, whole=weight)
