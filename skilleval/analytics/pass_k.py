"""At least one, or all, of k tries: pass@k and pass^k, without bias."""

from __future__ import annotations

import operator

import polars as pl

from skilleval.analytics.completion import FIRST_OF_TASK
from skilleval.analytics.metric import Metric

_GRADED, _PASSED = pl.col("task_graded"), pl.col("task_passed")


def _drawn_without_return(part: pl.Expr, whole: pl.Expr, k: int) -> pl.Expr:
    """Give the chance that k different draws out of `whole` all hit `part`; null where k > whole."""
    # Flat, because nested products take quadratic time to plan.
    factors = [(part - drawn) / (whole - drawn) for drawn in range(k)]
    chance = pl.reduce(operator.mul, factors)
    # Beyond `part` a factor is 0, but the next ones are negative over possibly zero: never trust the product there.
    return pl.when(whole >= k).then(pl.when(part >= k).then(chance).otherwise(0.0))


def pass_at_k(n: pl.Expr, c: pl.Expr, *, k: int) -> pl.Expr:
    """Estimate the chance that at least one of k tries passes, from c passes in n tries; null where k > n."""
    return 1 - _drawn_without_return(n - c, n, k)


def pass_hat_k(n: pl.Expr, c: pl.Expr, *, k: int) -> pl.Expr:
    """Estimate the chance that all of k tries pass (written pass^k), from c passes in n; null where k > n."""
    return _drawn_without_return(c, n, k)


def mean_pass_at_k(k: int) -> Metric:
    """Give the mean over tasks of pass@k, null as soon as one task has fewer than k graded trials."""
    return Metric(
        name="pass_at_k",
        expr=_mean_over_tasks(pass_at_k(_GRADED, _PASSED, k=k), k),
        unit="share",
        source="Chen et al. 2021, arXiv 2107.03374",
        doc="mean over tasks of 1 - C(n-c, k) / C(n, k)",
    )


def mean_pass_hat_k(k: int) -> Metric:
    """Give the mean over tasks of pass^k, null as soon as one task has fewer than k graded trials."""
    return Metric(
        name="pass_hat_k",
        expr=_mean_over_tasks(pass_hat_k(_GRADED, _PASSED, k=k), k),
        unit="share",
        source="Yao et al. 2024, arXiv 2406.12045",
        doc="mean over tasks of C(c, k) / C(n, k)",
    )


def _mean_over_tasks(chance: pl.Expr, k: int) -> pl.Expr:
    return pl.when(_GRADED.min() >= k).then(chance.filter(FIRST_OF_TASK).mean())


def pass_k_metrics(k: int) -> tuple[Metric, ...]:
    """Give both, and the k they were asked for."""
    return (
        Metric(name="k", expr=pl.lit(k, dtype=pl.Int64), unit="tries", doc="tries of pass@k and pass^k"),
        mean_pass_at_k(k),
        mean_pass_hat_k(k),
    )


def pass_k_reason(k: int) -> pl.Expr:
    """Say why pass@k and pass^k are null on a summary row; null where they are known."""
    text = pl.format(
        "k = {} is more than the graded trials of a task ({})", pl.lit(k), pl.col("min_task_graded")
    )
    return pl.when(pl.col("min_task_graded") < k).then(text)
