"""What each skill adds to its baseline: a point and a line around zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.theme import GREY, INK, skill_colours, themed

_ROW_HEIGHT = 30
_LABEL_LIMIT = 220
_THREE_DIGITS = "+.3~r"

# User text is only ever a value: the fields have names of ours, so no id can break an encoding.
_SCHEMA = {
    "row": pl.String(),
    "uplift": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "with_skill": pl.Float64(),
    "baseline": pl.Float64(),
    "n_cases": pl.Int64(),
    "colour": pl.String(),
}


def chart(uplift: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - the gate is about rates
    """Draw the differences with intervals on an axis that has zero in its middle.

    Grain: one row a comparison of arms.
    Columns: `name`, `skill_id`, `baseline`, `uplift`, `uplift_low`, `uplift_high` and both scores, which may be null.
    """
    data = _plotted(uplift)
    rows = data["row"].unique(maintain_order=True).to_list()
    base = alt.Chart(data).encode(y=_rows(rows), tooltip=_tooltip())
    layered = alt.LayerChart(layer=[_zero(), _lines(base), _points(base)])
    drawn: alt.LayerChart = layered.properties(
        width="container",
        height=_ROW_HEIGHT * max(len(rows), 1),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
    return themed(drawn)


def _plotted(uplift: pl.DataFrame) -> pl.DataFrame:
    """Give the few columns the chart needs, in the order of the report.

    Grain: one row a comparison of arms.
    """
    rows = uplift.to_dicts()
    several = len({row.get("baseline") for row in rows}) > 1
    colours = skill_colours(str(row.get("skill_id") or "") for row in rows)
    return pl.DataFrame([_point(row, colours, several=several) for row in rows], schema=_SCHEMA)


def _point(row: Mapping[str, Any], colours: Mapping[str, str], *, several: bool) -> dict[str, Any]:
    name, baseline = str(row.get("name") or row.get("skill_id") or ""), str(row.get("baseline") or "")
    return {
        "row": f"{name} · {baseline}" if several else name,
        "uplift": row.get("uplift"),
        "low": row.get("uplift_low"),
        "high": row.get("uplift_high"),
        "with_skill": row.get("score_candidate"),
        "baseline": row.get("score_baseline"),
        "n_cases": row.get("n_cases"),
        "colour": colours[str(row.get("skill_id") or "")],
    }


def _rows(rows: list[str]) -> alt.Y:
    axis = alt.Axis(title=None, labelLimit=_LABEL_LIMIT, ticks=False, domain=False, labelPadding=8)
    return alt.Y("row:N", scale=alt.Scale(domain=rows), axis=axis)


def _difference(field: str) -> alt.X:
    axis = alt.Axis(
        title="score with the skill − baseline",
        values=[-1, -0.5, 0, 0.5, 1],
        format=".2~f",
        labelExpr="datum.value > 0 ? '+' + datum.label : datum.label",
        grid=True,
    )
    return alt.X(field, scale=alt.Scale(domain=[-1, 1]), axis=axis)


def _zero() -> alt.Chart:
    line = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=GREY)
    drawn: alt.Chart = line.encode(x=_difference("zero:Q"))
    return drawn


def _lines(base: alt.Chart) -> alt.Chart:
    known = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    drawn: alt.Chart = known.mark_rule(color=INK, strokeWidth=1.5).encode(x=_difference("low:Q"), x2="high:Q")
    return drawn


def _points(base: alt.Chart) -> alt.Chart:
    mark = base.transform_filter("isValid(datum.uplift)").mark_point(
        filled=True, size=90, stroke=INK, strokeWidth=1.2, opacity=1
    )
    drawn: alt.Chart = mark.encode(x=_difference("uplift:Q"), color=alt.Color("colour:N", scale=None))
    return drawn


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
