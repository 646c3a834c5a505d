"""Figures: small summary frames in, Altair charts out. A new figure is one module and one line in `FIGURES`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One figure: what it is called, what a reader is told about it, and the module that draws it.

    The module offers `chart(summary, threshold)`; it is imported only to draw. `needs` names a column without whose
    values there is nothing to draw. `part` names the part of a report whose rows are drawn.
    """

    title: str
    caption: str
    module: str
    needs: str = ""
    part: str = "summary"

    def chart(self, summary: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:
        """Draw the figure of a summary frame; `threshold` is the completion the gate asks for."""
        drawn: alt.LayerChart = import_module(self.module).chart(summary, threshold)
        return drawn


FIGURES: dict[str, Topic] = {
    "uplift": Topic(
        title="What the skills add",
        caption=(
            "Mean score with the skill less that of the baseline, over the cases graded in both arms (point), and its "
            "interval (line). Right of zero the skill helps; a line that crosses zero may be chance."
        ),
        module="skilleval.figures.uplift",
        needs="uplift",
        part="uplift",
    ),
    "completion": Topic(
        title="Completion rate by skill",
        caption=(
            "Share of graded trials that passed (point) and its interval (line). A point without a line has no "
            "interval; a skill without a point was not graded."
        ),
        module="skilleval.figures.completion",
    ),
    "latency": Topic(
        title="Latency by skill",
        caption=(
            "Share of trials that were done within a time (empirical distribution, at its 0th, 10th, 25th, 50th, 75th, "
            "90th, 95th, 99th and 100th percentile, nearest rank). A time-out counts with its limit."
        ),
        module="skilleval.figures.latency",
        needs="min_ms",
    ),
}
