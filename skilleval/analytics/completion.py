"""How many trials there were, how they ended, and the rates, each with its denominator.

Expressions over trials read outcomes; those over tasks or repeats read the counts of `grains`.
"""

from __future__ import annotations

import polars as pl

from skilleval.analytics.metric import Metric
from skilleval.domain.attempts import Status

GRADED = pl.col("graded")
PASSED = pl.col("passed").fill_null(value=False)
FIRST_OF_TASK = pl.col("is_first_of_task")
FIRST_OF_REPEAT = pl.col("is_first_of_repeat")
COMPLETED = pl.col("status") == Status.COMPLETED.value

_SPOILED = pl.col("is_infrastructure")
_UNGRADED = COMPLETED & ~GRADED


def share(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Divide, and say null instead of NaN where there is nothing to divide by."""
    return pl.when(whole > 0).then(part / whole)


def trial_count(condition: pl.Expr) -> pl.Expr:
    """Count the rows that meet a condition, as a signed number that can be subtracted from."""
    return condition.sum().cast(pl.Int64)


def task_rate() -> pl.Expr:
    """Give one row's task its completion rate: passed over graded, null where nothing was graded."""
    return share(pl.col("task_passed"), pl.col("task_graded"))


def _count(name: str, condition: pl.Expr, doc: str, unit: str = "trials") -> Metric:
    return Metric(name=name, expr=trial_count(condition), unit=unit, doc=doc)


COUNTS: tuple[Metric, ...] = (
    _count("n_tasks", FIRST_OF_TASK, "tasks that were tried", unit="tasks"),
    Metric(
        name="n_trials", expr=pl.len().cast(pl.Int64), unit="trials", doc="all trials, however they ended"
    ),
    _count("n_repeats", FIRST_OF_REPEAT, "repeats; those of different runs are different", unit="repeats"),
    _count("n_graded", GRADED, "trials with a verdict: the denominator of the completion rate"),
    _count(
        "n_graded_tasks", FIRST_OF_TASK & (pl.col("task_graded") > 0), "tasks with a verdict", unit="tasks"
    ),
    Metric(
        name="min_task_graded",
        expr=pl.col("task_graded").min(),
        unit="trials",
        doc="graded trials of the task that has fewest",
    ),
    _count("n_passed", PASSED, "completed and right"),
    _count("n_failed", COMPLETED & GRADED & ~PASSED, "completed but wrong"),
    _count("n_timeout", pl.col("status") == Status.TIMEOUT.value, "cut off at the limit"),
    _count("n_skill_error", pl.col("status") == Status.SKILL_ERROR.value, "the skill broke"),
    _count("n_infrastructure", _SPOILED, "spoiled by provider, sandbox or permissions: nobody's failure"),
    _count("n_ungraded", _UNGRADED, "completed, but no verdict could be given"),
    _count("n_reused", pl.col("is_reused"), "whose attempt was made by an earlier run: no skill was called"),
)


def completion_rate() -> Metric:
    """Give the share of graded trials that passed (micro: every trial counts the same)."""
    return Metric(
        name="completion_rate",
        expr=share(trial_count(PASSED), trial_count(GRADED)),
        unit="share",
        doc="n_passed / n_graded; a time-out or an error of the skill is a failure",
    )


def completion_rate_macro() -> Metric:
    """Give the mean over tasks of each task's own rate (every task counts the same)."""
    return Metric(
        name="completion_rate_macro",
        expr=task_rate().filter(FIRST_OF_TASK).mean(),
        unit="share",
        doc="differs from completion_rate where repeats are missing",
    )


def completion_low() -> Metric:
    """Give the rate if everything without a verdict had failed."""
    return Metric(
        name="completion_low",
        expr=trial_count(PASSED) / pl.len(),
        unit="share",
        doc="n_passed / n_trials",
    )


def completion_high() -> Metric:
    """Give the rate if everything without a verdict had passed."""
    return Metric(
        name="completion_high",
        expr=trial_count(PASSED | ~GRADED) / pl.len(),
        unit="share",
        doc="(n_passed + n_infrastructure + n_ungraded) / n_trials",
    )


def error_rate() -> Metric:
    """Give the share of all trials that did not complete, whoever is to blame."""
    return Metric(name="error_rate", expr=(~COMPLETED).mean(), unit="share", doc="not completed / n_trials")


def infrastructure_rate() -> Metric:
    """Give the share of all trials that the infrastructure spoiled."""
    return Metric(
        name="infrastructure_rate", expr=_SPOILED.mean(), unit="share", doc="n_infrastructure / n_trials"
    )


COMPLETION: tuple[Metric, ...] = (
    *COUNTS,
    completion_rate(),
    completion_rate_macro(),
    completion_low(),
    completion_high(),
    error_rate(),
    infrastructure_rate(),
)
