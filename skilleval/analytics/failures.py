"""Where it went wrong: the trials that did not pass, and how each task did."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.completion import share, trial_count
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.outcomes import TRIAL_KEYS, trial_outcomes
from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict

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
_CAUSE = ("failure_kind", "message")
_TEXTS = (
    "input",
    "expected",
    "output",
    "stdout",
    "stderr",
)  # these may be long: they join the shown rows only
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
    "stdout",
    "stderr",
    "latency_ms",
    "n_failures",
    "causes",
)
_CAUSES_TOLD = 3
_CAUSE_LENGTH = 300
_OUTCOMES_TOLD = 64
_ONLY_CHECK = "0"
"""The id of the check of a scorer that looks at one thing."""
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
    not hide the others, and of each the first failures of its tasks before any second one; `n_failures` says how many
    there are in all, and `causes` counts all of the row's group.

    Grain: one row a trial × scorer that is not passed (failed or ungraded), sorted by skill, scorer, task, repeat.
    Columns: the ids, `status`, `verdict`, `score`, `failure_kind`, `message`, `reason` and `evidence` (of the checks
        that did not pass, one a line), `input`, `expected`, `output`, `stdout`, `stderr`, `latency_ms`,
        `n_failures`, `causes` (a list of `kind`, `text`, `n`: the commonest of the condition × scorer).
    """
    failed = _explained(trials, scores).sort(_ORDER)
    counted = failed.with_columns(
        n_failures=pl.len().cast(pl.Int64), nth_of_task=pl.int_range(pl.len()).over(*_GROUP, "task_id")
    )
    fair = counted.sort("nth_of_task", *_ORDER)
    shown = fair.with_columns(turn=pl.int_range(pl.len()).over(_GROUP)).sort("turn", *_ORDER).head(limit)
    commonest = _commonest(_counted_causes(failed))
    return (
        shown.join(trials.select(*TRIAL_KEYS, *_TEXTS), on=TRIAL_KEYS, how="left")
        .join(commonest, on=_GROUP, how="left", nulls_equal=True)
        .select(*_BLAMED, *_SHOWN)
        .sort(_ORDER)
    )


def causes(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Count why the trials that a scorer did not pass did not.

    A skill or an infrastructure that broke says so in `failure_kind` and `message`; a wrong answer or a missing
    verdict in the reason of the scorer.

    Grain: one row a condition × scorer × cause; what broke comes before wrong answers, then the commonest.
    Columns: `benchmark_id`, `condition_id`, `scorer`, `kind` (failure kind, else status, else verdict), `text`
        (in one line, cut), `n` (trials).
    """
    return _counted_causes(_explained(trials, scores))


def _explained(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Give every trial that did not pass, with what the attempt and the checks say of the cause."""
    outcomes = trial_outcomes(trials, scores).filter(pl.col("verdict") != Verdict.PASSED.value)
    reasons = summarise(
        scores.filter(pl.col("passed").fill_null(value=False).not_()).with_columns(reason=_said_of_check()),
        by=(*TRIAL_KEYS, "scorer"),
        metrics=(_lines("reason"), _lines("evidence")),
    )
    return outcomes.join(trials.select(*TRIAL_KEYS, *_CAUSE), on=TRIAL_KEYS, how="left").join(
        reasons, on=[*TRIAL_KEYS, "scorer"], how="left"
    )


def _said_of_check() -> pl.Expr:
    """Give the reason of a check, behind its name where it is one of several."""
    named = (pl.col("check_id") != _ONLY_CHECK) & (pl.col("check") != "") & (pl.col("reason") != "")
    return pl.when(named).then(pl.format("{}: {}", "check", "reason")).otherwise("reason")


def _counted_causes(failed: pl.LazyFrame) -> pl.LazyFrame:
    broke = pl.col("status") != Status.COMPLETED.value
    reasons = pl.col("reason").str.replace_all("\n", "; ", literal=True)
    said = pl.coalesce(pl.when(broke).then(pl.col("message")), reasons, "message", pl.lit(""))
    named = failed.with_columns(
        wrong_answer=~broke & (pl.col("verdict") == Verdict.FAILED.value),
        kind=pl.coalesce("failure_kind", pl.when(broke).then(pl.col("status")), "verdict"),
        text=said.str.replace_all(r"\s+", " ").str.strip_chars().str.slice(0, _CAUSE_LENGTH),
    )
    n = Metric(
        name="n", expr=pl.len().cast(pl.Int64), unit="trials", doc="trials that this kept from passing"
    )
    counted = summarise(named, by=(*_GROUP, "wrong_answer", "kind", "text"), metrics=(n,))
    order = (*_GROUP, "wrong_answer", "n", "kind", "text")
    return counted.sort(order, descending=[key == "n" for key in order]).drop("wrong_answer")


def _commonest(counted: pl.LazyFrame) -> pl.LazyFrame:
    """Gather the first causes of each condition × scorer into one list."""
    first = pl.struct("kind", "text", "n").head(_CAUSES_TOLD)
    return summarise(counted, by=_GROUP, metrics=(Metric(name="causes", expr=first, unit="list"),))


def _lines(column: str) -> Metric:
    text = pl.col(column)
    joined = text.filter(text != "").sort_by(pl.col("check_id").filter(text != "")).str.join("\n")
    return Metric(name=column, expr=joined, unit="text", doc="of the checks that did not pass, one a line")


def task_matrix(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Give how each task did under each condition and scorer.

    Grain: one row a condition × scorer × task, sorted.
    Columns: the ids, `n` (trials), `n_graded`, `n_passed`, `rate` (passed / graded, null if nothing was graded),
        `is_flaky` (passed and failed; null below two graded trials), `outcomes` (a letter a repeat, in their order:
        `p` passed, `f` failed, `e` did not complete, `u` ungraded; of 64 at most).
    """
    n, passed = trial_count(pl.col("graded")), trial_count(pl.col("passed").fill_null(value=False))
    metrics = (
        Metric(name="n", expr=pl.len().cast(pl.Int64), unit="trials", doc="all trials of the task"),
        Metric(name="n_graded", expr=n, unit="trials", doc="those with a verdict"),
        Metric(name="n_passed", expr=passed, unit="trials", doc="those that passed"),
        Metric(name="rate", expr=share(passed, n), unit="share", doc="n_passed / n_graded"),
        Metric(name="is_flaky", expr=pl.when(n > 1).then((passed > 0) & (passed < n)), unit="statement"),
        Metric(
            name="outcomes",
            expr=pl.col("letter").sort_by("repeat", "run_id", "trial_id").head(_OUTCOMES_TOLD).str.join(""),
            unit="text",
            doc="a letter a repeat",
            sorts=True,
        ),
    )
    outcomes = trial_outcomes(trials, scores).with_columns(letter=_letter())
    return summarise(outcomes, by=_MATRIX_KEYS, metrics=metrics)


def _letter() -> pl.Expr:
    """Give the outcome of a trial as a letter. Nothing that did not complete has passed."""
    completed = pl.col("status") == Status.COMPLETED.value
    failed = pl.col("verdict") == Verdict.FAILED.value
    return (
        pl.when(~completed)
        .then(pl.lit("e"))
        .when("passed")
        .then(pl.lit("p"))
        .when(failed)
        .then(pl.lit("f"))
        .otherwise(pl.lit("u"))
    )
