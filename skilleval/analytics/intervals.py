"""Bounds from the numbers of a row: each method is one function of expressions, null where it has nothing to say."""

from __future__ import annotations

from statistics import NormalDist
from typing import TypeAlias

import polars as pl

Bounds: TypeAlias = tuple[pl.Expr, pl.Expr]
"""The lower and the upper end of an interval."""

_FLAT = 1e-12  # what rounding leaves of a spread that is none


def t_quantile(df: pl.Expr, *, level: float) -> pl.Expr:
    """Give the two-sided quantile of Student's t; null where the degrees of freedom are."""

    def quantile(degrees: pl.Series) -> pl.Series:
        # scipy takes longer to import than a summary takes to compute.
        from scipy.special import stdtrit

        found = stdtrit(degrees.cast(pl.Float64).to_numpy(), (1 + level) / 2)
        return pl.Series(found, dtype=pl.Float64).fill_nan(None)

    return df.map_batches(quantile, return_dtype=pl.Float64, is_elementwise=True)


def agresti_coull(rate: pl.Expr, n: pl.Expr, quantile: pl.Expr) -> Bounds:
    """Give the Agresti-Coull bounds of a rate seen in n trials, clipped to [0, 1].

    Source: Agresti and Coull 1998.
    """
    square = quantile.pow(2)
    wide = n + square
    centre = (rate * n + square / 2) / wide
    half = quantile * (centre * (1 - centre) / wide).sqrt()
    return (centre - half).clip(lower_bound=0.0), (centre + half).clip(upper_bound=1.0)


def wilson(passed: pl.Expr, n: pl.Expr, *, level: float) -> Bounds:
    """Give the Wilson bounds of a rate of independent trials; null where there are none.

    Source: Wilson 1927.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate = pl.when(n > 0).then(passed / n)
    wide = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / wide
    half = z / wide * (rate * (1 - rate) / n + z * z / (4 * n * n)).sqrt()
    return (centre - half).clip(lower_bound=0.0), (centre + half).clip(upper_bound=1.0)


def clopper_pearson(passed: pl.Expr, n: pl.Expr, *, level: float) -> Bounds:
    """Give the exact bounds of a rate of independent trials; null where there are none.

    Source: Clopper and Pearson 1934.
    """
    tail = (1 - level) / 2
    failed = n - passed
    low = pl.when(passed == 0).then(0.0).otherwise(_beta_quantile(passed, failed + 1, tail))
    high = pl.when(failed == 0).then(1.0).otherwise(_beta_quantile(passed + 1, failed, 1 - tail))
    return pl.when(n > 0).then(low), pl.when(n > 0).then(high)


def clustered_t(mean: pl.Expr, se: pl.Expr, clusters: pl.Expr, *, level: float) -> Bounds:
    """Give mean ± t · SE with clusters − 1 degrees of freedom; null where the clusters show no spread.

    Source: Liang and Zeger 1986; Miller 2024, arXiv 2411.00640.
    """
    df = pl.when(se > _FLAT * mean.abs()).then(clusters - 1)
    half = t_quantile(df, level=level) * se
    return mean - half, mean + half


def one_sided(rate: pl.Expr, clusters: pl.Expr, *, level: float) -> Bounds:
    """Give the exact one-sided bounds where all clusters passed or all failed; null elsewhere.

    Source: of n that all passed the lower bound is (1 - level)^(1/n), Clopper and Pearson 1934.
    """
    least = (1 - level) ** (1 / clusters)
    low = pl.when(rate == 1).then(least).when(rate == 0).then(0.0)
    high = pl.when(rate == 1).then(1.0).when(rate == 0).then(1 - least)
    return low, high


def _beta_quantile(a: pl.Expr, b: pl.Expr, probability: float) -> pl.Expr:
    def quantile(shapes: pl.Series) -> pl.Series:
        from scipy.special import betaincinv

        first, second = (shapes.struct.field(name).cast(pl.Float64).to_numpy() for name in ("a", "b"))
        return pl.Series(betaincinv(first, second, probability), dtype=pl.Float64).fill_nan(None)

    shapes = pl.struct(a.alias("a"), b.alias("b"))
    return shapes.map_batches(quantile, return_dtype=pl.Float64, is_elementwise=True)
