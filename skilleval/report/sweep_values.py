"""Values of the metric of a sweep with their intervals, in its unit."""

from __future__ import annotations

from skilleval.report.numbers import Style, interval
from skilleval.report.sweep_document import Values

STYLES = {"latency_ms": Style.DURATION, "tokens": Style.COUNT, "cost_usd": Style.MONEY}
"""How metrics that are no share are written."""


def value_interval(name: str, row: Values) -> str:
    """Write `low` and `high` of a row."""
    return interval(row["low"], row["high"], STYLES.get(name, Style.RATE))
