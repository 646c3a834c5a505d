"""The jobs of a sweep as lines across its settings, the metric last: which combinations lead where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.labels import fitting_labels
from skilleval.figures.layout import drawing, framed
from skilleval.figures.theme import GREY, INK

MAX_LINES = 500
"""So many jobs are drawn, those at both ends of the metric."""

_PREFIX = "setting."
_HEIGHT = 300
_LABELLED = 8
_SPREAD = 0.05
_LOW, _HIGH = "#E69F00", "#0072B2"
PAGE = "#fefefe"
"""Stands behind the labels, so that lines do not cover them; pages put their own ground in its place."""
_SHARES = ("completion_rate", "partial_score", "error_rate")


def chart(jobs: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - no gate is drawn
    """Draw a line a job that has the metric; its colour says again what the last axis says.

    Grain: one row a job.
    Columns: `job`, one a setting (`setting.` and its name), `mean`, `metric`, `title` (what the last axis is called).
    """
    rows = _shown(jobs).sort("job").to_dicts()
    settings = [name for name in jobs.columns if name.startswith(_PREFIX) and _levels(rows, name)[1:]]
    title = str(jobs["title"][0]) if jobs.height else ""
    names = [*fitting_labels([name.removeprefix(_PREFIX) for name in settings]), title]
    low, high = _range(rows, str(jobs["metric"][0]) if jobs.height else "")
    points = [point for row in rows for point in _line(row, rows, settings, names, (low, high))]
    room = alt.ExprRef(expr=f"width / {len(names)} - 6")
    axis = alt.Axis(title=None, orient="top", labelAngle=0, domain=False, ticks=False, labelLimit=room)
    x = alt.X("axis:N", sort=None, scale=alt.Scale(domain=names, padding=0.35), axis=axis)
    y = alt.Y("at:Q", scale=alt.Scale(domain=[-0.05, 1.05], nice=False), axis=None)
    base = drawing(points).encode(x=x, y=y)
    colour = alt.Color(
        "mean:Q",
        title=title,
        scale=alt.Scale(domain=[low, high], range=[_LOW, _HIGH], clamp=True),
        legend=alt.Legend(
            orient="top",
            gradientLength=120,
            gradientThickness=8,
            gradientOpacity=1,
            tickCount=3,
            format=".3~g",
        ),
    )
    opacity = max(0.25, min(0.9, 12 / max(len(rows), 1)))
    lines = base.mark_line(opacity=opacity, strokeWidth=1.5).encode(
        color=colour,
        detail="job:N",
        order="place:Q",
        tooltip=[alt.Tooltip("told:N", title="job"), alt.Tooltip("mean:Q", title=title, format=".3~r")],
    )
    ticks = drawing(_ticks(rows, settings, names, (low, high)))
    rules = ticks.transform_filter("datum.is_end").mark_line(color=GREY).encode(x=x, y=y, detail="axis:N")
    halo: dict[str, Any] = {"stroke": PAGE, "strokeWidth": 4, "strokeJoin": "round"}
    texts = [
        ticks.mark_text(color=INK, align="left", dx=5, limit=room, style="label", **look).encode(
            x=x, y=y, text="label:N"
        )
        for look in (halo, {})
    ]
    return framed([rules, lines, *texts], height=_HEIGHT)


def cut(jobs: pl.DataFrame) -> str:
    """Say how many jobs are left out."""
    known = jobs.filter(pl.col("mean").is_not_null()).height
    return f"{known - MAX_LINES} jobs in the middle of the metric are left out." if known > MAX_LINES else ""


def _shown(jobs: pl.DataFrame) -> pl.DataFrame:
    known = jobs.filter(pl.col("mean").is_not_null()).sort("mean", "job")
    if known.height <= MAX_LINES:
        return known
    half = MAX_LINES // 2
    return pl.concat([known.head(half), known.tail(MAX_LINES - half)])


def _levels(rows: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """Give the levels of a setting from below upwards: numbers by size, all else as they come."""
    found = list(dict.fromkeys(row[name] for row in rows))
    numbers = [level for level in found if isinstance(level, int | float) and not isinstance(level, bool)]
    return sorted(numbers) if len(numbers) == len(found) else found


def _range(rows: Sequence[Mapping[str, Any]], metric: str) -> tuple[float, float]:
    values = [float(row["mean"]) for row in rows]
    if not values or (metric in _SHARES and max(values) - min(values) <= 0):
        return 0.0, 1.0
    low, high = min(values), max(values)
    return (low, high) if high > low else (low, low + 1)


def _line(
    row: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    settings: Sequence[str],
    names: Sequence[str],
    ends: tuple[float, float],
) -> list[dict[str, Any]]:
    """Give the places of a job on all axes; jobs of one level lie a hair apart, to be told apart."""
    told = " ".join([f"{row['job']}:", *(f"{name.removeprefix(_PREFIX)}={row[name]}" for name in settings)])
    hair = _SPREAD * (rows.index(row) / max(len(rows) - 1, 1) - 0.5)
    places = [_height(row[name], _levels(rows, name)) + hair for name in settings]
    places.append((float(row["mean"]) - ends[0]) / (ends[1] - ends[0]))
    return [
        {"job": row["job"], "told": told, "mean": row["mean"], "axis": name, "place": at, "at": place}
        for at, (name, place) in enumerate(zip(names, places, strict=True))
    ]


def _height(level: Any, levels: Sequence[Any]) -> float:
    return levels.index(level) / max(len(levels) - 1, 1)


def _ticks(
    rows: Sequence[Mapping[str, Any]],
    settings: Sequence[str],
    names: Sequence[str],
    ends: tuple[float, float],
) -> list[dict[str, Any]]:
    """Give the labels of the axes; of many levels only the first and the last."""
    found: list[dict[str, Any]] = []
    for setting, name in zip(settings, names, strict=False):
        levels = _levels(rows, setting)
        shown = levels if len(levels) <= _LABELLED else [levels[0], levels[-1]]
        labels = fitting_labels([_text(level) for level in shown])
        found += [
            {
                "axis": name,
                "at": _height(level, levels),
                "label": label,
                "is_end": level in {levels[0], levels[-1]},
            }
            for level, label in zip(shown, labels, strict=True)
        ]
    last = [
        {"axis": names[-1], "at": at, "label": f"{end:.3g}", "is_end": True}
        for at, end in zip((0.0, 1.0), ends, strict=True)
    ]
    return [*found, *last]


def _text(level: Any) -> str:
    if level is None:
        return "null"
    return str(level).lower() if isinstance(level, bool) else str(level)
