"""The formulas of the tool `eval-skills`, with its rounding and conventions, for comparison with its reports.

They are kept as they are, not as they should be: every trial is in every denominator, speed is credited without
success, failed calls leave the percentiles, and repeats count as independent. A trial that could not be graded is
an error there, and an error has score 0.
"""

from __future__ import annotations

import polars as pl

from skilleval.analytics.completion import COMPLETED, FIRST_OF_REPEAT, FIRST_OF_TASK, PASSED, trial_count
from skilleval.analytics.distribution import nearest_rank
from skilleval.analytics.metric import Metric, derive
from skilleval.analytics.spec import AnalysisSpec, ScoringMethod

RESAMPLES = 1000
MIN_RESULTS = 10
_LOW_INDEX, _HIGH_INDEX = 25, 975

_N = pl.len().cast(pl.Int64)
_SCORE = pl.col("score").fill_null(0.0)
_WEIGHT = pl.col("task_weight")
_LATENCY = pl.col("counted_latency_ms").filter(COMPLETED & (pl.col("counted_latency_ms") > 0))
_BOUNDS = pl.Struct({"low": pl.Float64(), "high": pl.Float64()})


def _share(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return pl.when(whole > 0).then(part / whole).otherwise(0.0)


def _rounded(value: pl.Expr, scale: float) -> pl.Expr:
    # Half goes up there; Polars rounds half to even by default.
    return (value * scale + 0.5).floor() / scale


def _partial_score(method: ScoringMethod) -> pl.Expr:
    if method == ScoringMethod.WEIGHTED_MEAN:
        return _share((_WEIGHT * _SCORE).sum(), _WEIGHT.sum())
    if method == ScoringMethod.PASS_AT_K:
        rates = pl.col("task_passed") / pl.col("task_trials")
        return rates.filter(FIRST_OF_TASK).mean().fill_null(0.0)
    return _share(_SCORE.sum(), _N)


def _consistency() -> pl.Expr:
    rates = (pl.col("repeat_passed") / pl.col("repeat_trials")).filter(FIRST_OF_REPEAT)
    spread = (1 - rates.std(ddof=0)).clip(lower_bound=0.0)
    return pl.when(rates.len() > 1).then(spread).otherwise(1.0)


def _percentile(percent: int) -> Metric:
    value = _rounded(nearest_rank(_LATENCY, percent / 100), 1.0).fill_null(0.0)
    return Metric(
        name=f"p{percent}_ms", expr=value, unit="ms", doc="whole ms, completed trials only; 0 if none"
    )


def _tokens() -> tuple[Metric, ...]:
    sums = {"input_tokens": pl.col("input_tokens").sum(), "output_tokens": pl.col("output_tokens").sum()}
    total = sums["input_tokens"] + sums["output_tokens"]
    return tuple(
        Metric(name=name, expr=pl.when(total > 0).then(value), unit="tokens", doc="absent if all are 0")
        for name, value in (sums | {"total_tokens": total}).items()
    )


def bootstrap_bounds(scores: pl.Series, *, seed: int) -> pl.Series:
    """Give its 95 % percentile bootstrap of the mean score as one struct, from a seed instead of from chance.

    A resample is drawn as counts of the distinct scores: the same distribution, without a table of n × 1000 draws
    and without regard to row order.
    """
    import numpy as np

    if scores.len() < MIN_RESULTS:
        return pl.Series([None], dtype=_BOUNDS)
    values, counts = np.unique(scores.to_numpy(), return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(scores.len(), counts / scores.len(), size=RESAMPLES)
    means = np.sort((drawn @ values / scores.len()).clip(values[0], values[-1]))
    bounds = {"low": float(means[_LOW_INDEX]), "high": float(means[_HIGH_INDEX])}
    return pl.Series([bounds], dtype=_BOUNDS)


def _bootstrap(seed: int) -> pl.Expr:
    return _SCORE.map_batches(
        lambda scores: bootstrap_bounds(scores, seed=seed), return_dtype=_BOUNDS, returns_scalar=True
    )


def seed_metrics(spec: AnalysisSpec) -> tuple[Metric, ...]:
    """Give the metrics of one condition; rates are not yet rounded, as the composite is made from these."""
    errors = trial_count(~COMPLETED | pl.col("passed").is_null())
    return (
        Metric(name="completion_rate", expr=_share(trial_count(PASSED), _N), unit="share", doc="passes / n"),
        Metric(name="partial_score", expr=_partial_score(spec.scoring_method), unit="share"),
        Metric(name="error_rate", expr=_share(errors, _N), unit="share", doc="(error + timeout) / n"),
        Metric(name="consistency", expr=_consistency(), unit="share", doc="1 for a single run"),
        *(_percentile(percent) for percent in (50, 95, 99)),
        Metric(name="n_latency", expr=_LATENCY.count().cast(pl.Int64), unit="trials"),
        Metric(name="n_tries", expr=pl.col("n_tries").sum(), unit="tries"),
        *_tokens(),
        Metric(name="bootstrap", expr=_bootstrap(spec.seed), unit="share", doc="bounds of the mean score"),
    )


def with_seed_composite(summary: pl.LazyFrame, spec: AnalysisSpec) -> pl.LazyFrame:
    """Add the composite score and the interval, then round as that tool does.

    Grain: unchanged.
    """
    limit = pl.lit(spec.max_latency_ms, dtype=pl.Float64)
    parts = (
        Metric(name="latency_term", expr=(pl.col("p95_ms") / limit).clip(0.0, 1.0), unit="share"),
        Metric(name="reliability", expr=1 - pl.col("error_rate"), unit="share"),
    )
    speed = Metric(name="speed", expr=1 - pl.col("latency_term"), unit="share")
    composite = Metric(name="composite", expr=_composite(spec), unit="share")
    with_parts = derive(derive(summary, metrics=parts), metrics=(speed,))
    blended = derive(with_parts, metrics=(composite, *_interval(spec.seed)))
    rates = ("completion_rate", "partial_score", "error_rate", "composite")
    return derive(
        blended,
        metrics=(Metric(name=rate, expr=_rounded(pl.col(rate), 10_000.0), unit="share") for rate in rates),
    )


def _composite(spec: AnalysisSpec) -> pl.Expr:
    weights = spec.weights
    parts = (
        (weights.completion, "completion_rate"),
        (weights.partial, "partial_score"),
        (weights.speed, "speed"),
        (weights.reliability, "reliability"),
    )
    weighted = [weight * pl.col(part) for weight, part in parts if weight > 0]
    blend = pl.sum_horizontal(weighted, ignore_nulls=False) / weights.total
    return pl.when(pl.col("n_trials") == 0).then(0.0).otherwise(blend)


def _interval(seed: int) -> tuple[Metric, ...]:
    known = pl.col("bootstrap").is_not_null()
    method = (
        f"percentile bootstrap of the mean score over trials, {RESAMPLES} resamples, seed {seed}, level 0.95"
    )
    none = f"no interval: fewer than {MIN_RESULTS} trials"
    return (
        Metric(name="ci_low", expr=pl.col("bootstrap").struct.field("low"), unit="share"),
        Metric(name="ci_high", expr=pl.col("bootstrap").struct.field("high"), unit="share"),
        Metric(
            name="ci_method", expr=pl.when(known).then(pl.lit(method)).otherwise(pl.lit(none)), unit="text"
        ),
    )
