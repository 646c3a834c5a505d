"""Cost of a trial as an empirical distribution, a line a skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilleval.figures.ecdf import ecdf

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


def chart(rows: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - the gate is about rates
    """Draw the share of trials that cost no more than an amount.

    Grain: one row a condition.
    Columns: `values` (USD) and `shares`, `n`, `n_censored`, and what names a condition.
    """
    return ecdf(rows, title="cost of a trial in USD", value_format=",.3~r")
