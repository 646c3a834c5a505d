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

    The module offers `chart(rows, threshold)`; it is imported only to draw. `part` names the part of a report whose
    rows are drawn, `needs` a column without whose values there is nothing to draw. A module that `cuts` also offers
    `cut(rows)`, which says what was left out. A figure that is not `on_page` is for notebooks and papers: the page
    shows the same in a better way.
    """

    title: str
    caption: str
    module: str
    needs: str = ""
    part: str = "summary"
    cuts: bool = False
    on_page: bool = True

    def chart(
        self, rows: pl.DataFrame, threshold: float | None = None, *, paper: bool = False
    ) -> alt.LayerChart:
        """Draw the figure of a summary frame; `threshold` is the completion the gate asks for.

        On paper it has the width of one column (3.3 in) and smaller type.
        """
        from skilleval.figures.theme import on_paper

        drawn: alt.LayerChart = import_module(self.module).chart(rows, threshold)
        return on_paper(drawn) if paper else drawn

    def cut(self, rows: pl.DataFrame) -> str:
        """Say in a sentence what was left out for want of room; empty where nothing was."""
        return str(import_module(self.module).cut(rows)) if self.cuts else ""


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
    "heatmap": Topic(
        title="Tasks by skill",
        caption=(
            "One stripe a repeat, the hardest tasks first: light passed, a cross failed, a triangle on dark did not "
            "complete, an empty circle was not graded."
        ),
        module="skilleval.figures.heatmap",
        needs="outcomes",
        part="matrix",
        cuts=True,
        on_page=False,
    ),
    "latency": Topic(
        title="Latency by skill",
        caption=(
            "Share of trials that were done within a time (empirical distribution, nearest rank). A time-out counts "
            "with its limit."
        ),
        module="skilleval.figures.latency",
        part="latency",
    ),
    "cost": Topic(
        title="Cost by skill",
        caption=(
            "Share of trials that cost no more than an amount (empirical distribution, nearest rank). Trials without a "
            "known price are left out."
        ),
        module="skilleval.figures.cost",
        part="cost",
    ),
    "pareto": Topic(
        title="Completion against latency",
        caption=(
            "Completion rate and median latency, each with its interval where there is one. Up and left is better. "
            "The stepped line joins the skills that no other one beats in both; the others are pale. Where they are "
            "many, only those on the line have names; +2 behind a name means two more in its place."
        ),
        module="skilleval.figures.pareto",
        part="latency_front",
    ),
    "pareto_cost": Topic(
        title="Completion against cost",
        caption=(
            "Completion rate with its interval, and the mean cost of a trial with a known price. Up and left is "
            "better. The stepped line joins the skills that no other one beats in both; the others are pale. Where "
            "they are many, only those on the line have names; +2 behind a name means two more in its place."
        ),
        module="skilleval.figures.pareto_cost",
        part="cost_front",
    ),
    "slices": Topic(
        title="Completion rate by tag",
        caption="Share of graded trials that passed among the tasks of a tag (point) and its interval (line).",
        module="skilleval.figures.slices",
        needs="completion_rate",
        part="slices",
        cuts=True,
    ),
    "agreement": Topic(
        title="Agreement of scorers",
        caption=(
            "Cohen's κ of two scorers over the attempts that both graded (point), and its interval (line): 1 is full "
            "agreement, 0 what chance would give. Kendall's τ compares the order in which they put the skills."
        ),
        module="skilleval.figures.agreement",
        needs="percent_agreement",
        part="agreement",
        cuts=True,
    ),
}
"""The figures of one report."""

DIFF_FIGURES: dict[str, Topic] = {
    "difference": Topic(
        title="What changed",
        caption=(
            "Candidate less baseline, paired over the tasks of both (point), and its interval (line). Within the "
            "dashed lines a change is smaller than the margin."
        ),
        module="skilleval.figures.difference",
        needs="effect",
    ),
}
"""The figures of a comparison of two runs."""

SWEEP_FIGURES: dict[str, Topic] = {
    "effects": Topic(
        title="Mean at each level",
        caption=(
            "Mean of the metric at each level of a setting (point), over the cells that all of its levels have, and "
            "its interval (line). Whether two levels differ is told by the table of differences, which are paired."
        ),
        module="skilleval.figures.effects",
        needs="mean",
        part="levels",
        cuts=True,
    ),
    "interaction": Topic(
        title="Two settings together",
        caption=(
            "Mean of the metric at each level of one setting, a line a level of the other, for the largest of the "
            "interactions. Lines that run in parallel say that neither depends on the other."
        ),
        module="skilleval.figures.interaction",
        needs="mean",
        part="crossed",
    ),
    "parallel": Topic(
        title="All jobs",
        caption=(
            "A line a job, from its settings to the mean of the metric on the last axis, which the colour repeats. "
            "Lines at one level lie a little apart."
        ),
        module="skilleval.figures.parallel",
        needs="mean",
        part="jobs",
        cuts=True,
    ),
}
"""The figures of a sweep."""
