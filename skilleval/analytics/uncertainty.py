"""How far a completion rate can be trusted: intervals whose unit of sampling is the task."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import polars as pl

from skilleval.analytics.completion import FIRST_OF_TASK, GRADED, PASSED, trial_count
from skilleval.analytics.metric import Metric

if TYPE_CHECKING:
    from skilleval.analytics.spec import AnalysisSpec

_TASK_N, _TASK_C = pl.col("task_graded"), pl.col("task_passed")
_MIN_CLUSTERS = 2


def clustered_se() -> Metric:
    """Give the standard error of the completion rate when trials of one task are not independent."""
    n, rate = trial_count(GRADED), trial_count(PASSED) / trial_count(GRADED)
    clusters = trial_count(FIRST_OF_TASK & (_TASK_N > 0))
    squares = (_TASK_C - rate * _TASK_N).pow(2).filter(FIRST_OF_TASK).sum()
    variance = clusters / (clusters - 1) * squares / (n * n)
    return Metric(
        name="clustered_se",
        expr=pl.when(clusters >= _MIN_CLUSTERS).then(variance.sqrt()),
        unit="share",
        source="Liang and Zeger 1986; Miller 2024, arXiv 2411.00640",
        doc="cluster-robust, clusters are tasks, factor C / (C - 1); null with one task",
    )


UNCERTAINTY: tuple[Metric, ...] = (clustered_se(),)


def effective_n() -> Metric:
    """Give the number of independent trials that would be worth as much as the graded ones.

    Where all trials agree the design effect cannot be seen; then repeats are taken to add nothing.
    """
    n, clusters, rate = pl.col("n_graded"), pl.col("n_graded_tasks"), pl.col("completion_rate")
    most = n / clusters
    seen = pl.col("clustered_se").pow(2) * n / (rate * (1 - rate))
    agree = (pl.col("n_passed") == 0) | (pl.col("n_passed") == n)
    effect = pl.when(agree).then(most).otherwise(pl.min_horizontal(pl.max_horizontal(seen, 1.0), most))
    return Metric(
        name="n_eff",
        expr=pl.when(clusters >= _MIN_CLUSTERS).then(n / effect),
        unit="trials",
        source="Kish 1965",
        doc="n_graded / design effect, the latter held between 1 and the mean number of graded trials a task",
    )


def agresti_coull(rate: pl.Expr, n: pl.Expr, quantile: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Give the Agresti-Coull bounds of a rate seen in n trials, clipped to [0, 1]."""
    square = quantile.pow(2)
    wide = n + square
    centre = (rate * n + square / 2) / wide
    half = quantile * (centre * (1 - centre) / wide).sqrt()
    return (centre - half).clip(lower_bound=0.0), (centre + half).clip(upper_bound=1.0)


def wilson(passed: pl.Expr, n: pl.Expr, *, level: float) -> tuple[pl.Expr, pl.Expr]:
    """Give the Wilson bounds of a rate of independent trials; null where there are none."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate = pl.when(n > 0).then(passed / n)
    wide = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / wide
    half = z / wide * (rate * (1 - rate) / n + z * z / (4 * n * n)).sqrt()
    return (centre - half).clip(lower_bound=0.0), (centre + half).clip(upper_bound=1.0)


def t_quantile(df: pl.Expr, *, level: float) -> pl.Expr:
    """Give the two-sided quantile of Student's t; null where the degrees of freedom are."""

    def quantile(degrees: pl.Series) -> pl.Series:
        # scipy takes longer to import than a summary takes to compute.
        from scipy.special import stdtrit

        found = stdtrit(degrees.cast(pl.Float64).to_numpy(), (1 + level) / 2)
        return pl.Series(found, dtype=pl.Float64).fill_nan(None)

    return df.map_batches(quantile, return_dtype=pl.Float64, is_elementwise=True)


def completion_interval(spec: AnalysisSpec) -> tuple[Metric, ...]:
    """Give the interval of the completion rate on a summary row that has `n_eff`; null with one task."""
    enough = pl.col("n_eff").is_not_null()
    df = pl.when(enough).then(pl.col("n_graded_tasks") - 1)
    low, high = agresti_coull(pl.col("completion_rate"), pl.col("n_eff"), t_quantile(df, level=spec.level))
    method = f"Agresti-Coull on n_eff, t with n_graded_tasks - 1 df, clusters = tasks, level {spec.level:g}"
    none = "no interval: fewer than two tasks have a verdict"
    source = "Agresti and Coull 1998; statistics in docs/methods.md"
    return (
        Metric(name="ci_low", expr=low, unit="share", source=source),
        Metric(name="ci_high", expr=high, unit="share", source=source),
        Metric(
            name="ci_method", expr=pl.when(enough).then(pl.lit(method)).otherwise(pl.lit(none)), unit="text"
        ),
    )
