"""The figures of a report, drawn from its rows where a format shows them: the document itself holds numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.figures import DIFF_FIGURES, FIGURES, Topic
from skilleval.report.document import Report, Row
from skilleval.report.figure_rows import diff_rows, frame_of, rows_of

if TYPE_CHECKING:
    from typing import TypeAlias

    import altair as alt

    from skilleval.report.diff_document import Diff

    Drawn: TypeAlias = alt.LayerChart


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart as a Vega-Lite specification that holds its own data."""

    name: str
    title: str
    caption: str
    spec: Mapping[str, Any]


_NO_PRICE = "no graded trial has a known cost: it is known where a model has a price or a reply tells one"
_ABSENT = {
    "cost": _NO_PRICE,
    "pareto_cost": _NO_PRICE,
    "agreement": "it needs a run that several scorers judged",
    "uplift": "it needs a run with and without the skill",
}
"""Why a run may have nothing of a figure, where its name does not tell."""


def figures(report: Report, *, paper: bool = False) -> tuple[Figure, ...]:
    """Draw every figure of which the report has rows; those that the page shows in a better way only for paper."""
    found = ((name, topic, rows_of(topic.part, [report])) for name, topic in FIGURES.items())
    return tuple(
        _figure(name, topic, rows, report.threshold, paper=paper)
        for name, topic, rows in found
        if has_data(topic, rows) and (paper or topic.on_page)
    )


def diff_figures(diff: Diff, *, paper: bool = False) -> tuple[Figure, ...]:
    """Draw every figure of which a comparison of two runs has rows."""
    rows = diff_rows(diff)
    return tuple(
        _figure(name, topic, rows, None, paper=paper)
        for name, topic in DIFF_FIGURES.items()
        if has_data(topic, rows)
    )


def draw(name: str, reports: Sequence[Report], *, paper: bool = False) -> Drawn:
    """Draw one figure of one report, or of several together.

    Raises:
        UsageError: there is no such figure, or no report.
        ResultsError: the reports have no rows of it.
    """
    topic = _topic(name)
    if not reports:
        raise UsageError("no run is named", hint="give a run, its folder, its id, or `latest`")
    rows = rows_of(topic.part, reports)
    if not has_data(topic, rows):
        ids = ", ".join(report.run.run_id for report in reports)
        raise ResultsError(f"there is nothing to draw as {name} in {ids}", hint=_lacking(name, topic))
    thresholds = {report.threshold for report in reports}
    threshold = thresholds.pop() if len(thresholds) == 1 else None
    return topic.chart(frame_of(rows), threshold, paper=paper)


def _lacking(name: str, topic: Topic) -> str:
    """Say why there may be nothing of a figure, and what it would show."""
    return "\n".join(filter(None, (_ABSENT.get(name), f"it shows: {topic.caption}")))


def _topic(name: str) -> Topic:
    if name not in FIGURES:
        problem = Problem(where="name", expected=f"one of {', '.join(FIGURES)}", found=repr(name)[:80])
        raise UsageError("there is no such figure", problems=(problem,))
    return FIGURES[name]


def has_data(topic: Topic, rows: Sequence[Row]) -> bool:
    """Say whether there is anything to draw: a row, or one that has what the figure needs."""
    return any(not topic.needs or row.get(topic.needs) not in {None, ""} for row in rows)


def _figure(name: str, topic: Topic, rows: Sequence[Row], threshold: float | None, *, paper: bool) -> Figure:
    frame = frame_of(rows)
    spec = topic.chart(frame, threshold, paper=paper).to_dict()
    caption = " ".join(filter(None, (topic.caption, topic.cut(frame))))
    return Figure(name=name, title=topic.title, caption=caption, spec=spec)
