"""Paired differences: a mean over tasks with its interval, and a test that assumes nothing of their distribution."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.intervals import t_quantile
from skilleval.analytics.metric import Metric
from skilleval.analytics.permutation import DRAWS, MAX_EXACT, sign_flip_p

SAME = 1e-9
"""Differences up to this are none: sums of floats depend on their order."""


def pair_statistics(difference: pl.Expr) -> tuple[Metric, ...]:
    """Give what the interval and the test of a group of paired differences need.

    Columns: `mean`, `sd`, `spread` (largest less smallest) and `differences` (a sorted list).
    """
    return (
        Metric(name="mean", expr=difference.mean(), unit="share", source="Miller 2024, arXiv 2411.00640, 4"),
        Metric(name="sd", expr=difference.std(ddof=1), unit="share"),
        Metric(name="spread", expr=difference.max() - difference.min(), unit="share"),
        Metric(name="differences", expr=difference.drop_nulls().sort(), unit="list of shares"),
    )


def varies(n: pl.Expr) -> pl.Expr:
    """Say whether a group of differences has an interval: an interval is never a point."""
    return (n > 1) & (pl.col("spread") > SAME)


def standard_error(n: pl.Expr) -> pl.Expr:
    """Give the standard error of the mean difference; null where it has no interval."""
    return pl.when(varies(n)).then(pl.col("sd") / n.sqrt())


def paired_interval(n: pl.Expr, *, level: float) -> tuple[pl.Expr, pl.Expr]:
    """Give the t interval of the mean of n paired differences; the task is what is sampled.

    Source: Miller 2024, arXiv 2411.00640, 4.
    """
    half = t_quantile(pl.when(varies(n)).then(n - 1), level=level) * standard_error(n)
    return pl.col("mean") - half, pl.col("mean") + half


def interval_method(n: pl.Expr, *, level: float, unit: str, where: str) -> pl.Expr:
    """Name the method of `paired_interval`, or say why there is no interval.

    `unit` is what is paired, e.g. a task; `where` says of one that it counts.
    """
    method = pl.format(f"paired t over {{}} {unit}s, {{}} df, level {level:g}", n, n - 1)
    reason = (
        pl.when(n == 0)
        .then(pl.lit(f"no interval: no {unit} {where}"))
        .when(n == 1)
        .then(pl.lit(f"no interval: only one {unit} {where}"))
        .when(~varies(n))
        .then(pl.format(f"no interval: the difference is the same on all {{}} {unit}s", n))
    )
    return pl.coalesce(reason, method)


def sign_flip_test(n: pl.Expr, n_moved: pl.Expr, *, seed: int) -> tuple[Metric, ...]:
    """Give the p of a group of differences, and how it was found."""
    exact = pl.when(n_moved <= MAX_EXACT).then(pl.lit("sign flips, exact"))
    return (
        Metric(name="p_value", expr=sign_flip_p(pl.col("differences"), seed=seed), unit="probability"),
        Metric(
            name="p_method",
            expr=pl.when(n > 0).then(pl.coalesce(exact, pl.lit(f"sign flips, {DRAWS:,} seeded draws"))),
            unit="text",
        ),
    )
