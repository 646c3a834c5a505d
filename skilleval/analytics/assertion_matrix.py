"""What each assertion says of a skill: how often it passes in either arm, and what to do about it."""

from __future__ import annotations

from enum import StrEnum

import polars as pl

from skilleval.analytics.arms import ARMS, PAIR_KEYS, side_by_side
from skilleval.analytics.completion import trial_count
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import TRIAL_KEYS
from skilleval.domain.attempts import Status
from skilleval.domain.trials import Mode

CHECK_KEYS = ("task_id", "check_id")
_OF_TRIAL = tuple(key for key in PAIR_KEYS if key != "scorer")


class Signal(StrEnum):
    """What an assertion tells of a skill."""

    ONLY_WITH = "only_with"
    ONLY_WITHOUT = "only_without"
    ALWAYS_PASS = "always_pass"  # noqa: S105 - a rate of passing, not a password
    ALWAYS_FAIL = "always_fail"
    FLAKY = "flaky"
    UNGRADED = "ungraded"


_ADVICE = {
    Signal.ONLY_WITH: "passes only with the skill: this is the value of the skill, keep it",
    Signal.ONLY_WITHOUT: "passes only without the skill: the skill harms here, see what it asks for",
    Signal.ALWAYS_PASS: "passes in both arms and tells nothing of the skill: drop or sharpen it",
    Signal.ALWAYS_FAIL: "fails in both arms: fix the skill, or the assertion if nothing can pass it",
    Signal.FLAKY: "passes only sometimes: tighten the assertion or the skill, and repeat more often",
    Signal.UNGRADED: "has no verdict in one arm: see the errors of the model and of the judge",
}
_AGAINST_OLD = {
    Signal.ONLY_WITH: "passes only with the new edition: this is what it gained, keep it",
    Signal.ONLY_WITHOUT: "passes only with the old edition: a regression, see what was changed",
}


def assertion_matrix(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Give the pass rate of each check in both arms, what it tells, and a line of advice.

    Only attempts that completed are counted, and of them only verdicts: what broke says nothing of an assertion.

    Grain: one row `PAIR_KEYS` × baseline × task × check, sorted.
    Columns: `PAIR_KEYS`, `baseline`, `task_id`, `check_id`, `check`, `rule`, `weight`; `n`, `rate` and `score` (means
        over graded trials) of each arm; `signal` (see `Signal`) and `advice`.
    """
    paired = side_by_side(_checks(trials, scores), by=CHECK_KEYS)
    shared = [_either(name) for name in ("check", "rule", "weight")]
    sided = [f"{name}_{side}" for side in ("candidate", "baseline") for name in ("n", "rate", "score")]
    counted = [pl.col(f"n_{side}").fill_null(0) for side in ("candidate", "baseline")]
    # What stands for an attempt that broke is no assertion: no completed attempt has it.
    seen = pl.sum_horizontal("n_seen_candidate", "n_seen_baseline") > 0
    known = paired.filter(seen).with_columns(*shared, *counted).with_columns(signal=_signal())
    return derive(known, metrics=(_advice(),)).select(
        *PAIR_KEYS, "baseline", *CHECK_KEYS, "check", "rule", "weight", *sided, "signal", "advice"
    )


def _checks(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Give how each check went in each arm.

    Grain: one row `PAIR_KEYS` × mode × task × check.
    """
    armed = trials.filter(pl.col("mode").is_in(ARMS)).select(
        *TRIAL_KEYS, *_OF_TRIAL, "mode", "task_id", completed=pl.col("status") == Status.COMPLETED.value
    )
    completed = pl.col("completed")
    passed, score = pl.col("passed").filter(completed), pl.col("score").filter(completed)
    metrics = (
        Metric(name="n_seen", expr=trial_count(completed), unit="trials", doc="completed ones"),
        Metric(name="n", expr=passed.count().cast(pl.Int64), unit="trials", doc="of them with a verdict"),
        Metric(name="rate", expr=passed.cast(pl.Float64).mean(), unit="share", doc="of those that passed"),
        Metric(name="score", expr=score.fill_nan(None).mean(), unit="share", doc="mean of the check"),
        Metric(name="check", expr=pl.col("check").min(), unit="text"),
        Metric(name="rule", expr=pl.col("rule").min(), unit="text"),
        Metric(name="weight", expr=pl.col("weight").max(), unit="weight"),
    )
    rows = scores.join(armed, on=TRIAL_KEYS, how="inner")
    return summarise(rows, by=(*PAIR_KEYS, "mode", *CHECK_KEYS), metrics=metrics)


def _either(name: str) -> pl.Expr:
    return pl.coalesce(f"{name}_candidate", f"{name}_baseline").alias(name)


def _signal() -> pl.Expr:
    candidate, baseline = pl.col("rate_candidate"), pl.col("rate_baseline")
    return (
        pl.when(candidate.is_null() | baseline.is_null())
        .then(pl.lit(Signal.UNGRADED.value))
        .when((candidate == 1) & (baseline == 1))
        .then(pl.lit(Signal.ALWAYS_PASS.value))
        .when((candidate == 0) & (baseline == 0))
        .then(pl.lit(Signal.ALWAYS_FAIL.value))
        .when((candidate == 1) & (baseline == 0))
        .then(pl.lit(Signal.ONLY_WITH.value))
        .when((candidate == 0) & (baseline == 1))
        .then(pl.lit(Signal.ONLY_WITHOUT.value))
        .otherwise(pl.lit(Signal.FLAKY.value))
    )


def _advice() -> Metric:
    is_old = pl.col("baseline") == Mode.OLD_SKILL.value
    usual, old = (_lines(advice) for advice in (_ADVICE, _ADVICE | _AGAINST_OLD))
    return Metric(name="advice", expr=pl.when(is_old).then(old).otherwise(usual), unit="text")


def _lines(advice: dict[Signal, str]) -> pl.Expr:
    lines = {signal.value: line for signal, line in advice.items()}
    return pl.col("signal").replace_strict(lines, return_dtype=pl.String)
