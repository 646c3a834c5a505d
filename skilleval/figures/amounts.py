"""Axes of amounts, such as times and costs: linear, or logarithmic where small ones would become one line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

_WIDE_RANGE = 50
_MANY_DECADES = 2.5
"""From here on a tick a power of ten is enough; below it 2 and 5 have ticks too."""
_ROOM = 1.25
"""How much farther than its data a logarithmic axis goes, so that no point is cut."""
_TICKS = 6


def is_wide(values: Sequence[float]) -> bool:
    """Say whether the axis of these values is logarithmic."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return low > 0 and high / low > _WIDE_RANGE


def amount_axis(
    values: Sequence[float], *, title: str, value_format: str, room: bool = False
) -> dict[str, Any]:
    """Give scale and axis of amounts; `room` leaves some at both ends of a logarithmic one."""
    axis = alt.Axis(title=title, format=value_format, grid=True, tickCount=_TICKS)
    if not is_wide(values):
        return {"scale": alt.Scale(zero=True), "axis": axis}
    low, high = min(values), max(values)
    domain = [low / _ROOM, high * _ROOM] if room else [low, high]
    ticks = [tick for tick in _ticks(low, high) if domain[0] <= tick <= domain[1]]
    return {
        "scale": alt.Scale(type="log", nice=False, domain=domain),
        "axis": alt.Axis(title=title, format=value_format, grid=True, values=ticks),
    }


def _ticks(low: float, high: float) -> list[float]:
    """Give round numbers that are evenly apart on a logarithmic axis."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if math.log10(high / low) > _MANY_DECADES else (1, 2, 5)
    return [step * 10.0**decade for decade in decades for step in steps]
