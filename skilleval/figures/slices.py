"""Completion by tag: under each tag a row a skill, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.labels import row_labels
from skilleval.figures.layout import (
    drawing,
    estimates,
    framed,
    headed,
    headed_rows,
    intervals,
    share_axis,
    threshold_line,
)
from skilleval.figures.theme import skill_colours

_ROW_HEIGHT = 19
MAX_ROWS = 60
_THREE_DIGITS = ".3~r"
_KEYS = ("condition_id", "scorer", "run_id", "benchmark_id", "benchmark_version")


def chart(rows: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:
    """Draw the rate of each tag and skill on an axis from 0 to 1.

    Grain: one row a condition × scorer × tag.
    Columns: `tag`, `n_tasks`, `n_graded`, `completion_rate`, `ci_low`, `ci_high`, and what names a condition.
    """
    found = _known(rows)
    tags = _shown_tags(found)
    names = _names(found)
    colours = skill_colours(str(row.get("skill_id") or "") for row in found)
    points = [
        _point(row, tag, names[_key(row)], colours) for tag in tags for row in found if row["tag"] == tag
    ]
    order = [
        value for tag in tags for value in (headed(tag), *(one["row"] for one in points if one["tag"] == tag))
    ]
    axis = share_axis("completion rate")
    base = drawing(points).encode(y=headed_rows(order), tooltip=_tooltip())
    layers: list[Any] = [intervals(base, axis), estimates(base, "rate", axis)]
    if threshold is not None:
        layers.insert(0, threshold_line(threshold, alt.X, axis))
    return framed(layers, height=_ROW_HEIGHT * max(len(order), 1))


def cut(rows: pl.DataFrame) -> str:
    """Say how many tags are not drawn."""
    found = _known(rows)
    n, shown = len({row["tag"] for row in found}), len(_shown_tags(found))
    return f"Shown: the {shown} of {n} tags that have most tasks." if shown < n else ""


def _known(rows: pl.DataFrame) -> list[dict[str, Any]]:
    return [row for row in rows.to_dicts() if row.get("completion_rate") is not None]


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in _KEYS)


def _names(found: list[dict[str, Any]]) -> dict[tuple[Any, ...], str]:
    first = {_key(row): row for row in reversed(found)}
    return dict(zip(first, row_labels(list(first.values())), strict=True))


def _shown_tags(found: list[dict[str, Any]]) -> list[str]:
    """Choose the tags with most tasks, as many as there is room for, in the order of their names."""
    sizes: dict[str, int] = {}
    for row in found:
        sizes[row["tag"]] = max(sizes.get(row["tag"], 0), row.get("n_tasks") or 0)
    room = max(1, MAX_ROWS // (len(_names(found)) + 1))
    return sorted(sorted(sizes, key=lambda tag: (-sizes[tag], tag))[:room])


def _point(row: Mapping[str, Any], tag: str, name: str, colours: Mapping[str, str]) -> dict[str, Any]:
    return {
        "row": headed(tag, name),
        "tag": tag,
        "name": name,
        "rate": row["completion_rate"],
        "low": row.get("ci_low"),
        "high": row.get("ci_high"),
        "n_graded": row.get("n_graded"),
        "n_tasks": row.get("n_tasks"),
        "colour": colours[str(row.get("skill_id") or "")],
    }


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("tag:N", title="tag"),
        alt.Tooltip("name:N", title="skill"),
        alt.Tooltip("rate:Q", title="completion rate", format=_THREE_DIGITS),
        alt.Tooltip("low:Q", title="interval from", format=_THREE_DIGITS),
        alt.Tooltip("high:Q", title="interval to", format=_THREE_DIGITS),
        alt.Tooltip("n_graded:Q", title="graded trials"),
        alt.Tooltip("n_tasks:Q", title="tasks"),
    ]
