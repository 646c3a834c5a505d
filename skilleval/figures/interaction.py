"""Two settings of a sweep together: the mean at each level of one, a line a level of the other."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.effects import metric_axis
from skilleval.figures.labels import fitting_labels
from skilleval.figures.layout import drawing, framed
from skilleval.figures.theme import INK, SKILL_COLOURS

_HEIGHT = 240
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3])


def chart(means: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - no gate is drawn
    """Draw a line a level of the first setting over the levels of the second.

    Grain: one row a level × level.
    Columns: `setting_a`, `level_a`, `setting_b`, `level_b`, `mean`, `metric`, `title` (what the axis is called).
    """
    rows = means.to_dicts()
    first = rows[0] if rows else dict.fromkeys(("setting_a", "setting_b", "metric", "title"), "")
    levels = [list(dict.fromkeys(str(row[f"level_{side}"]) for row in rows)) for side in "ab"]
    names = [dict(zip(found, fitting_labels(found), strict=True)) for found in levels]
    points = [
        {
            "line": names[0][str(row["level_a"])],
            "at": names[1][str(row["level_b"])],
            **{key: row[key] for key in ("level_a", "level_b", "mean")},
        }
        for row in rows
    ]
    axis = metric_axis(str(first["metric"]), str(first["title"]))
    x_axis = alt.Axis(title=str(first["setting_b"]), labelAngle=0, labelLimit=90, ticks=False)
    base = drawing(points).encode(
        x=alt.X("at:N", scale=alt.Scale(domain=list(names[1].values()), padding=0.4), axis=x_axis, sort=None),
        y=alt.Y("mean:Q", **axis),
        tooltip=[
            alt.Tooltip("level_a:N", title=str(first["setting_a"])),
            alt.Tooltip("level_b:N", title=str(first["setting_b"])),
            alt.Tooltip("mean:Q", title=str(first["title"]), format=".3~r"),
        ],
    )
    told = list(names[0].values())
    title = str(first["setting_a"])
    lines = base.mark_line(style="curve").encode(
        color=alt.Color("line:N", title=title, scale=_scale(told, SKILL_COLOURS)),
        strokeDash=alt.StrokeDash("line:N", title=title, scale=_scale(told, _DASHES)),
    )
    marks = base.mark_point(filled=True, opacity=1, stroke=INK, style="estimate").encode(
        color=alt.Color("line:N", title=title, scale=_scale(told, SKILL_COLOURS)),
        shape=alt.Shape("line:N", title=title, scale=_scale(told, _SHAPES)),
    )
    return framed([lines, marks], height=_HEIGHT)


def _scale(names: list[str], values: Any) -> alt.Scale:
    return alt.Scale(domain=names, range=[values[at % len(values)] for at in range(len(names))])
