"""One metric of a summary row as text, in the style its name asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilleval.report.numbers import DASH, Style, interval, shown

_INTERVALS = {"completion_rate": ("ci_low", "ci_high")}


def style_of(metric: str) -> Style:
    """Give the style of a metric by the unit in its name."""
    if metric.endswith("_ms"):
        return Style.DURATION
    if metric.endswith("_usd"):
        return Style.MONEY
    return Style.COUNT if metric.startswith("n_") or metric.endswith("_tokens") else Style.RATE


def metric_text(metric: str, row: Mapping[str, Any]) -> str:
    """Write a metric of a row, with its interval where it has one."""
    low, high = _INTERVALS.get(metric, (f"{metric}_ci_low", f"{metric}_ci_high"))
    return valued(metric, row[metric], row.get(low), row.get(high))


def valued(metric: str, value: float | None, low: float | None = None, high: float | None = None) -> str:
    """Write a value of a metric, with its interval where both ends are known."""
    style = style_of(metric)
    text, ends = shown(value, style), interval(low, high, style)
    return text if DASH in {text, ends} else f"{text} {ends}"
