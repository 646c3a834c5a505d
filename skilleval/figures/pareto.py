"""Quality against what it takes: the skills that no other one beats in both, joined by a stepped line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.amounts import amount_axis
from skilleval.figures.labels import condition_labels, fitting_labels
from skilleval.figures.layout import drawing, framed, share_axis, threshold_line
from skilleval.figures.places import Line, Mark, name_places, text_offset
from skilleval.figures.theme import DIRECT_LABELS, FRONT, INK, skill_colours

_HEIGHT = 280
_PALE = 0.3
_THREE_DIGITS = ".3~r"


def chart(rows: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:
    """Draw completion against median latency.

    Grain: one row a condition × scorer.
    Columns: those of the summary, with `value` (ms) and `is_on_front`; ends of intervals may be null.
    """
    ends = ("p50_ms_ci_low", "p50_ms_ci_high")
    return front(rows, title="median latency in ms", ends=ends, threshold=threshold)


def front(
    rows: pl.DataFrame, *, title: str, ends: tuple[str, str], threshold: float | None
) -> alt.LayerChart:
    """Draw completion against `value`; `ends` name the columns of its interval."""
    points = _points(rows, ends)
    steps = _steps(points)
    named = _named(points)
    _place_names(named, steps, threshold)
    amounts = [
        value for one in points for value in (one["value"], one["value_low"], one["value_high"]) if value
    ]
    x = alt.X("value:Q", **amount_axis(amounts, title=title, value_format=",.6~r", room=True))
    y = alt.Y("rate:Q", **share_axis("completion rate"))
    scorers = list(dict.fromkeys(one["scorer"] for one in points))
    base = drawing(points).encode(tooltip=_tooltip(title))
    layers = [_stepped(steps, x, y), *_crosses(base, x, y), _marks(base, x, y, scorers)]
    if threshold is not None:
        layers.insert(0, threshold_line(threshold, alt.Y, share_axis("completion rate")))
    layers += _names(base, named, x, y)
    return framed(layers, height=_HEIGHT)


def _points(rows: pl.DataFrame, ends: tuple[str, str]) -> list[dict[str, Any]]:
    found = [row for row in rows.to_dicts() if row.get("value") is not None]
    colours = skill_colours(str(row.get("skill_id") or "") for row in found)
    names = condition_labels(found)
    return [_point(row, name, colours, ends) for row, name in zip(found, names, strict=True)]


def _named(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Choose the points that are named: all of a few, else the first of the front, which is what one looks for.

    Of those that lie on one place the first is named, with how many more skills there are: their names would lie on
    each other too.
    """
    chosen = points if len(points) <= DIRECT_LABELS else [one for one in points if one["is_on_front"]]
    places: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for one in chosen:
        places.setdefault((one["value"], one["rate"]), []).append(one)
    named = [found[0] for found in places.values()][:DIRECT_LABELS]
    rows = list(dict.fromkeys(one["row"] for one in points))
    labels = dict(zip(rows, fitting_labels(rows), strict=True))
    for one in named:
        n_more = len({other["row"] for other in places[one["value"], one["rate"]]}) - 1
        one["label"] = f"{labels[one['row']]} +{n_more}" if n_more else labels[one["row"]]
    return named


def _point(
    row: Mapping[str, Any], name: str, colours: Mapping[str, str], ends: tuple[str, str]
) -> dict[str, Any]:
    return {
        "row": name,
        "scorer": str(row.get("scorer") or ""),
        "value": row["value"],
        "value_low": row.get(ends[0]),
        "value_high": row.get(ends[1]),
        "rate": row.get("completion_rate"),
        "low": row.get("ci_low"),
        "high": row.get("ci_high"),
        "n_graded": row.get("n_graded"),
        "is_on_front": row.get("is_on_front"),
        "colour": colours[str(row.get("skill_id") or "")],
    }


def _mark(one: Mapping[str, Any]) -> Mark:
    return Mark(
        name=one["label"],
        amount=one["value"],
        share=one["rate"] or 0.0,
        amounts=(one["value_low"], one["value_high"]),
        shares=(one["low"], one["high"]),
    )


def _steps(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the front of each scorer: the best there is for so much, up to the most that any skill takes."""
    most = max((one["value"] for one in points), default=0.0)
    best = sorted((one for one in points if one["is_on_front"]), key=lambda one: one["value"])
    last = {one["scorer"]: one for one in best}
    ends = [one | {"value": most} for one in last.values()]
    return [
        {key: one[key] for key in ("scorer", "value", "rate")}
        for one in sorted((*best, *ends), key=lambda one: (one["scorer"], one["value"]))
    ]


def _stepped(steps: Sequence[dict[str, Any]], x: alt.X, y: alt.Y) -> alt.Chart:
    marks = drawing(steps).mark_line(interpolate="step-after", color=FRONT, style="front")
    drawn: alt.Chart = marks.encode(x=x, y=y, detail="scorer:N", order="value:Q")
    return drawn


def _place_names(
    points: list[dict[str, Any]], steps: Sequence[dict[str, Any]], threshold: float | None
) -> None:
    """Give each point the side for its name."""
    most = max((one["value"] for one in points), default=0.0)
    lines: list[Line] = [] if threshold is None else [((0.0, threshold), (most, threshold))]
    for one, other in pairwise(steps):
        if one["scorer"] == other["scorer"]:
            corner = (other["value"], one["rate"])
            lines += [((one["value"], one["rate"]), corner), (corner, (other["value"], other["rate"]))]
    places = name_places([_mark(one) for one in points], lines)
    for one, place in zip(points, places, strict=True):
        one["place"] = place


def _crosses(base: alt.Chart, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    upright = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    lying = base.transform_filter("isValid(datum.value_low) && isValid(datum.value_high)")
    return [
        upright.mark_rule(color=INK, style="interval").encode(x=x, y=_as(y, "low:Q"), y2="high:Q"),
        lying.mark_rule(color=INK, style="interval").encode(x=_as(x, "value_low:Q"), x2="value_high:Q", y=y),
    ]


def _as(channel: Any, field: str) -> Any:
    """Give the same axis for another field."""
    copied = channel.copy()
    copied.shorthand = field
    return copied


def _marks(base: alt.Chart, x: alt.X, y: alt.Y, scorers: Sequence[str]) -> alt.Chart:
    marks = base.mark_point(filled=True, stroke=INK, opacity=1, style="estimate")
    points: alt.Chart = marks.encode(
        x=x,
        y=y,
        color=alt.Color("colour:N", scale=None),
        fillOpacity=alt.condition("datum.is_on_front", alt.value(1), alt.value(_PALE)),
    )
    if len(scorers) < 2:  # noqa: PLR2004 - one scorer needs no legend
        return points
    legend = alt.Legend(title="scorer", symbolStrokeColor=INK)
    shaped: alt.Chart = points.encode(
        shape=alt.Shape("scorer:N", scale=alt.Scale(domain=list(scorers)), legend=legend)
    )
    return shaped


def _names(base: alt.Chart, points: Sequence[dict[str, Any]], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    sides = dict.fromkeys(one["place"] for one in points)
    return [
        base.transform_filter(f"datum.place === '{side}'")
        .mark_text(style="label", **text_offset(side))
        .encode(x=x, y=y, text="label:N")
        for side in sides
    ]


def _tooltip(title: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("row:N", title="skill"),
        alt.Tooltip("scorer:N", title="scorer"),
        alt.Tooltip("rate:Q", title="completion rate", format=_THREE_DIGITS),
        alt.Tooltip("low:Q", title="interval from", format=_THREE_DIGITS),
        alt.Tooltip("high:Q", title="interval to", format=_THREE_DIGITS),
        alt.Tooltip("value:Q", title=title, format=",.3~r"),
        alt.Tooltip("n_graded:Q", title="graded trials"),
        alt.Tooltip("is_on_front:N", title="on the front"),
    ]
