"""Which tasks do not end the same way each time, and how often repeats of one task agree."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skilleval.analytics.completion import FIRST_OF_TASK, GRADED, PASSED, share, trial_count
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS, trial_outcomes

_N, _C = pl.col("task_graded"), pl.col("task_passed")
REPEATED = FIRST_OF_TASK & (_N >= 2)  # noqa: PLR2004 - one trial cannot disagree with itself


def flip_chance(n: pl.Expr, c: pl.Expr) -> pl.Expr:
    """Give the chance that two different ones of n trials, c of which passed, disagree; null below two.

    Source: 1 less the unbiased estimate of p² + (1 - p)².
    """
    return share(2 * c * (n - c), n * (n - 1))


def flip_rate() -> Metric:
    """Give the chance that two different repeats of one task disagree, as a mean over tasks."""
    return Metric(
        name="flip_rate",
        expr=flip_chance(_N, _C).filter(REPEATED).mean(),
        unit="share",
        doc="mean over tasks of 2c(n-c) / (n(n-1)); null where no task was graded twice",
    )


def task_agreement() -> Metric:
    """Give the chance that two different repeats of one task agree, as a mean over tasks."""
    return Metric(
        name="task_agreement",
        expr=1 - flip_rate().expr,
        unit="share",
        doc="1 - flip_rate; unlike consistency it sees tasks that flip in step",
    )


def flaky_tasks(
    trials: pl.LazyFrame, scores: pl.LazyFrame, *, by: Sequence[str] = CONDITION_KEYS
) -> pl.LazyFrame:
    """Rank the tasks that both passed and failed, the most undecided first.

    Grain: one row a `by` × flaky task.
    Columns: `by`, `flaky_rank` (1 flips most; ties share a rank), `task_id`, `n_graded`, `n_passed`,
        `completion_rate`, `flip_rate`.
    """
    counts = (
        Metric(name="n_graded", expr=trial_count(GRADED), unit="trials"),
        Metric(name="n_passed", expr=trial_count(PASSED), unit="trials"),
    )
    n, c = pl.col("n_graded"), pl.col("n_passed")
    rates = (
        Metric(name="completion_rate", expr=share(c, n), unit="share"),
        Metric(name="flip_rate", expr=flip_chance(n, c), unit="share"),
    )
    tasks = summarise(trial_outcomes(trials, scores), by=(*by, "task_id"), metrics=counts)
    flaky = derive(tasks, metrics=rates).filter((c > 0) & (c < n))
    rank = pl.col("flip_rate").rank("min", descending=True).over(by).cast(pl.Int64)
    columns = ("task_id", "n_graded", "n_passed", "completion_rate", "flip_rate")
    ranked = flaky.with_columns(flaky_rank=rank)
    return ranked.select(*by, "flaky_rank", *columns).sort(*by, "flaky_rank", "task_id")
