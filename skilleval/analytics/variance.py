"""Where the noise comes from: how much of the variance lies between tasks, how much between repeats of one task."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skilleval.analytics.completion import share
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS, trial_outcomes

MEASURES = ("completion_rate", "partial_score")

_FLAT = 1e-12
_N, _SUM, _SQUARES = pl.col("n"), pl.col("sum"), pl.col("squares")


def variance_split(
    trials: pl.LazyFrame, scores: pl.LazyFrame, *, by: Sequence[str] = CONDITION_KEYS
) -> pl.LazyFrame:
    """Split the variance of verdicts and of scores into that between tasks and that between repeats.

    One-way analysis of variance with tasks as groups; tasks may have different numbers of repeats. An estimate of the
    variance between tasks that falls below 0 is given as 0. With one repeat a task only the total is known.

    Grain: one row a `by` × measure (`completion_rate`, `partial_score`), sorted by `by`.
    Columns: `by`, `measure`, `mean` (over trials), `n_tasks`, `n_trials` (those with a value), `repeats` (mean trials a
        task), `task_variance` (ω²), `repeat_variance` (σ²), `total_variance` (their sum), `icc` (of single trials, may
        be negative), `f_ratio`; null where not known.
    """
    outcomes = trial_outcomes(trials, scores)
    values = (pl.col("passed").cast(pl.Float64), pl.col("score"))
    measured = [
        _split(outcomes.with_columns(value=value), measure, by=by)
        for measure, value in zip(MEASURES, values, strict=True)
    ]
    return pl.concat(measured).sort(by, maintain_order=True)


def _split(outcomes: pl.LazyFrame, measure: str, *, by: Sequence[str]) -> pl.LazyFrame:
    known = outcomes.filter(pl.col("value").is_not_null())
    tasks = summarise(known, by=(*by, "task_id"), metrics=_OF_TASK)
    sums = summarise(tasks, by=by, metrics=_OF_GROUP)
    squares = derive(sums, metrics=_mean_squares())
    split = derive(derive(squares, metrics=_variances()), metrics=(_total(),))
    return split.select(
        *by,
        pl.lit(measure).alias("measure"),
        "mean",
        "n_tasks",
        "n_trials",
        (pl.col("n_trials") / pl.col("n_tasks")).alias("repeats"),
        "task_variance",
        "repeat_variance",
        "total_variance",
        "icc",
        "f_ratio",
    )


_OF_TASK = (
    Metric(name="n", expr=pl.len().cast(pl.Int64), unit="trials"),
    Metric(name="sum", expr=pl.col("value").sum(), unit="shares"),
    Metric(name="squares", expr=pl.col("value").pow(2).sum(), unit="squared shares"),
)

_MEAN = _SUM.sum() / _N.sum()


def _seen(squares: pl.Expr) -> pl.Expr:
    """Give a sum of squares, 0 where it is no more than what rounding leaves of equal values."""
    return pl.when(squares > _FLAT * _SQUARES.sum()).then(squares).otherwise(0.0)


_OF_GROUP = (
    Metric(name="mean", expr=_MEAN, unit="share"),
    Metric(name="n_tasks", expr=pl.len().cast(pl.Int64), unit="tasks"),
    Metric(name="n_trials", expr=_N.sum(), unit="trials"),
    Metric(name="between", expr=_seen((_N * (_SUM / _N - _MEAN).pow(2)).sum()), unit="squared shares"),
    Metric(name="within", expr=_seen((_SQUARES - _SUM.pow(2) / _N).sum()), unit="squared shares"),
    Metric(name="evened", expr=_N.sum() - _N.pow(2).sum() / _N.sum(), unit="trials"),
)


def _mean_squares() -> tuple[Metric, ...]:
    """Give what analysis of variance divides; `size` is the number of repeats, evened out where it differs."""
    tasks, trials = pl.col("n_tasks"), pl.col("n_trials")
    return (
        Metric(name="msb", expr=share(pl.col("between"), tasks - 1), unit="squared shares"),
        Metric(name="msw", expr=share(pl.col("within"), trials - tasks), unit="squared shares"),
        Metric(name="size", expr=share(pl.col("evened"), tasks - 1), unit="trials"),
    )


def _variances() -> tuple[Metric, ...]:
    msb, msw, size = pl.col("msb"), pl.col("msw"), pl.col("size")
    source = "one-way analysis of variance; Shrout and Fleiss 1979, ICC(1)"
    return (
        Metric(
            name="task_variance",
            expr=((msb - msw) / size).clip(lower_bound=0.0),
            unit="squared shares",
            source=source,
        ),
        Metric(name="repeat_variance", expr=msw, unit="squared shares", source=source),
        Metric(name="icc", expr=share(msb - msw, msb + (size - 1) * msw), unit="share", source=source),
        Metric(name="f_ratio", expr=share(msb, msw), unit="ratio", source=source),
    )


def _total() -> Metric:
    """Give the variance of single trials of different tasks: of one repeat a task it is that between the tasks."""
    once = pl.col("n_tasks") == pl.col("n_trials")
    parts = pl.col("task_variance") + pl.col("repeat_variance")
    return Metric(
        name="total_variance", expr=pl.when(once).then(pl.col("msb")).otherwise(parts), unit="squared shares"
    )
