"""Latency as an empirical distribution, a line a skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilleval.figures.ecdf import ecdf

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


def chart(rows: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - the gate is about rates
    """Draw the share of trials done within a time.

    Grain: one row a condition.
    Columns: `values` (ms) and `shares`, `n`, `n_censored`, and what names a condition.
    """
    return ecdf(rows, title="latency in ms", value_format=",.6~r")
