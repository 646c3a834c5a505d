"""What figures share: their frame, their axes, and a point with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.theme import GREY, INK, themed

HEADING_END = "\n"
"""Stands between a heading and a row below it; names are safe to look at, so none holds it."""

_ROW_PADDING = 8
_LETTERS = 28
"""So many letters of a name fit beside an axis; a longer one is shortened in its middle, where names differ least."""
_TAIL = _LETTERS // 2
_HEADED = f"split(datum.value, '{HEADING_END.encode('unicode_escape').decode()}')"

LAYOUT_COLUMNS = frozenset({"colour", "label", "place", "side"})
"""Columns of a figure's data that say how a row is drawn, not what it is."""


def drawing(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """Begin a chart of some rows; charts of the same rows that are laid over each other hold them once."""
    return alt.Chart(pl.DataFrame(rows, infer_schema_length=None, strict=False))


def framed(layers: Sequence[Any], *, height: float) -> alt.LayerChart:
    """Lay charts over each other in the width of their container, with the look of this package."""
    drawn: alt.LayerChart = alt.LayerChart(layer=list(layers)).properties(
        width="container",
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
    return themed(drawn)


def named_rows(rows: Sequence[str]) -> alt.Y:
    """Give an axis of names, one a row, in the order given."""
    axis = alt.Axis(
        title=None,
        ticks=False,
        domain=False,
        labelPadding=_ROW_PADDING,
        labelExpr=_shortened("datum.label"),
    )
    return alt.Y("row:N", scale=alt.Scale(domain=list(rows)), axis=axis)


def _shortened(name: str) -> str:
    """Give the expression of a name without its middle, where it is long."""
    head = _LETTERS - 1 - _TAIL
    return (
        f"(length({name}) > {_LETTERS} ? slice({name}, 0, {head}) + '…' + slice({name}, -{_TAIL}) : {name})"
    )


def headed(heading: str, name: str = "") -> str:
    """Give the value of a row below a heading; without a name, that of the heading itself."""
    return f"{heading}{HEADING_END}{name}"


def headed_rows(rows: Sequence[str]) -> alt.Y:
    """Give an axis of rows made by `headed`: headings in bold, the names below them."""
    axis = alt.Axis(
        title=None,
        ticks=False,
        domain=False,
        labelPadding=_ROW_PADDING,
        labelExpr=f"{_HEADED}[1] === '' ? {_HEADED}[0] : {_shortened(f'{_HEADED}[1]')}",
        labelFontWeight={
            "condition": {"test": f"{_HEADED}[1] === ''", "value": "bold"},
            "value": "normal",
        },
    )
    return alt.Y("row:N", scale=alt.Scale(domain=list(rows)), axis=axis)


def share_axis(title: str) -> dict[str, Any]:
    """Give scale and axis of a share: from 0 to 1, whatever the data."""
    axis = alt.Axis(title=title, values=[0, 0.25, 0.5, 0.75, 1], format=".2~f", grid=True)
    return {"scale": alt.Scale(domain=[0, 1]), "axis": axis}


def difference_axis(title: str) -> dict[str, Any]:
    """Give scale and axis of a difference of shares: from -1 to 1, with zero in the middle and signs."""
    axis = alt.Axis(
        title=title,
        values=[-1, -0.5, 0, 0.5, 1],
        format=".2~f",
        labelExpr="datum.value > 0 ? '+' + datum.label : datum.label",
        grid=True,
    )
    return {"scale": alt.Scale(domain=[-1, 1]), "axis": axis}


def zero_line(axis: dict[str, Any]) -> alt.Chart:
    """Draw the line at which nothing differs."""
    line = drawing([{"zero": 0.0}]).mark_rule(color=GREY)
    drawn: alt.Chart = line.encode(x=alt.X("zero:Q", **axis))
    return drawn


def threshold_line(value: float, channel: type[alt.X | alt.Y], axis: dict[str, Any]) -> alt.Chart:
    """Draw what the gate asks for, dashed, across the axis of rates, which is `channel`."""
    line = drawing([{"threshold": value}]).mark_rule(color=GREY, strokeDash=[4, 3])
    tooltip = [alt.Tooltip("threshold:Q", title="threshold", format=".3~r")]
    drawn: alt.Chart = line.encode(channel("threshold:Q", **axis), tooltip=tooltip)
    return drawn


def intervals(base: alt.Chart, axis: dict[str, Any]) -> alt.Chart:
    """Draw a line from `low` to `high` where both are known."""
    known = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    lines = known.mark_rule(color=INK, style="interval")
    drawn: alt.Chart = lines.encode(x=alt.X("low:Q", **axis), x2="high:Q")
    return drawn


def estimates(base: alt.Chart, field: str, axis: dict[str, Any]) -> alt.Chart:
    """Draw a point at a field in the `colour` of its row, where it is known."""
    known = base.transform_filter(f"isValid(datum.{field})")
    marks = known.mark_point(filled=True, stroke=INK, opacity=1, style="estimate")
    drawn: alt.Chart = marks.encode(x=alt.X(f"{field}:Q", **axis), color=alt.Color("colour:N", scale=None))
    return drawn
