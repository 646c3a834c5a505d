"""What each skill adds to its baseline: a point and a line around zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.layout import (
    difference_axis,
    drawing,
    estimates,
    framed,
    intervals,
    named_rows,
    zero_line,
)
from skilleval.figures.theme import skill_colours

_ROW_HEIGHT = 30
_THREE_DIGITS = "+.3~r"


def chart(uplift: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - the gate is about rates
    """Draw the differences with intervals on an axis that has zero in its middle.

    Grain: one row a comparison of arms.
    Columns: `name`, `skill_id`, `baseline`, `uplift`, `uplift_low`, `uplift_high` and both scores, which may be null.
    """
    points = _plotted(uplift)
    rows = list(dict.fromkeys(point["row"] for point in points))
    axis = difference_axis("score with the skill − baseline")
    base = drawing(points).encode(y=named_rows(rows), tooltip=_tooltip())
    layers = [zero_line(axis), intervals(base, axis), estimates(base, "uplift", axis)]
    return framed(layers, height=_ROW_HEIGHT * max(len(rows), 1))


def _plotted(uplift: pl.DataFrame) -> list[dict[str, Any]]:
    """Give the few values the chart needs, in the order of the report."""
    rows = uplift.to_dicts()
    telling = [key for key in ("baseline", "run_id") if len({row.get(key) for row in rows}) > 1]
    colours = skill_colours(str(row.get("skill_id") or "") for row in rows)
    return [_point(row, colours, telling=telling) for row in rows]


def _point(row: Mapping[str, Any], colours: Mapping[str, str], *, telling: Sequence[str]) -> dict[str, Any]:
    name = str(row.get("name") or row.get("skill_id") or "")
    return {
        "row": " · ".join([name, *(str(row.get(key) or "") for key in telling)]),
        "uplift": row.get("uplift"),
        "low": row.get("uplift_low"),
        "high": row.get("uplift_high"),
        "with_skill": row.get("score_candidate"),
        "baseline": row.get("score_baseline"),
        "n_cases": row.get("n_cases"),
        "colour": colours[str(row.get("skill_id") or "")],
    }


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("row:N", title="skill"),
        alt.Tooltip("uplift:Q", title="uplift", format=_THREE_DIGITS),
        alt.Tooltip("low:Q", title="interval from", format=_THREE_DIGITS),
        alt.Tooltip("high:Q", title="interval to", format=_THREE_DIGITS),
        alt.Tooltip("with_skill:Q", title="score with the skill", format=".3~r"),
        alt.Tooltip("baseline:Q", title="score of the baseline", format=".3~r"),
        alt.Tooltip("n_cases:Q", title="cases"),
    ]
