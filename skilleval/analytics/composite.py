"""One number out of four: no credit for speed or for the absence of errors without success."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.metric import Metric
from skilleval.analytics.spec import AnalysisSpec

_RATE = pl.col("completion_rate")


def latency_term(spec: AnalysisSpec) -> Metric:
    """Give the share of the allowed latency that p95 uses up."""
    limit = pl.lit(spec.max_latency_ms, dtype=pl.Float64)
    return Metric(
        name="latency_term",
        expr=(pl.col("p95_ms") / limit).clip(0.0, 1.0),
        unit="share",
        doc="p95 / max_latency_ms, held in [0, 1]; null where either is not known",
    )


def speed(spec: AnalysisSpec) -> Metric:
    """Give the credit for speed, which only successful trials earn."""
    earned = _RATE * (1 - latency_term(spec).expr)
    return Metric(
        name="speed",
        # Without success there is nothing to earn, however little is known of the latency.
        expr=pl.when(_RATE == 0).then(0.0).otherwise(earned),
        unit="share",
        doc="completion_rate * (1 - latency_term)",
    )


def reliability() -> Metric:
    """Give the credit for running without errors, which only successful trials earn."""
    return Metric(
        name="reliability",
        expr=_RATE * (1 - pl.col("error_rate")),
        unit="share",
        doc="completion_rate * (1 - error_rate)",
    )


def composite(spec: AnalysisSpec) -> Metric:
    """Blend completion, partial credit, speed and reliability; null if a part that has weight is not known."""
    weights = spec.weights
    parts = (
        (weights.completion, _RATE),
        (weights.partial, pl.col("partial_score")),
        (weights.speed, speed(spec).expr),
        (weights.reliability, reliability().expr),
    )
    weighted = [weight * part for weight, part in parts if weight > 0]
    return Metric(
        name="composite",
        expr=pl.sum_horizontal(weighted, ignore_nulls=False) / weights.total,
        unit="share",
        doc="weighted mean of completion_rate, partial_score, speed and reliability",
    )


def composite_metrics(spec: AnalysisSpec) -> tuple[Metric, ...]:
    """Give the composite score of a summary row, with its parts beside it."""
    return (latency_term(spec), speed(spec), reliability(), composite(spec))
