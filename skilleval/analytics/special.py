"""Functions of SciPy as expressions: null in, null out, never NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable


def student_tail(statistic: pl.Expr, df: pl.Expr) -> pl.Expr:
    """Give the chance that Student's t exceeds a statistic."""
    return _of_rows("stdtr", (df, -statistic))


def binomial_at_most(k: pl.Expr, n: pl.Expr, p: pl.Expr) -> pl.Expr:
    """Give the chance of at most k hits in n draws."""
    # By the incomplete beta function: the binomial one of SciPy warns of any n that is a float, as NaN must be.
    return pl.when(k >= n).then(1.0).otherwise(_of_rows("betainc", (n - k, k + 1, 1 - p)))


def normal_quantile(probability: pl.Expr) -> pl.Expr:
    """Give the value that a standard normal variable stays below with this chance."""
    return _of_rows("ndtri", (probability,))


def _of_rows(name: str, columns: tuple[pl.Expr, ...]) -> pl.Expr:
    named = [column.cast(pl.Float64).alias(str(place)) for place, column in enumerate(columns)]

    def values(rows: pl.Series) -> pl.Series:
        # scipy takes longer to import than a comparison takes to compute.
        from scipy import special

        function: Callable[..., Any] = getattr(special, name)
        found = function(*(rows.struct.field(str(place)).to_numpy() for place in range(len(columns))))
        return pl.Series(found, dtype=pl.Float64).fill_nan(None)

    return pl.struct(named).map_batches(values, return_dtype=pl.Float64, is_elementwise=True)
