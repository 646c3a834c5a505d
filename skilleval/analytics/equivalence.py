"""What a comparison could have seen: a claim that nothing changed, the smallest change it finds, tasks it lacks."""

from __future__ import annotations

import math
from statistics import NormalDist

import polars as pl

from skilleval.analytics.special import binomial_at_most, normal_quantile, student_tail

POWER = 0.8
"""The chance to find a change that is there, for what is said of the size of a comparison."""

MIN_MOVED = 6
"""Below so many tasks that moved no pattern of signs is rare (2 / 2^5 > 0.05), and a t interval is too narrow."""


def tost_p(mean: pl.Expr, se: pl.Expr, df: pl.Expr, margin: pl.Expr) -> pl.Expr:
    """Give the p of two one-sided t tests that a mean difference lies beyond a margin; small: it lies within.

    Source: Schuirmann 1987.
    """
    return pl.max_horizontal(student_tail((mean + margin) / se, df), student_tail((margin - mean) / se, df))


def few_moved_p(n_moved: pl.Expr, n: pl.Expr, margin: pl.Expr) -> pl.Expr:
    """Give the p that as many tasks as the margin says may move, where few of n did.

    No difference of shares exceeds 1, so that their mean lies within the margin if the share of tasks that move does.
    Source: Clopper and Pearson 1934, one-sided.
    """
    return binomial_at_most(n_moved, n, margin)


def detectable(sd: pl.Expr, n: pl.Expr, *, level: float) -> pl.Expr:
    """Give the smallest mean difference that n tasks find with `POWER`.

    Source: Miller 2024, arXiv 2411.00640, 5.
    """
    return pl.when(sd > 0).then(_quantiles(level) * sd / n.sqrt())


def tasks_for(
    sd: pl.Expr, difference: pl.Expr, *, level: float, n_compared: pl.Expr | None = None
) -> pl.Expr:
    """Give the number of tasks that find a mean difference with `POWER`, not rounded; null for a difference of 0.

    Of `n_compared` differences each has to be as rare as one that is looked at among so many (Holm 1979).

    Source: Miller 2024, arXiv 2411.00640, 5.
    """
    quantiles = pl.lit(_quantiles(level))
    if n_compared is not None:
        quantiles = NormalDist().inv_cdf(POWER) - normal_quantile((1 - level) / 2 / n_compared)
    return pl.when(difference > 0).then((quantiles * sd / difference).pow(2))


def tasks_that_decide(  # noqa: PLR0913 - keywords: each is a figure of its own
    *,
    mean: pl.Expr,
    sd: pl.Expr,
    n: pl.Expr,
    n_moved: pl.Expr,
    margin: pl.Expr,
    level: float,
    n_compared: pl.Expr,
) -> pl.Expr:
    """Give about how many tasks decide, if those to come are like those that were seen.

    A difference decides by being told from zero, beside all that are compared, or by being shown to lie within the
    margin: what is nearer to hand. At least as many are needed as let a pattern of signs be rare enough, or, where no
    task moved, as leave no room for the margin.
    """
    # The rarest pattern of n signs has p = 2 / 2^n, and Holm takes it times the number of comparisons.
    rare = (2 * n_compared / (1 - level)).log(2).ceil()
    by_sign, by_t = (fewest * n / n_moved for fewest in (pl.max_horizontal(rare, MIN_MOVED), MIN_MOVED))
    told = tasks_for(sd, mean.abs(), level=level, n_compared=n_compared)
    within = tasks_for(sd, margin - mean.abs(), level=level)
    nearest = pl.min_horizontal(
        pl.when(told.is_not_null()).then(pl.max_horizontal(told, by_sign)),
        pl.when(within.is_not_null()).then(pl.max_horizontal(within, by_t)),
    )
    still = math.log(1 - level) / (1 - margin).log()
    found = pl.when(n_moved == 0).then(still).otherwise(pl.coalesce(nearest, by_sign))
    return found.ceil().cast(pl.Int64)


def _quantiles(level: float) -> float:
    normal = NormalDist()
    return normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(POWER)
