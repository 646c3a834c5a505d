"""Partial credit: the scores themselves instead of the verdicts."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.completion import share
from skilleval.analytics.metric import Metric
from skilleval.analytics.pass_k import mean_pass_at_k, pass_k_reason
from skilleval.analytics.spec import AnalysisSpec, ScoringMethod

_SCORE = pl.col("score")
_WEIGHT = pl.col("task_weight")


def partial_metrics(spec: AnalysisSpec) -> tuple[Metric, ...]:
    """Give the number of scores and the partial score by the benchmark's scoring method."""
    return (
        Metric(name="n_scored", expr=_SCORE.count().cast(pl.Int64), unit="trials", doc="trials with a score"),
        _PARTIAL[spec.scoring_method](spec),
    )


def _mean(_: AnalysisSpec) -> Metric:
    return Metric(
        name="partial_score", expr=_SCORE.mean(), unit="share", doc="mean score of the scored trials"
    )


def _weighted_mean(_: AnalysisSpec) -> Metric:
    return Metric(
        name="partial_score",
        expr=share((_WEIGHT * _SCORE).sum(), _WEIGHT.filter(_SCORE.is_not_null()).sum()),
        unit="share",
        doc="mean score of the scored trials, each weighted by its task",
    )


def _pass_at_k(spec: AnalysisSpec) -> Metric:
    passing = mean_pass_at_k(spec.k)
    return Metric(
        name="partial_score", expr=passing.expr, unit="share", source=passing.source, doc=passing.doc
    )


_PARTIAL = {
    ScoringMethod.MEAN: _mean,
    ScoringMethod.WEIGHTED_MEAN: _weighted_mean,
    ScoringMethod.PASS_AT_K: _pass_at_k,
}


def partial_reasons(spec: AnalysisSpec) -> tuple[Metric, ...]:
    """Say on a summary row why the partial score, pass@k or pass^k is null; null where it is known."""
    by_k = pass_k_reason(spec.k)
    if spec.scoring_method == ScoringMethod.PASS_AT_K:
        why = by_k
    else:
        nothing = pl.when(pl.col("n_scored") == 0).then(pl.lit("no trial has a score"))
        why = nothing.otherwise(pl.lit("the weights of the scored tasks sum to 0"))
    unknown = pl.col("partial_score").is_null()
    return (
        Metric(name="partial_score_reason", expr=pl.when(unknown).then(why), unit="text"),
        Metric(name="pass_k_reason", expr=by_k, unit="text"),
    )
