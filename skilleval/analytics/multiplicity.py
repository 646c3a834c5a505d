"""P values of many comparisons: what is left of each when all of them are looked at."""

from __future__ import annotations

import polars as pl


def holm(p: pl.Expr) -> pl.Expr:
    """Adjust p values so that the chance of any false finding among them stays below the level; nulls stay null.

    Source: Holm 1979.
    """
    rank = _rank(p)
    scaled = p * (p.count() - rank + 1)
    return scaled.sort_by(rank, nulls_last=True).cum_max().clip(upper_bound=1.0).gather(rank - 1)


def benjamini_hochberg(p: pl.Expr) -> pl.Expr:
    """Adjust p values so that the expected share of false findings stays below the level; nulls stay null.

    Source: Benjamini and Hochberg 1995.
    """
    rank = _rank(p)
    scaled = p * p.count() / rank
    return scaled.sort_by(rank, nulls_last=True).cum_min(reverse=True).clip(upper_bound=1.0).gather(rank - 1)


def _rank(p: pl.Expr) -> pl.Expr:
    # Sorting goes by this rank too, never by p: ties must be in one order only.
    return p.rank("ordinal").cast(pl.Int64)
