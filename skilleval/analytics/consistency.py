"""Does the same task end the same way each time?"""

from __future__ import annotations

from typing import Literal

import polars as pl

from skilleval.analytics.completion import FIRST_OF_REPEAT, share, trial_count
from skilleval.analytics.flakiness import REPEATED, flip_rate, task_agreement
from skilleval.analytics.metric import Metric

_N, _C = pl.col("task_graded"), pl.col("task_passed")
_REPEAT_RATES = share(pl.col("repeat_passed"), pl.col("repeat_graded")).filter(FIRST_OF_REPEAT).drop_nulls()


def repeat_rate_mean() -> Metric:
    """Give the mean of the completion rates of the single repeats."""
    return Metric(name="repeat_rate_mean", expr=_REPEAT_RATES.mean(), unit="share")


def repeat_rate_sd(ddof: Literal[0, 1]) -> Metric:
    """Give the standard deviation of the completion rates of the single repeats; the column names its ddof."""
    kind = "population" if ddof == 0 else "sample"
    return Metric(
        name=f"repeat_rate_sd_ddof{ddof}",
        expr=_where_repeated(_REPEAT_RATES.std(ddof=ddof)),
        unit="share",
        doc=f"{kind} standard deviation over repeats; null below two",
    )


def consistency() -> Metric:
    """Give 1 minus the spread between repeats: blind to tasks that flip in step, which `flip_rate` sees."""
    return Metric(
        name="consistency",
        expr=_where_repeated((1 - _REPEAT_RATES.std(ddof=0)).clip(lower_bound=0.0)),
        unit="share",
        doc="max(0, 1 - population SD of the completion rates of the repeats); null below two repeats",
    )


def n_flaky_tasks() -> Metric:
    """Count the tasks that both passed and failed."""
    return Metric(
        name="n_flaky_tasks",
        expr=pl.when(REPEATED.any()).then(trial_count(REPEATED & (_C > 0) & (_C < _N))),
        unit="tasks",
        doc="tasks with a pass and a fail; null where no task was graded twice",
    )


def _where_repeated(spread: pl.Expr) -> pl.Expr:
    return pl.when(_REPEAT_RATES.len() >= 2).then(spread)  # noqa: PLR2004 - one repeat has no spread


CONSISTENCY: tuple[Metric, ...] = (
    repeat_rate_mean(),
    repeat_rate_sd(0),
    repeat_rate_sd(1),
    consistency(),
    n_flaky_tasks(),
    flip_rate(),
    task_agreement(),
)
