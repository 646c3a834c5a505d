"""Completion rate with its interval, a row a skill: a point and a line, never a bar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.labels import condition_labels
from skilleval.figures.theme import GREY, INK, skill_colours, themed

_ROW_HEIGHT = 30
_SCORER_HEIGHT = 18
_LABEL_LIMIT = 200
_THREE_DIGITS = ".3~r"

# User text is only ever a value: the fields have names of ours, so no id can break an encoding.
_SCHEMA = {
    "row": pl.String(),
    "skill": pl.String(),
    "scorer": pl.String(),
    "rate": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "n_graded": pl.Int64(),
    "n_tasks": pl.Int64(),
    "colour": pl.String(),
}


def chart(summary: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:
    """Draw completion rates with intervals on an axis from 0 to 1.

    Grain: one row a condition × scorer.
    Columns: those of the summary; `completion_rate`, `ci_low`, `ci_high` may be null.
    """
    data = _plotted(summary)
    rows = data["row"].unique(maintain_order=True).to_list()
    scorers = data["scorer"].unique(maintain_order=True).to_list()
    base = alt.Chart(data).encode(y=_rows(rows), **_scorer_rows(scorers))
    layers = [_lines(base), _points(base, scorers)]
    if threshold is not None:
        layers.insert(0, _threshold(threshold))
    step = _ROW_HEIGHT if len(scorers) < 2 else _SCORER_HEIGHT * (len(scorers) + 1)  # noqa: PLR2004 - one scorer needs no offset
    layered = alt.LayerChart(layer=layers)
    drawn: alt.LayerChart = layered.properties(
        width="container",
        height=step * max(len(rows), 1),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
    return themed(drawn)


def _plotted(summary: pl.DataFrame) -> pl.DataFrame:
    """Give the few columns the chart needs, in the order of the summary.

    Grain: one row a condition × scorer.
    """
    rows = summary.to_dicts()
    names = condition_labels(rows)
    colours = skill_colours(str(row.get("skill_id") or "") for row in rows)
    points = [_point(row, name, colours) for row, name in zip(rows, names, strict=True)]
    return pl.DataFrame(points, schema=_SCHEMA)


def _point(row: dict[str, Any], name: str, colours: Mapping[str, str]) -> dict[str, Any]:
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


def _rows(rows: list[str]) -> alt.Y:
    axis = alt.Axis(title=None, labelLimit=_LABEL_LIMIT, ticks=False, domain=False, labelPadding=8)
    return alt.Y("row:N", scale=alt.Scale(domain=rows), axis=axis)


def _scorer_rows(scorers: list[str]) -> dict[str, Any]:
    return {"yOffset": alt.YOffset("scorer:N", scale=alt.Scale(domain=scorers))} if len(scorers) > 1 else {}


def _share(field: str) -> alt.X:
    axis = alt.Axis(title="completion rate", values=[0, 0.25, 0.5, 0.75, 1], format=".2~f", grid=True)
    return alt.X(field, scale=alt.Scale(domain=[0, 1]), axis=axis)


def _lines(base: alt.Chart) -> alt.Chart:
    known = "isValid(datum.low) && isValid(datum.high)"
    lines = base.transform_filter(known).mark_rule(color=INK, strokeWidth=1.5)
    drawn: alt.Chart = lines.encode(x=_share("low:Q"), x2="high:Q", tooltip=_tooltip())
    return drawn


def _points(base: alt.Chart, scorers: list[str]) -> alt.Chart:
    mark = base.transform_filter("isValid(datum.rate)").mark_point(
        filled=True, size=90, stroke=INK, strokeWidth=1.2, opacity=1
    )
    colour = alt.Color("colour:N", scale=None)
    points: alt.Chart = mark.encode(x=_share("rate:Q"), color=colour, tooltip=_tooltip())
    if len(scorers) < 2:  # noqa: PLR2004 - one scorer needs no legend
        return points
    shape = alt.Shape(
        "scorer:N", scale=alt.Scale(domain=scorers), legend=alt.Legend(title="scorer", symbolStrokeColor=INK)
    )
    shaped: alt.Chart = points.encode(shape=shape)
    return shaped


def _threshold(value: float) -> alt.Chart:
    data = pl.DataFrame({"threshold": [value]})
    line = alt.Chart(data).mark_rule(color=GREY, strokeDash=[4, 3])
    tooltip = [alt.Tooltip("threshold:Q", title="threshold", format=_THREE_DIGITS)]
    drawn: alt.Chart = line.encode(x=_share("threshold:Q"), tooltip=tooltip)
    return drawn


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
