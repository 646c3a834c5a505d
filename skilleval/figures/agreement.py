"""Agreement of scorers: Cohen's kappa of each pair with its interval, and Kendall's tau of their orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from skilleval.figures.layout import difference_axis, drawing, framed, intervals, named_rows, zero_line
from skilleval.figures.theme import INK, SKILL_COLOURS

MAX_PAIRS = 30
_ROW_HEIGHT = 30
_KAPPA, _TAU = "Cohen's κ", "Kendall's τ"
_THREE_DIGITS = ".3~r"


def chart(rows: pl.DataFrame, threshold: float | None = None) -> alt.LayerChart:  # noqa: ARG001 - the gate is about rates
    """Draw the coefficients of each pair on an axis from -1 to 1, those that agree least first.

    Grain: one row a pair of raters.
    Columns: `rater_a`, `rater_b`, `n_both`, `percent_agreement`, `kappa`, `kappa_low`, `kappa_high`, `kendall_tau`.
    """
    pairs = _pairs(rows)[:MAX_PAIRS]
    points = [point for pair in pairs for point in _points(pair, several=_is_several(pairs))]
    names = list(dict.fromkeys(point["row"] for point in points))
    axis = difference_axis("agreement beyond chance")
    base = drawing(points).encode(y=named_rows(names), tooltip=_tooltip())
    coefficients = [name for name in (_KAPPA, _TAU) if any(point["coefficient"] == name for point in points)]
    layers = [zero_line(axis), intervals(base, axis), _marks(base, axis, coefficients)]
    return framed(layers, height=_ROW_HEIGHT * max(len(names), 1))


def cut(rows: pl.DataFrame) -> str:
    """Say how many pairs are not drawn."""
    n = len(_pairs(rows))
    return f"Shown: the {MAX_PAIRS} of {n} pairs that agree least." if n > MAX_PAIRS else ""


def _pairs(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Give the pairs that graded something together; those whose agreement is not known come last."""
    found = [row for row in rows.to_dicts() if row.get("percent_agreement") is not None]
    return sorted(found, key=lambda row: (row.get("kappa") is None, row.get("kappa") or 0.0))


def _is_several(pairs: list[dict[str, Any]]) -> bool:
    return len({pair.get("run_id") for pair in pairs}) > 1


def _points(pair: Mapping[str, Any], *, several: bool) -> list[dict[str, Any]]:
    """Give the points of a pair; without any coefficient one that draws nothing but keeps the row."""
    name = f"{pair['rater_a']} × {pair['rater_b']}"
    told = {
        "row": f"{name} · {pair['run_id']}" if several else name,
        "n_both": pair.get("n_both"),
        "percent_agreement": pair.get("percent_agreement"),
    }
    kappa = told | {
        "coefficient": _KAPPA,
        "value": pair.get("kappa"),
        "low": pair.get("kappa_low"),
        "high": pair.get("kappa_high"),
    }
    tau = told | {"coefficient": _TAU, "value": pair.get("kendall_tau"), "low": None, "high": None}
    return [kappa] if tau["value"] is None else [kappa, tau]


def _marks(base: alt.Chart, axis: dict[str, Any], coefficients: list[str]) -> alt.Chart:
    known = base.transform_filter("isValid(datum.value)")
    marks = known.mark_point(filled=True, stroke=INK, opacity=1, style="estimate", fill=SKILL_COLOURS[0])
    legend = alt.Legend(title=None, symbolStrokeColor=INK) if len(coefficients) > 1 else None
    shape = alt.Scale(domain=coefficients, range=["circle", "diamond"][: len(coefficients)])
    drawn: alt.Chart = marks.encode(
        x=alt.X("value:Q", **axis), shape=alt.Shape("coefficient:N", scale=shape, legend=legend)
    )
    return drawn


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("row:N", title="scorers"),
        alt.Tooltip("coefficient:N", title="coefficient"),
        alt.Tooltip("value:Q", title="value", format=_THREE_DIGITS),
        alt.Tooltip("low:Q", title="interval from", format=_THREE_DIGITS),
        alt.Tooltip("high:Q", title="interval to", format=_THREE_DIGITS),
        alt.Tooltip("percent_agreement:Q", title="same verdict, share", format=_THREE_DIGITS),
        alt.Tooltip("n_both:Q", title="attempts"),
    ]
