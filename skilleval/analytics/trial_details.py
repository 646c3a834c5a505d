"""What a reader needs to see of single trials: which of many, and their texts, cut before anything carries them.

Long texts are the only dear thing here. They are cut as the very first step after a scan, their whole length beside
them, so that a stream of rows never holds more than what is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.outcomes import TRIAL_KEYS, trial_outcomes
from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict

LENGTH = "_length"
"""Ends the name of the column that holds how many characters a text has in full."""

_ORDER = ("task_id", "skill_id", "condition_id", "repeat", "run_id", "trial_id")
_BROKE, _FAILED, _UNGRADED, _PASSED = range(4)
_CONDITION = ("condition_id", "skill_id", "skill_version", "adapter", "model", "sandbox", "mode")
_PLACE = (*TRIAL_KEYS, "skill_id", "condition_id", "task_id", "repeat")
_OF_TRIAL = (
    "failure_kind",
    "response_model",
    "latency_ms",
    "cost_usd",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "exit_code",
    "n_tries",
    "notes",
    "reused_from",
)
_TEXTS = ("message", "output", "stdout", "stderr", "tool_calls")
_TEXTS_OF_TRY = ("message", "output", "stdout", "stderr")
_OF_TRY = ("status", "failure_kind", "latency_ms", "cost_usd", "exit_code", "backoff_ms")
_OF_CHECK = ("scorer", "check_id", "check", "verdict", "score", "weight", "required", "failure_kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """How many characters of a text are kept: of trials that did not pass, of passed ones, and of a conversation."""

    failed: int = 4000
    passed: int = 1000
    request: int = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailFrames:
    """The lazy frames that the details of a report are made of; see `trial_details`."""

    trials: pl.LazyFrame
    tasks: pl.LazyFrame
    conditions: pl.LazyFrame
    checks: pl.LazyFrame
    tries: pl.LazyFrame


def chosen_trials(trials: pl.LazyFrame, scores: pl.LazyFrame, limit: int) -> pl.LazyFrame:
    """Choose the trials that a reader is shown: all where they fit, else those that did not pass first.

    What broke comes before what failed for a scorer, that before what is ungraded. Of each kind every task has its
    turn before any has a second one, and every condition of a task before any repeat; among equals the content hash of
    the trial decides, which favours no condition and is the same each time.

    Grain: one row a chosen trial, sorted by task, skill, condition and repeat.
    Columns: the keys of a trial, `skill_id`, `condition_id`, `task_id`, `repeat`, `status`, `verdict` (that of all
        scorers together), `n_trials` (in all).
    """
    ranked = _judged(trials, scores).with_columns(n_trials=pl.len().cast(pl.Int64))
    kind = ("severity", "task_id")
    by_repeat = ranked.sort("severity", "repeat", "trial_id", "run_id")
    nth_try = by_repeat.with_columns(nth_repeat=pl.int_range(pl.len()).over(*kind, "condition_id"))
    in_turn = nth_try.sort("severity", "nth_repeat", "trial_id", "run_id")
    fair = in_turn.with_columns(nth_of_task=pl.int_range(pl.len()).over(kind))
    shown = fair.sort("severity", "nth_of_task", "trial_id", "run_id").head(limit)
    return shown.select(*_PLACE, "status", "verdict", "n_trials").sort(_ORDER)


def trial_details(
    trials: pl.LazyFrame, tries: pl.LazyFrame, scores: pl.LazyFrame, chosen: pl.LazyFrame, *, cuts: Cuts
) -> DetailFrames:
    """Give what there is to see of the chosen trials.

    Grain: `trials` one row a chosen trial; `tasks` one a task of them, `conditions` one a condition of them; `checks`
        one row a check of a chosen trial; `tries` one a try of those that needed more than one. All are sorted.
    Columns: beside the ids, every text `x` is cut and stands beside its whole length, `x_length`; `request` and
        `tool_calls` are the conversation with a model.
    """
    keys = chosen.select(*TRIAL_KEYS, "verdict")
    shown = chosen.join(_trial_texts(trials, cuts), on=TRIAL_KEYS, how="left")
    return DetailFrames(
        trials=_cut_passed(shown, _TEXTS, cuts).sort(_ORDER),
        tasks=_tasks(trials, keys, cuts),
        conditions=_conditions(trials, keys),
        checks=_checks(scores, keys, cuts),
        tries=_tries(tries, trials, keys, cuts),
    )


def _judged(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Give one verdict a trial, that of its gravest scorer."""
    verdict = pl.col("verdict")
    severity = (
        pl.when(pl.col("status") != Status.COMPLETED.value)
        .then(_BROKE)
        .when((verdict == Verdict.FAILED.value).any())
        .then(_FAILED)
        .when((verdict == Verdict.UNGRADED.value).any())
        .then(_UNGRADED)
        .otherwise(_PASSED)
    )
    said = (
        pl.when((verdict == Verdict.FAILED.value).any())
        .then(pl.lit(Verdict.FAILED.value))
        .when((verdict == Verdict.UNGRADED.value).any())
        .then(pl.lit(Verdict.UNGRADED.value))
        .otherwise(pl.lit(Verdict.PASSED.value))
    )
    gravest = (
        Metric(name="verdict", expr=said, unit="verdict", doc="failed for one scorer is failed"),
        Metric(name="severity", expr=severity.first(), unit="order", doc="what broke is the gravest"),
    )
    return summarise(trial_outcomes(trials, scores), by=(*_PLACE, "status"), metrics=gravest)


def _cut(names: Sequence[str], n: int) -> list[pl.Expr]:
    """Cut texts and tell their whole length; a null text has none."""
    # A slice of a text keeps the memory of all of it; joined with nothing it is a text of its own.
    texts = [pl.concat_str(pl.col(name).str.head(n), pl.lit("")).alias(name) for name in names]
    lengths = [pl.col(name).str.len_chars().cast(pl.Int64).alias(f"{name}{LENGTH}") for name in names]
    return [*texts, *lengths]


def _cut_passed(rows: pl.LazyFrame, names: Sequence[str], cuts: Cuts) -> pl.LazyFrame:
    """Cut the texts of passed trials further: they are looked at less."""
    passed = pl.col("verdict") == Verdict.PASSED.value
    return rows.with_columns(
        pl.when(passed).then(pl.col(name).str.head(cuts.passed)).otherwise(name).alias(name) for name in names
    )


def _trial_texts(trials: pl.LazyFrame, cuts: Cuts) -> pl.LazyFrame:
    return trials.select(
        *TRIAL_KEYS, *_OF_TRIAL, *_cut(_TEXTS, cuts.failed), *_cut(("request",), cuts.request)
    )


def _tasks(trials: pl.LazyFrame, keys: pl.LazyFrame, cuts: Cuts) -> pl.LazyFrame:
    """Give what the tasks ask and expect, as the first of their trials has it."""
    names = ("input", "expected")
    told = trials.select(*TRIAL_KEYS, "task_id", "task_tags", *_cut(names, cuts.failed))
    first = [
        Metric(name=name, expr=pl.col(name).sort_by(*TRIAL_KEYS).first(), unit="text")
        for name in ("task_tags", *names, *(f"{name}{LENGTH}" for name in names))
    ]
    return summarise(told.join(keys, on=TRIAL_KEYS, how="semi"), by=("task_id",), metrics=first)


def _conditions(trials: pl.LazyFrame, keys: pl.LazyFrame) -> pl.LazyFrame:
    shown = trials.select(*TRIAL_KEYS, *_CONDITION).join(keys, on=TRIAL_KEYS, how="semi")
    return shown.select(_CONDITION).unique("condition_id", keep="any").sort("skill_id", "condition_id")


def _checks(scores: pl.LazyFrame, keys: pl.LazyFrame, cuts: Cuts) -> pl.LazyFrame:
    names = ("reason", "evidence")
    told = scores.select(*TRIAL_KEYS, *_OF_CHECK, *_cut(names, cuts.failed))
    return told.join(keys.select(TRIAL_KEYS), on=TRIAL_KEYS, how="semi").sort(
        *TRIAL_KEYS, "scorer", "check_id"
    )


def _tries(tries: pl.LazyFrame, trials: pl.LazyFrame, keys: pl.LazyFrame, cuts: Cuts) -> pl.LazyFrame:
    many = trials.filter(pl.col("n_tries") > 1).select(TRIAL_KEYS).join(keys, on=TRIAL_KEYS, how="semi")
    told = tries.select(*TRIAL_KEYS, "try_index", *_OF_TRY, *_cut(_TEXTS_OF_TRY, cuts.passed))
    return told.join(many, on=TRIAL_KEYS, how="semi").sort(*TRIAL_KEYS, "try_index")
