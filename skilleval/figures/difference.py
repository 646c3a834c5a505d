"""What became of a baseline: under each metric a row a skill, around zero, with the margin drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.layout import (
    difference_axis,
    drawing,
    estimates,
    framed,
    headed,
    headed_rows,
    intervals,
    zero_line,
)
from skilleval.figures.theme import GREY, skill_colours

_ROW_HEIGHT = 22
_SIGNED = "+.3~r"
_THREE_DIGITS = ".3~r"


def chart(rows: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - the margin is in the rows
    """Draw the differences on an axis that has zero in its middle.

    Grain: one row a skill × scorer × metric.
    Columns: `metric`, `name`, `skill_id`, `before`, `after`, `effect`, `low`, `high`, `margin`, `n_tasks`; nulls are
        not drawn.
    """
    found = rows.to_dicts()
    colours = skill_colours(str(row.get("skill_id") or "") for row in found)
    metrics = list(dict.fromkeys(str(row["metric"]) for row in found))
    points = [_point(row, metric, colours) for metric in metrics for row in found if row["metric"] == metric]
    order = [
        value
        for metric in metrics
        for value in (
            headed(_words(metric)),
            *dict.fromkeys(point["row"] for point in points if point["metric"] == _words(metric)),
        )
    ]
    axis = difference_axis("candidate − baseline")
    base = drawing(points).encode(y=headed_rows(order), tooltip=_tooltip())
    layers = [_margin(found, axis), zero_line(axis), intervals(base, axis), estimates(base, "effect", axis)]
    return framed(layers, height=_ROW_HEIGHT * max(len(order), 1))


def _words(metric: str) -> str:
    return metric.replace("_", " ")


def _point(row: Mapping[str, Any], metric: str, colours: Mapping[str, str]) -> dict[str, Any]:
    told = ("before", "after", "effect", "low", "high", "n_tasks", "n_better", "n_worse")
    return {
        "row": headed(_words(metric), str(row["name"])),
        "name": row["name"],
        "metric": _words(metric),
        **{key: row.get(key) for key in told},
        "colour": colours[str(row.get("skill_id") or "")],
    }


def _margin(found: list[dict[str, Any]], axis: dict[str, Any]) -> alt.Chart:
    """Draw the two lines within which a change is smaller than the margin."""
    margins = {row["margin"] for row in found if row.get("margin") is not None}
    ends = [{"margin": sign * margin} for margin in sorted(margins) for sign in (-1, 1)]
    line = drawing(ends).mark_rule(color=GREY, strokeDash=[4, 3])
    tooltip = [alt.Tooltip("margin:Q", title="margin", format=_SIGNED)]
    drawn: alt.Chart = line.encode(x=alt.X("margin:Q", **axis), tooltip=tooltip)
    return drawn


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("name:N", title="skill"),
        alt.Tooltip("metric:N", title="metric"),
        alt.Tooltip("effect:Q", title="difference", format=_SIGNED),
        alt.Tooltip("low:Q", title="interval from", format=_SIGNED),
        alt.Tooltip("high:Q", title="interval to", format=_SIGNED),
        alt.Tooltip("before:Q", title="baseline", format=_THREE_DIGITS),
        alt.Tooltip("after:Q", title="candidate", format=_THREE_DIGITS),
        alt.Tooltip("n_tasks:Q", title="tasks"),
        alt.Tooltip("n_better:Q", title="better"),
        alt.Tooltip("n_worse:Q", title="worse"),
    ]
