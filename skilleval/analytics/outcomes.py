"""From stored rows to outcomes: what each scorer says of each trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skilleval.analytics.metric import Metric, summarise
from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict

if TYPE_CHECKING:
    from skilleval.analytics.spec import AnalysisSpec

TRIAL_KEYS = ("run_id", "trial_id")

_CONDITION = (
    "benchmark_id",
    "benchmark_version",
    "condition_id",
    "skill_id",
    "skill_version",
    "skill_digest",
    "adapter",
    "model",
    "sandbox",
    "mode",
)

CONDITION_KEYS = (*_CONDITION, "scorer")
"""What makes a row of the summary."""

_FROM_TRIALS = (
    *TRIAL_KEYS,
    *_CONDITION,
    "task_id",
    "task_tags",
    "task_weight",
    "repeat",
    "status",
    "latency_ms",
    "serial_latency_ms",
    "serial_status",
    "spawn_ms",
    "reused_from",
    "timeout_ms",
    "n_tries",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cost_usd",
)


def _judgement() -> tuple[Metric, ...]:
    score = pl.col("score").fill_nan(None)
    required = pl.col("required")
    weight = pl.col("weight").filter(score.is_not_null())
    mean = (score.drop_nulls() * weight).sum() / weight.sum()
    known = ~(required & score.is_null()).any() & (weight.sum() > 0)
    return (
        Metric(
            name="passed",
            # Of no required check at all nothing follows: `all` of nothing would be true.
            expr=pl.when(required.any()).then(pl.col("passed").filter(required).all(ignore_nulls=False)),
            unit="verdict",
            doc="all required checks passed; null if none failed and one is ungraded, or there is none",
        ),
        Metric(
            name="score",
            expr=pl.when(known).then(mean),
            unit="share",
            doc="weighted mean of the check scores; null if a required one is null",
        ),
    )


def trial_outcomes(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Combine the checks of each scorer on each trial into one verdict and one score.

    A trial that timed out or whose skill broke has failed, with score 0; one that the infrastructure spoiled is
    ungraded. A run without any score keeps its trials, ungraded and with a null `scorer`, so that none is lost.

    Grain: one row a trial × scorer of its run.
    Columns: those of `trials` that group or measure, then `scorer`, `passed` and `score` (null when ungraded),
        `verdict`, `is_infrastructure`, `graded`, `is_reused`.
    """
    scorers = scores.select("run_id", "scorer").unique()
    judged = summarise(scores, by=(*TRIAL_KEYS, "scorer"), metrics=_judgement())
    rows = trials.select(_FROM_TRIALS).join(scorers, on="run_id", how="left")
    return (
        rows.join(judged, on=[*TRIAL_KEYS, "scorer"], how="left")
        .with_columns(is_infrastructure=_is_infrastructure())
        .with_columns(passed=_by_status(pl.col("passed"), broken=pl.lit(value=False)))
        .with_columns(
            score=pl.when(pl.col("passed").is_not_null()).then(
                _by_status(pl.col("score"), broken=pl.lit(0.0))
            ),
            verdict=_verdict(),
            graded=pl.col("passed").is_not_null(),
            is_reused=pl.col("reused_from").is_not_null(),
        )
    )


def conditions(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Give the conditions and scorers of `trial_outcomes`, without joining a single trial with its scores.

    Grain: one row a distinct value of `CONDITION_KEYS`.
    """
    scorers = scores.select("run_id", "scorer").unique()
    tried = trials.select("run_id", *_CONDITION).unique()
    return tried.join(scorers, on="run_id", how="left").select(CONDITION_KEYS).unique()


def _is_infrastructure() -> pl.Expr:
    return pl.col("status").is_in([status.value for status in Status if status.is_infrastructure])


def _by_status(judged: pl.Expr, *, broken: pl.Expr) -> pl.Expr:
    ran = pl.col("status") == Status.COMPLETED.value
    return pl.when(ran).then(judged).when(~pl.col("is_infrastructure")).then(broken)


def _verdict() -> pl.Expr:
    passed = pl.col("passed")
    said = pl.when(passed).then(pl.lit(Verdict.PASSED.value)).otherwise(pl.lit(Verdict.FAILED.value))
    return pl.when(passed.is_null()).then(pl.lit(Verdict.UNGRADED.value)).otherwise(said)


def with_counted_latency(outcomes: pl.LazyFrame, spec: AnalysisSpec) -> pl.LazyFrame:
    """Add the latency that enters percentiles: a timeout stays in, cut off at its limit at the latest.

    Where latency was measured in a further call, that call's is taken: null where it broke, its limit where it timed
    out. A trial that broke has none then, for the call is made of completed ones only.

    Grain: unchanged.
    Columns: as given, plus `counted_latency_ms` and `is_censored`.
    """
    latency = pl.col("latency_ms").fill_nan(None)
    censored = pl.coalesce(latency, pl.col("timeout_ms"))
    measured = pl.col("serial_latency_ms").fill_nan(None) if spec.serial_latency else latency
    timed_out = pl.col("status") == Status.TIMEOUT.value
    cut_off = timed_out | (
        pl.lit(spec.serial_latency) & pl.col("serial_status").eq_missing(pl.lit(Status.TIMEOUT.value))
    )
    counts = ~pl.col("is_infrastructure") & (pl.lit(spec.reused_latency) | ~pl.col("is_reused"))
    counted = pl.when(counts).then(pl.when(timed_out).then(censored).otherwise(measured))
    return outcomes.with_columns(counted_latency_ms=counted, is_censored=counted.is_not_null() & cut_off)
