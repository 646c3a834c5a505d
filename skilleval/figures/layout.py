"""What figures share: their frame, their axes, and a point with its interval."""

from __future__ import annotations

import unicodedata
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
_HALF_AT_END = r"regexp('[\\uD800-\\uDBFF]$')"
_HALF_AT_START = r"regexp('^[\\uDC00-\\uDFFF]')"
_NUMBER = 4
"""So many letters a number behind a name takes."""
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
        labelExpr=fitting_names(rows, "datum.label"),
    )
    return alt.Y("row:N", scale=alt.Scale(domain=list(rows)), axis=axis)


def fitting_names(names: Sequence[str | None], name: str, letters: int = _LETTERS) -> str:
    """Give the expression of a label beside an axis of these names, row by row; `name` is that of what it is made of.

    A long name stands without its middle; those that would look the same then are numbered, in their order. The
    expression knows rows by their place alone: no name is part of it. Null stands for a row that is no name.
    """
    letters = _fitting(names, letters)
    numbers = _numbers(names, letters)
    has_halves = any(letter > "\uffff" for one in names for letter in one or "")
    usual = f"length({name}) > {letters} ? {_middle_out(name, letters, has_halves=has_halves)} : {name}"
    if not any(numbers):
        return f"({usual})"
    # Vega gives the place of a label as a share of all, from 0 to 1.
    number = f"{numbers}[round(datum.index * {len(names) - 1})]"
    told_apart = _middle_out(name, letters - _NUMBER, has_halves=has_halves)
    return f"({number} > 0 ? {told_apart} + ' #' + {number} : {usual})"


def _numbers(names: Sequence[str | None], letters: int) -> list[int]:
    """Number, from 1, the names of which others look like them once they are shortened; 0 is no number."""
    head, tail = _parts(letters)
    alike: dict[bytes, list[str]] = {}
    for name in dict.fromkeys(name for name in names if name is not None):
        units = name.encode("utf-16-le", "surrogatepass")  # as Vega counts: two bytes a letter
        if len(units) > 2 * letters:
            alike.setdefault(units[: 2 * head] + units[-2 * tail :], []).append(name)
    places = {
        name: at
        for found in alike.values()
        if len(found) > 1
        for at, name in enumerate(sorted(found), start=1)
    }
    return [0 if name is None else places.get(name, 0) for name in names]


def _middle_out(name: str, letters: int, *, has_halves: bool) -> str:
    """Give the expression of a name without its middle; half of a letter that has two (an emoji) is left out too."""
    head, tail = _parts(letters)
    before, behind = f"slice({name}, 0, {head})", f"slice({name}, -{tail})"
    if has_halves:
        before = f"replace({before}, {_HALF_AT_END}, '')"
        behind = f"replace({behind}, {_HALF_AT_START}, '')"
    return f"{before} + '…' + {behind}"


def _fitting(names: Sequence[str | None], letters: int) -> int:
    """Say how many letters there is room for: half as many where a long name has letters of twice the width."""
    is_wide = any(
        len(name) < _width(name) > letters for name in names if name is not None and not name.isascii()
    )
    return letters // 2 if is_wide else letters


def _width(name: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in name)


def _parts(letters: int) -> tuple[int, int]:
    """Say how much of a name stands before and behind what is left out."""
    return letters - 1 - letters // 2, letters // 2


def headed(heading: str, name: str = "") -> str:
    """Give the value of a row below a heading; without a name, that of the heading itself."""
    return f"{heading}{HEADING_END}{name}"


def headed_rows(rows: Sequence[str]) -> alt.Y:
    """Give an axis of rows made by `headed`: headings in bold, the names below them."""
    named = [row.partition(HEADING_END)[2] or None for row in rows]
    axis = alt.Axis(
        title=None,
        ticks=False,
        domain=False,
        labelPadding=_ROW_PADDING,
        labelExpr=f"{_HEADED}[1] === '' ? {_HEADED}[0] : {fitting_names(named, f'{_HEADED}[1]')}",
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
