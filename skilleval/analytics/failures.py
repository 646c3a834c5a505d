"""Where it went wrong: the trials that did not pass, and how each task did."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.completion import share, trial_count
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.outcomes import TRIAL_KEYS, trial_outcomes
from skilleval.domain import Verdict

_BLAMED = (
    "run_id",
    "trial_id",
    "benchmark_id",
    "condition_id",
    "skill_id",
    "skill_version",
    "scorer",
    "task_id",
    "repeat",
)
_ORDER = (
    "benchmark_id",
    "skill_id",
    "skill_version",
    "condition_id",
    "scorer",
    "task_id",
    "run_id",
    "repeat",
)
_GROUP = ("benchmark_id", "condition_id", "scorer")
_FROM_ATTEMPT = ("failure_kind", "message", "input", "expected", "output", "stderr")
_SHOWN = (
    "status",
    "verdict",
    "score",
    "failure_kind",
    "message",
    "reason",
    "evidence",
    "input",
    "expected",
    "output",
    "stderr",
    "latency_ms",
    "n_failures",
)
_MATRIX_KEYS = (
    "benchmark_id",
    "benchmark_version",
    "condition_id",
    "skill_id",
    "skill_version",
    "scorer",
    "task_id",
)


def failed_trials(trials: pl.LazyFrame, scores: pl.LazyFrame, limit: int) -> pl.LazyFrame:
    """Give the trials that a scorer did not pass, with what is needed to understand why.

    At most `limit` rows are given, in turn from each condition × scorer, so that a skill that fails everywhere does
    not hide the others; `n_failures` says how many there are in all.

    Grain: one row a trial × scorer that is not passed (failed or ungraded), sorted by skill, scorer, task, repeat.
    Columns: the ids, `status`, `verdict`, `score`, `failure_kind`, `message`, `reason` and `evidence` (of the checks
        that did not pass, one a line), `input`, `expected`, `output`, `stderr`, `latency_ms`, `n_failures`.
    """
    outcomes = trial_outcomes(trials, scores).filter(pl.col("verdict") != Verdict.PASSED.value)
    listed = outcomes.sort(_ORDER).with_columns(
        n_failures=pl.len().cast(pl.Int64), turn=pl.int_range(pl.len()).over(_GROUP)
    )
    shown = listed.sort("turn", *_ORDER).head(limit)
    reasons = summarise(
        scores.filter(pl.col("passed").fill_null(value=False).not_()),
        by=(*TRIAL_KEYS, "scorer"),
        metrics=(_lines("reason"), _lines("evidence")),
    )
    return (
        shown.join(trials.select(*TRIAL_KEYS, *_FROM_ATTEMPT), on=TRIAL_KEYS, how="left")
        .join(reasons, on=[*TRIAL_KEYS, "scorer"], how="left")
        .select(*_BLAMED, *_SHOWN)
        .sort(_ORDER)
    )


def _lines(column: str) -> Metric:
    text = pl.col(column)
    joined = text.filter(text != "").sort_by(pl.col("check_id").filter(text != "")).str.join("\n")
    return Metric(name=column, expr=joined, unit="text", doc="of the checks that did not pass, one a line")


def task_matrix(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Give how each task did under each condition and scorer.

    Grain: one row a condition × scorer × task, sorted.
    Columns: the ids, `n` (trials), `n_graded`, `n_passed`, `rate` (passed / graded, null if nothing was graded),
        `is_flaky` (passed and failed; null below two graded trials).
    """
    n, passed = trial_count(pl.col("graded")), trial_count(pl.col("passed").fill_null(value=False))
    metrics = (
        Metric(name="n", expr=pl.len().cast(pl.Int64), unit="trials", doc="all trials of the task"),
        Metric(name="n_graded", expr=n, unit="trials", doc="those with a verdict"),
        Metric(name="n_passed", expr=passed, unit="trials", doc="those that passed"),
        Metric(name="rate", expr=share(passed, n), unit="share", doc="n_passed / n_graded"),
        Metric(name="is_flaky", expr=pl.when(n > 1).then((passed > 0) & (passed < n)), unit="statement"),
    )
    return summarise(trial_outcomes(trials, scores), by=_MATRIX_KEYS, metrics=metrics)
