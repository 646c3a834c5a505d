"""A line of numbers as a line of text."""

from __future__ import annotations

from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"
_UNKNOWN = "·"


def sparkline(values: Sequence[float | None], *, low: float | None = None, high: float | None = None) -> str:
    """Draw each value as a bar between `low` and `high`, by default the least and the greatest; `·` where not known.

    Values that are all alike are drawn half-way up: there is nothing to see.
    """
    known = [value for value in values if value is not None]
    if not known:
        return _UNKNOWN * len(values)
    floor = min(known) if low is None else low
    ceiling = max(known) if high is None else high
    return "".join(_UNKNOWN if value is None else _bar(value, floor, ceiling) for value in values)


def _bar(value: float, floor: float, ceiling: float) -> str:
    if ceiling <= floor:
        return _BARS[len(_BARS) // 2 - 1]
    share = min(max((value - floor) / (ceiling - floor), 0.0), 1.0)
    return _BARS[min(int(share * len(_BARS)), len(_BARS) - 1)]
