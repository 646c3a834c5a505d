"""What ended otherwise than before: each task, and each check within it."""

from __future__ import annotations

from enum import StrEnum

import polars as pl

from skilleval.analytics.completion import COMPLETED, trial_count
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS, TRIAL_KEYS
from skilleval.analytics.paired import SAME
from skilleval.analytics.task_pairs import SIDES, side_by_side

_CONDITION = tuple(key for key in CONDITION_KEYS if key != "scorer")
_CHECK = ("task_id", "check_id")
_COUNTS = ("n_passed", "n_graded")
_SEVERAL = 2

CHECK_VALUES = pl.Schema(
    {"check_id": pl.String(), "check": pl.String()}
    | dict.fromkeys(("n_graded", "n_passed"), pl.Int64())
    | {"why": pl.String()}
)
"""The columns of `check_results` beside `CONDITION_KEYS` and the task."""


class Flip(StrEnum):
    """How something changed: always passed and now never does, the reverse, or changed in part of its repeats."""

    BROKEN = "broken"
    FIXED = "fixed"
    FLAKY_WORSE = "flaky, worse"
    FLAKY_BETTER = "flaky, better"


def check_results(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Count how often each check passed in attempts that completed; what broke says nothing of a check.

    Grain: one row a condition × scorer × task × check, sorted.
    Columns: `CONDITION_KEYS`, `task_id`, `check_id`, `check`, `n_graded`, `n_passed`, `why` (the reason of a failure).
    """
    done = trials.filter(COMPLETED).select(*TRIAL_KEYS, *_CONDITION, "task_id")
    passed = pl.col("passed")
    reason = pl.col("reason").filter(~passed & (pl.col("reason") != ""))
    metrics = (
        Metric(name="check", expr=pl.col("check").min(), unit="text"),
        Metric(name="n_graded", expr=passed.count().cast(pl.Int64), unit="trials"),
        Metric(name="n_passed", expr=trial_count(passed.fill_null(value=False)), unit="trials"),
        Metric(name="why", expr=reason.min(), unit="text"),
    )
    rows = scores.join(done, on=TRIAL_KEYS, how="inner")
    return summarise(rows, by=(*CONDITION_KEYS, *_CHECK), metrics=metrics)


def check_pairs(pairs: pl.LazyFrame, baseline: pl.LazyFrame, candidate: pl.LazyFrame) -> pl.LazyFrame:
    """Set the checks of each pair of conditions side by side.

    Grain: one row a pair × task × check.
    Columns: `pair`, `task_id`, `check_id`, `check`, `n_graded`, `n_passed` and `why` of both sides, `is_only` (its
        task has no other check).
    """
    values = ("check", *_COUNTS, "why")
    joined = side_by_side(pairs, baseline, candidate, by=_CHECK, values=values)
    return joined.with_columns(
        check=pl.coalesce("check_after", "check_before"),
        is_only=pl.len().over("pair", "task_id") < _SEVERAL,
    )


def flips(tasks: pl.LazyFrame, checks: pl.LazyFrame) -> pl.LazyFrame:
    """Name what ended otherwise than before; a task whose rate stayed may hold checks that did not.

    The only check of a task says no more than its task, and is left out beside it.

    Grain: one row a pair × task (null `check_id`), and one a check of it, if it changed; sorted by pair, task, check.
    Columns: `pair`, `task_id`, `check_id`, `check`, `flip` (see `Flip`), `n_passed` and `n_graded` of both sides,
        `why` (of a failure after, where there is one).
    """
    counted = tasks.filter(pl.col("left_out").is_null())
    only = checks.filter(pl.col("is_only")).select("pair", "task_id", of_check="why_after")
    explained = counted.join(only, on=["pair", "task_id"], how="left").with_columns(
        why_after=pl.coalesce("why_after", "of_check"),
        check_id=pl.lit(None, dtype=pl.String),
        check=pl.lit(None, dtype=pl.String),
    )
    within = checks.filter(~pl.col("is_only")).join(
        counted.select("pair", "task_id"), on=["pair", "task_id"], how="semi"
    )
    rows = pl.concat([_flipped(explained), _flipped(within)])
    return rows.sort("pair", "task_id", "check_id", nulls_last=False)


def _flipped(rows: pl.LazyFrame) -> pl.LazyFrame:
    counts = [f"{name}_{side}" for name in _COUNTS for side in SIDES]
    why = pl.when(pl.col("n_passed_after") < pl.col("n_graded_after")).then("why_after")
    found = rows.select("pair", "task_id", "check_id", "check", *counts, flip=_flip(), why=why)
    return found.filter(pl.col("flip").is_not_null())


def _flip() -> pl.Expr:
    before, after = (
        pl.when(pl.col(f"n_graded_{side}") > 0).then(pl.col(f"n_passed_{side}") / pl.col(f"n_graded_{side}"))
        for side in SIDES
    )
    return (
        pl.when((before == 1) & (after == 0))
        .then(pl.lit(Flip.BROKEN.value))
        .when((before == 0) & (after == 1))
        .then(pl.lit(Flip.FIXED.value))
        .when(after < before - SAME)
        .then(pl.lit(Flip.FLAKY_WORSE.value))
        .when(after > before + SAME)
        .then(pl.lit(Flip.FLAKY_BETTER.value))
    )
