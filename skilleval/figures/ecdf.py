"""Empirical distributions: the share of trials that does not exceed a value, a stepped line a skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.amounts import amount_axis
from skilleval.figures.labels import condition_labels, fitting_labels
from skilleval.figures.layout import drawing, framed, share_axis
from skilleval.figures.places import Line, Mark, name_places, text_offset
from skilleval.figures.theme import DIRECT_LABELS, INK, skill_colours

_DASHES = {"without_skill": [6, 4], "old_skill": [2, 3]}
"""Baselines are dashed: in the colour of their skill they would look like it."""
_HEIGHT = 220
_SHORT = 20
"""Longer names would be cut in a legend of several columns, so they stand below each other."""
_POINTED = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
"""The shares at which the pointer finds the line."""
_BESIDE = ("right", "left")

_Curve = dict[str, Any]


def ecdf(rows: pl.DataFrame, *, title: str, value_format: str) -> alt.LayerChart:
    """Draw the distributions of one measure; `title` names it with its unit.

    Grain: one row a condition.
    Columns: `values` and `shares` (lists of one length), `n`, `n_censored`, and what names a condition.
    """
    curves = _curves(rows)
    values = [value for one in curves for value in one["value"]]
    x = alt.X("value:Q", **amount_axis(values, title=title, value_format=value_format))
    y = alt.Y("share:Q", **share_axis("share of trials"))
    layers = [_lines(curves, x, y), _pointed(curves, x, y, title, value_format)]
    if len(curves) <= DIRECT_LABELS:
        layers += _names(curves, x, y)
    return framed(layers, height=_HEIGHT)


def _curves(rows: pl.DataFrame) -> list[_Curve]:
    """Give the line of each condition; it begins at its smallest value with the share 0."""
    found = [row for row in rows.to_dicts() if row.get("values")]
    colours = skill_colours(str(row.get("skill_id") or "") for row in found)
    names = condition_labels(found)
    return [
        {
            "row": name,
            "label": label,
            "value": [row["values"][0], *row["values"]],
            "share": [0.0, *row["shares"]],
            "n": row.get("n"),
            "n_censored": row.get("n_censored"),
            "colour": colours[str(row.get("skill_id") or "")],
            "mode": str(row.get("mode") or ""),
        }
        for row, name, label in zip(found, names, fitting_labels(names), strict=True)
    ]


def _lines(curves: Sequence[_Curve], x: alt.X, y: alt.Y) -> alt.Chart:
    """Draw the lines; a row of the data holds a whole one, so that its name is in the figure once."""
    names = [one["label"] for one in curves]
    colours = alt.Scale(domain=names, range=[one["colour"] for one in curves])
    legend = _legend(names) if len(curves) > DIRECT_LABELS else None
    stroke = alt.Stroke("label:N", scale=colours, legend=legend)
    flat = drawing(curves).transform_flatten(["value", "share"])
    marks = flat.mark_line(interpolate="step-after", style="curve")
    drawn: alt.Chart = marks.encode(x=x, y=y, stroke=stroke, **_dashes(curves))
    return drawn


def _legend(names: Sequence[str]) -> alt.Legend:
    # All of them: Vega leaves out what is beyond the thirtieth.
    legend = alt.Legend(title=None, symbolType="stroke", symbolLimit=0)
    if max(map(len, names), default=0) > _SHORT:
        legend.columns = 1
    return legend


def _dashes(curves: Sequence[_Curve]) -> dict[str, alt.StrokeDash]:
    """Tell arms apart, where there are several."""
    modes = list(dict.fromkeys(one["mode"] for one in curves))
    if len(modes) < 2:  # noqa: PLR2004 - one arm is drawn without dashes
        return {}
    scale = alt.Scale(domain=modes, range=[_DASHES.get(mode, [1, 0]) for mode in modes])
    return {"strokeDash": alt.StrokeDash("mode:N", scale=scale, legend=alt.Legend(title=None))}


def _pointed(curves: Sequence[_Curve], x: alt.X, y: alt.Y, title: str, value_format: str) -> alt.Chart:
    """Lay points over the lines that nobody sees but the pointer."""
    points = [_point(one, share) for one in curves for share in _POINTED]
    tooltip = [
        alt.Tooltip("row:N", title="skill"),
        alt.Tooltip("share:Q", title="share of trials", format=".2~f"),
        alt.Tooltip("value:Q", title=f"{title}, at most", format=value_format),
        alt.Tooltip("n:Q", title="trials"),
        alt.Tooltip("n_censored:Q", title="of them cut off"),
    ]
    marks = drawing(points).mark_point(filled=True, size=120, opacity=0)
    drawn: alt.Chart = marks.encode(x=x, y=y, tooltip=tooltip)
    return drawn


def _point(one: Mapping[str, Any], share: float) -> dict[str, Any]:
    """Give the point of a line at a share, with all that is told of it."""
    place = next(index for index, reached in enumerate(one["share"]) if reached >= share - 1e-9)
    told = {key: one[key] for key in ("row", "label", "n", "n_censored", "colour")}
    return told | {"value": one["value"][place], "share": one["share"][place]}


def _names(curves: Sequence[_Curve], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Name the lines where they are drawn, each at a height of its own, so that no name covers another one."""
    ordered = sorted(curves, key=lambda one: _point(one, 0.5)["value"])
    heights = [1 - (place + 1) / (len(ordered) + 1) for place in range(len(ordered))]
    anchors = [_point(one, height) | {"share": height} for one, height in zip(ordered, heights, strict=True)]
    sides = name_places([_mark(one) for one in anchors], _segments(curves), sides=_BESIDE)
    sided = [anchor | {"side": side} for anchor, side in zip(anchors, sides, strict=True)]
    base = drawing(sided).encode(x=x, y=y)
    dots = base.mark_point(filled=True, stroke=INK, opacity=1, style="anchor")
    return [
        dots.encode(color=alt.Color("colour:N", scale=None)),
        *(_texts(base, side) for side in _BESIDE),
    ]


def _mark(anchor: Mapping[str, Any]) -> Mark:
    return Mark(name=anchor["label"], amount=anchor["value"], share=anchor["share"])


def _segments(curves: Sequence[_Curve]) -> list[Line]:
    """Give the lines of all steps."""
    found: list[Line] = []
    for one in curves:
        for (value, share), (next_value, next_share) in pairwise(
            zip(one["value"], one["share"], strict=True)
        ):
            corner = (next_value, share)
            found += [((value, share), corner), (corner, (next_value, next_share))]
    return found


def _texts(base: alt.Chart, side: str) -> alt.Chart:
    beside = base.transform_filter(f"datum.side === '{side}'")
    drawn: alt.Chart = beside.mark_text(style="label", **text_offset(side)).encode(text="label:N")
    return drawn
