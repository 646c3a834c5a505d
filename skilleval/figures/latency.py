"""Latency as an empirical distribution, a line a skill, drawn from the percentiles of the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.labels import condition_labels
from skilleval.figures.theme import skill_colours, themed

_PERCENTILES = (
    ("min_ms", 0.0),
    ("p10_ms", 0.10),
    ("p25_ms", 0.25),
    ("p50_ms", 0.50),
    ("p75_ms", 0.75),
    ("p90_ms", 0.90),
    ("p95_ms", 0.95),
    ("p99_ms", 0.99),
    ("max_ms", 1.0),
)
_SCHEMA = {
    "row": pl.String(),
    "latency_ms": pl.Float64(),
    "share": pl.Float64(),
    "n_latency": pl.Int64(),
    "n_censored": pl.Int64(),
    "colour": pl.String(),
    "mode": pl.String(),
}
_DASHES = {"without_skill": [6, 4], "old_skill": [2, 3]}
"""Baselines are dashed: in the colour of their skill they would look like it."""
_HEIGHT = 220
_COLUMNS, _SHORT, _LABEL_LIMIT = 4, 20, 280
"""Columns of the legend while all names are short; long ones, which would be cut, stand below each other."""
_WIDE_RANGE = 50  # from here on a linear axis would press the fast skills into one line


def chart(summary: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - the gate is about rates
    """Draw the share of trials done within a time; several scorers of one condition share one line.

    Grain: one row a condition × scorer.
    Columns: those of the summary; a row without known latencies draws nothing.
    """
    data = _plotted(summary)
    names = data["row"].unique(maintain_order=True).to_list()
    colours = data.unique("row", maintain_order=True)["colour"].to_list()
    columns = _COLUMNS if max(map(len, names), default=0) <= _SHORT else 1
    legend = alt.Legend(
        title=None,
        symbolType="stroke",
        symbolSize=300,
        symbolStrokeWidth=3,
        columns=columns,
        labelLimit=_LABEL_LIMIT,
        symbolLimit=0,  # all of them: Vega leaves out what is beyond the thirtieth
    )
    colour = alt.Stroke("row:N", scale=alt.Scale(domain=names, range=colours), legend=legend)
    base = alt.Chart(data).encode(x=_time(data), y=_share(), tooltip=_tooltip())
    lines = base.mark_line(interpolate="step-after", strokeWidth=2.5).encode(stroke=colour, **_dashes(data))
    points = base.mark_point(filled=True, size=120, opacity=0)  # what the pointer finds
    drawn: alt.LayerChart = alt.LayerChart(layer=[lines, points]).properties(
        width="container", height=_HEIGHT, autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
    )
    return themed(drawn)


def _dashes(data: pl.DataFrame) -> dict[str, alt.StrokeDash]:
    """Tell arms apart, where there are several."""
    modes = data["mode"].unique(maintain_order=True).to_list()
    if len(modes) < 2:  # noqa: PLR2004 - one arm is drawn as ever
        return {}
    scale = alt.Scale(domain=modes, range=[_DASHES.get(mode, [1, 0]) for mode in modes])
    return {"strokeDash": alt.StrokeDash("mode:N", scale=scale, legend=alt.Legend(title=None))}


def _plotted(summary: pl.DataFrame) -> pl.DataFrame:
    """Give the points of each condition, once.

    Grain: one row a condition × percentile.
    """
    rows = [row for row in summary.to_dicts() if row.get("min_ms") is not None]
    colours = skill_colours(str(row.get("skill_id") or "") for row in rows)
    seen: set[str] = set()
    points: list[dict[str, Any]] = []
    for row, name in zip(rows, condition_labels(rows), strict=True):
        if name not in seen:
            seen.add(name)
            points += _points(row, name, colours)
    return pl.DataFrame(points, schema=_SCHEMA)


def _points(row: Mapping[str, Any], name: str, colours: Mapping[str, str]) -> Sequence[dict[str, Any]]:
    return [
        {
            "row": name,
            "latency_ms": row.get(column),
            "share": share,
            "n_latency": row.get("n_latency"),
            "n_censored": row.get("n_censored"),
            "colour": colours[str(row.get("skill_id") or "")],
            "mode": str(row.get("mode") or ""),
        }
        for column, share in _PERCENTILES
        if row.get(column) is not None
    ]


def _time(data: pl.DataFrame) -> alt.X:
    low, high = data["latency_ms"].min(), data["latency_ms"].max()
    spread = (
        float(high) / float(low) if isinstance(low, float) and isinstance(high, float) and low > 0 else 1.0
    )
    scale = alt.Scale(type="log", nice=False) if spread > _WIDE_RANGE else alt.Scale(zero=True)
    return alt.X("latency_ms:Q", scale=scale, axis=alt.Axis(title="latency in ms", format=",.6~r", grid=True))


def _share() -> alt.Y:
    axis = alt.Axis(title="share of trials", values=[0, 0.25, 0.5, 0.75, 1], format=".2~f", grid=True)
    return alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("row:N", title="skill"),
        alt.Tooltip("share:Q", title="share of trials", format=".2~f"),
        alt.Tooltip("latency_ms:Q", title="within ms", format=",.3~r"),
        alt.Tooltip("n_latency:Q", title="trials"),
        alt.Tooltip("n_censored:Q", title="of them cut off"),
    ]
