"""The mean of a metric at each level of each setting of a sweep: a point and a line, the settings below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.labels import fitting_labels
from skilleval.figures.layout import drawing, estimates, framed, headed, headed_rows, intervals, share_axis
from skilleval.figures.theme import SKILL_COLOURS

MAX_ROWS = 60
"""So many levels are drawn; of settings with more of them the table tells all."""

_ROW_HEIGHT = 24
_THREE_DIGITS = ".3~r"
_SHARES = ("completion_rate", "partial_score", "error_rate")


def chart(levels: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - no gate is drawn
    """Draw the means with their intervals, a heading a setting.

    Grain: one row a setting × level.
    Columns: `setting`, `level`, `mean`, `low`, `high`, `n_tasks`, `metric`, `title` (what the axis is called).
    """
    points = _plotted(levels.head(MAX_ROWS).to_dicts())
    rows = list(dict.fromkeys(point["row"] for point in points))
    metric, title = (str(levels[name][0]) if levels.height else "" for name in ("metric", "title"))
    axis = metric_axis(metric, title)
    base = drawing(points).encode(y=headed_rows(rows), tooltip=_tooltip(title))
    return framed(
        [intervals(base, axis), estimates(base, "mean", axis)], height=_ROW_HEIGHT * max(len(rows), 1)
    )


def cut(levels: pl.DataFrame) -> str:
    """Say how many levels are left out."""
    more = levels.height - MAX_ROWS
    return f"{more} more levels are in the table." if more > 0 else ""


def metric_axis(metric: str, title: str) -> dict[str, Any]:
    """Give scale and axis of a metric: the whole range of shares, else that of the data."""
    if metric in _SHARES:
        return share_axis(title)
    return {"scale": alt.Scale(zero=False, nice=True), "axis": alt.Axis(title=title, grid=True, tickCount=4)}


def _plotted(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    settings = list(dict.fromkeys(str(row["setting"]) for row in rows))
    names = dict(zip(settings, fitting_labels(settings), strict=True))
    points: list[dict[str, Any]] = []
    for at, setting in enumerate(settings):
        own = [row for row in rows if row["setting"] == setting]
        points.append({"row": headed(names[setting])})
        labels = fitting_labels([str(row["level"]) for row in own])
        colour = SKILL_COLOURS[at % len(SKILL_COLOURS)]
        points += [
            _point(row, headed(names[setting], label or "–"), colour)
            for row, label in zip(own, labels, strict=True)
        ]
    return points


def _point(row: Mapping[str, Any], name: str, colour: str) -> dict[str, Any]:
    return {
        "row": name,
        "setting": str(row["setting"]),
        "level": str(row["level"]),
        **{key: row[key] for key in ("mean", "low", "high", "n_tasks")},
        "colour": colour,
    }


def _tooltip(title: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("setting:N", title="setting"),
        alt.Tooltip("level:N", title="level"),
        alt.Tooltip("mean:Q", title=title, format=_THREE_DIGITS),
        alt.Tooltip("low:Q", title="interval from", format=_THREE_DIGITS),
        alt.Tooltip("high:Q", title="interval to", format=_THREE_DIGITS),
        alt.Tooltip("n_tasks:Q", title="tasks"),
    ]
