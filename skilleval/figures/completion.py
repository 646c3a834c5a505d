"""Completion rate with its interval, a row a skill: a point and a line, never a bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.labels import condition_labels
from skilleval.figures.layout import (
    drawing,
    estimates,
    framed,
    intervals,
    named_rows,
    share_axis,
    threshold_line,
)
from skilleval.figures.theme import INK, skill_colours

_ROW_HEIGHT = 30
_SCORER_HEIGHT = 18
_THREE_DIGITS = ".3~r"
_SEVERAL = 2


def chart(summary: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:
    """Draw completion rates with intervals on an axis from 0 to 1.

    Grain: one row a condition × scorer.
    Columns: those of the summary; `completion_rate`, `ci_low`, `ci_high` may be null.
    """
    points = _plotted(summary)
    rows = list(dict.fromkeys(point["row"] for point in points))
    scorers = list(dict.fromkeys(point["scorer"] for point in points))
    axis = share_axis("completion rate")
    base = drawing(points).encode(y=named_rows(rows), tooltip=_tooltip(), **_scorer_rows(scorers))
    layers = [intervals(base, axis), _points(base, axis, scorers)]
    if threshold is not None:
        layers.insert(0, threshold_line(threshold, alt.X, axis))
    step = _ROW_HEIGHT if len(scorers) < _SEVERAL else _SCORER_HEIGHT * (len(scorers) + 1)
    return framed(layers, height=step * max(len(rows), 1))


def _plotted(summary: pl.DataFrame) -> list[dict[str, Any]]:
    """Give the few values the chart needs, in the order of the summary."""
    rows = summary.to_dicts()
    names = condition_labels(rows)
    colours = skill_colours(str(row.get("skill_id") or "") for row in rows)
    return [_point(row, name, colours) for row, name in zip(rows, names, strict=True)]


def _point(row: Mapping[str, Any], name: str, colours: Mapping[str, str]) -> dict[str, Any]:
    # User text is only ever a value: the fields have names of ours, so no id can break an encoding.
    return {
        "row": name,
        "skill": str(row.get("skill_id") or ""),
        "scorer": str(row.get("scorer") or ""),
        "rate": row.get("completion_rate"),
        "low": row.get("ci_low"),
        "high": row.get("ci_high"),
        "n_graded": row.get("n_graded"),
        "n_tasks": row.get("n_tasks"),
        "colour": colours[str(row.get("skill_id") or "")],
    }


def _scorer_rows(scorers: Sequence[str]) -> dict[str, Any]:
    """Give each of several scorers a place of its own in the row of a skill."""
    if len(scorers) < _SEVERAL:
        return {}
    return {"yOffset": alt.YOffset("scorer:N", scale=alt.Scale(domain=list(scorers)))}


def _points(base: alt.Chart, axis: dict[str, Any], scorers: Sequence[str]) -> alt.Chart:
    points = estimates(base, "rate", axis)
    if len(scorers) < _SEVERAL:
        return points
    legend = alt.Legend(title="scorer", symbolStrokeColor=INK)
    scale = alt.Scale(domain=list(scorers))
    shaped: alt.Chart = points.encode(shape=alt.Shape("scorer:N", scale=scale, legend=legend))
    return shaped


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("row:N", title="skill"),
        alt.Tooltip("scorer:N", title="scorer"),
        alt.Tooltip("rate:Q", title="completion rate", format=_THREE_DIGITS),
        alt.Tooltip("low:Q", title="interval from", format=_THREE_DIGITS),
        alt.Tooltip("high:Q", title="interval to", format=_THREE_DIGITS),
        alt.Tooltip("n_graded:Q", title="graded trials"),
        alt.Tooltip("n_tasks:Q", title="tasks"),
    ]
