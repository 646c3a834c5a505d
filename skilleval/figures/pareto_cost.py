"""Quality against money: completion and the mean cost of a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilleval.figures.pareto import front

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_NO_ENDS = ("value_low", "value_high")
"""Columns that the rows do not have: a mean cost comes without an interval."""


def chart(rows: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:
    """Draw completion against cost.

    Grain: one row a condition × scorer.
    Columns: those of the summary, with `value` (USD) and `is_on_front`.
    """
    return front(rows, title="mean cost of a trial in USD", ends=_NO_ENDS, threshold=threshold)
