"""Where two raters of the same attempts agree and where they do not: the counts behind every coefficient.

A rater is a scorer, or a person among several that labelled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skilleval.analytics.completion import share, trial_count
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import TRIAL_KEYS, trial_outcomes
from skilleval.domain.attempts import Status
from skilleval.domain.scores import RATER_CHECK

if TYPE_CHECKING:
    from collections.abc import Sequence

PAIR = ("rater_a", "rater_b")
_OF_TRIAL = (*TRIAL_KEYS, "condition_id", "skill_id", "task_id", "repeat")
_A, _B = pl.col("passed_a"), pl.col("passed_b")
_BOTH = _A.is_not_null() & _B.is_not_null()


def ratings(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Give what each scorer says of each attempt that there is something to say of.

    Trials that did not complete are left out: their status decides for every scorer alike, and would pass for
    agreement.

    Grain: one row a completed trial × rater (scorer).
    Columns: `run_id`, `trial_id`, `condition_id`, `skill_id`, `task_id`, `repeat`, `rater`, `passed` and `score` (null
        where it is ungraded).
    """
    outcomes = trial_outcomes(trials, scores)
    seen = (pl.col("status") == Status.COMPLETED.value) & pl.col("scorer").is_not_null()
    return outcomes.filter(seen).select(*_OF_TRIAL, pl.col("scorer").alias("rater"), "passed", "score")


def label_ratings(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Give what each person says of each attempt, where several of them labelled.

    Grain: one row a labelled, completed trial × rater (`<scorer>:<person>`).
    Columns: those of `ratings`.
    """
    person = pl.col("check_id").str.strip_prefix(RATER_CHECK)
    said = scores.filter(pl.col("check_id").str.starts_with(RATER_CHECK)).select(
        *TRIAL_KEYS, pl.format("{}:{}", "scorer", person).alias("rater"), "passed", "score"
    )
    completed = trials.filter(pl.col("status") == Status.COMPLETED.value).select(_OF_TRIAL)
    return completed.join(said, on=TRIAL_KEYS, how="inner")


def pairs(ratings: pl.LazyFrame) -> pl.LazyFrame:
    """Set two raters of one attempt beside each other, every pair once, in the order of their names.

    Grain: one row an attempt × pair of raters.
    Columns: those of the trial, then `rater_a`, `passed_a`, `score_a` and the same of b.
    """
    sides = [
        ratings.select(
            *_OF_TRIAL, *(pl.col(name).alias(f"{name}_{side}") for name in ("rater", "passed", "score"))
        )
        for side in "ab"
    ]
    joined = sides[0].join(sides[1].drop("condition_id", "skill_id", "task_id", "repeat"), on=TRIAL_KEYS)
    return joined.filter(pl.col("rater_a") < pl.col("rater_b"))


def _counts() -> tuple[Metric, ...]:
    cells = {
        "n_both_passed": _BOTH & _A & _B,
        "n_only_a": _BOTH & _A & ~_B,
        "n_only_b": _BOTH & ~_A & _B,
        "n_both_failed": _BOTH & ~_A & ~_B,
        "n_one_ungraded": _A.is_not_null() ^ _B.is_not_null(),
    }
    both = Metric(name="n_both", expr=trial_count(_BOTH), unit="trials", doc="trials with a verdict of both")
    return (both, *(Metric(name=name, expr=trial_count(cell), unit="trials") for name, cell in cells.items()))


def confusion(ratings: pl.LazyFrame, *, by: Sequence[str] = ()) -> pl.LazyFrame:
    """Count how the verdicts of every two raters fall together; `by` splits the counts further, e.g. by task.

    Grain: one row a pair of raters × `by`, sorted.
    Columns: `rater_a`, `rater_b`, `by`; `n_both`, which is the sum of `n_both_passed`, `n_only_a` (passed for a alone),
        `n_only_b` and `n_both_failed`; `n_one_ungraded`; `score_difference` and `score_distance`, the mean and the mean
        size of score b less score a.
    """
    difference = pl.col("score_b") - pl.col("score_a")
    apart = (
        Metric(name="score_difference", expr=difference.mean(), unit="share"),
        Metric(name="score_distance", expr=difference.abs().mean(), unit="share"),
    )
    return summarise(pairs(ratings), by=(*PAIR, *by), metrics=(*_counts(), *apart))


def _calibration() -> tuple[Metric, ...]:
    right, wrong = pl.col("n_both_passed"), pl.col("n_both_failed")
    lenient, strict = pl.col("n_only_judge"), pl.col("n_only_reference")
    return (
        Metric(
            name="sensitivity",
            expr=share(right, right + strict),
            unit="share",
            doc="passes of the reference found",
        ),
        Metric(
            name="specificity", expr=share(wrong, wrong + lenient), unit="share", doc="failures of it found"
        ),
        Metric(
            name="precision", expr=share(right, right + lenient), unit="share", doc="passes that are passes"
        ),
        Metric(
            name="bias",
            expr=share(lenient - strict, pl.col("n_both")),
            unit="share",
            doc="pass rate of the judge less that of the reference, on the trials that both judged",
        ),
    )


def calibration(confusion: pl.LazyFrame, *, reference: str) -> pl.LazyFrame:
    """Hold every rater against one that is taken to be right, such as the labels of people.

    Grain: one row a rater but the reference, sorted.
    Columns: `judge`, `reference`, `n_both`, `n_both_passed`, `n_both_failed`, `n_only_judge` (lenient),
        `n_only_reference` (strict), then `sensitivity`, `specificity`, `precision` and `bias`, null where there is
        nothing to divide by.
    """
    kept = ("n_both", "n_both_passed", "n_both_failed")
    as_b = confusion.filter(pl.col("rater_b") == reference).select(
        pl.col("rater_a").alias("judge"),
        *kept,
        pl.col("n_only_a").alias("n_only_judge"),
        pl.col("n_only_b").alias("n_only_reference"),
    )
    as_a = confusion.filter(pl.col("rater_a") == reference).select(
        pl.col("rater_b").alias("judge"),
        *kept,
        pl.col("n_only_b").alias("n_only_judge"),
        pl.col("n_only_a").alias("n_only_reference"),
    )
    rows = pl.concat([as_a, as_b]).with_columns(reference=pl.lit(reference)).sort("judge")
    return derive(rows, metrics=_calibration())
