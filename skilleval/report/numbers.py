"""The one place that turns numbers into text, for every writer.

Only rounding for the eye happens here; stored values stay as they are. A value that is not known is a dash, never
0 and never NaN. Units stand in the header of a column, but for times, whose unit changes at ten seconds.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal
from enum import StrEnum

DASH = "\u2013"
MINUS = "\u2212"
THIN_SPACE = "\u202f"  # the one at which no line ends

_SECONDS_FROM_MS = 10_000
_CENTS_FROM_USD = Decimal("0.1")
_SMALLEST_P = 0.001
_LARGEST_TIMES = 1e6
_ROUNDING = 1e-14
_WIDE = Context(prec=700)  # every finite float fits, so no number a file may hold is refused


class Style(StrEnum):
    """How the values of a column are written."""

    RATE = "rate"
    COUNT = "count"
    DURATION = "duration"
    MONEY = "money"


def shown(value: float | None, style: Style) -> str:
    """Write a value in the style of its column."""
    writers = {Style.RATE: rate, Style.COUNT: count, Style.DURATION: duration, Style.MONEY: money}
    return writers[style](value)


def rate(value: float | None) -> str:
    """Write a share with 3 significant digits; a share below 1 is never rounded up to 1."""
    if value is None or not math.isfinite(value):
        return DASH
    for digits in range(3, 10):
        text = _trimmed(_significant(value, digits))
        if abs(value) >= 1 or text.lstrip(MINUS) != "1":
            return text
    return _trimmed(_significant(value, 3))


def interval(low: float | None, high: float | None, style: Style = Style.RATE) -> str:
    """Write both ends of an interval, `[0.88, 0.96]`; a dash where an end is not known.

    A unit that both ends have is written once: `[30.2, 48.1] ms`.
    """
    ends = (shown(low, style), shown(high, style))
    if DASH in ends:
        return DASH
    if style is not Style.DURATION:
        return f"[{', '.join(ends)}]"
    (first, _, unit), (second, _, other) = (end.rpartition(THIN_SPACE) for end in ends)
    return f"[{first}, {second}]{THIN_SPACE}{unit}" if unit == other else f"[{', '.join(ends)}]"


def count(value: float | None) -> str:
    """Write a whole number, thousands apart by a thin space."""
    if value is None or not math.isfinite(value):
        return DASH
    return _grouped(_rounded(Decimal(value), Decimal(1)))


def counted(n: int, what: str) -> str:
    """Write a number of things: `1 task`, `2 tasks`."""
    return f"{count(n)} {what}{'' if n == 1 else 's'}"


def duration(value_ms: float | None) -> str:
    """Write a time with its unit and 3 significant digits: ms below ten seconds, then s."""
    if value_ms is None or not math.isfinite(value_ms):
        return DASH
    shown_ms = _significant_or_whole(value_ms)
    if abs(shown_ms) < _SECONDS_FROM_MS:
        return f"{_trimmed(shown_ms)}{THIN_SPACE}ms"
    return f"{_trimmed(_significant_or_whole(value_ms / 1000))}{THIN_SPACE}s"


def money(value_usd: float | None) -> str:
    """Write an amount to the cent, below ten cents with 2 significant digits."""
    if value_usd is None or not math.isfinite(value_usd):
        return DASH
    amount = _significant(value_usd, 2)
    if amount == 0 or abs(amount) >= _CENTS_FROM_USD:
        return _grouped(_rounded(Decimal(str(value_usd)), Decimal("0.01")))
    return _trimmed(amount)


def signed(value: float | None, style: Style) -> str:
    """Write a difference with its sign, `+0.42`; zero has none."""
    text = shown(value, style)
    return f"+{text}" if value is not None and math.isfinite(value) and value > 0 else text


def signed_interval(low: float | None, high: float | None) -> str:
    """Write both ends of the interval of a difference, `[−0.1, +0.3]`; a dash where an end is not known."""
    ends = [signed(end, Style.RATE) for end in (low, high)]
    return DASH if DASH in ends else f"[{', '.join(ends)}]"


def points(value: float | None) -> str:
    """Write a difference of shares in percentage points, with its sign: `−8.3`; never 0 for what is not 0.

    What a sum of floats leaves where the exact one is 0 is 0.
    """
    if value is None or not math.isfinite(value):
        return DASH
    if abs(value) < _ROUNDING:
        return "0"
    hundredfold = _rounded(Decimal(str(value)).scaleb(2), Decimal("0.1"))
    exact = _significant(value, 2).scaleb(2) if hundredfold == 0 else hundredfold
    return f"+{_trimmed(exact)}" if exact > 0 else _trimmed(exact)


def times(value: float | None) -> str:
    """Write a ratio: `×1.31`; one beyond a million, either way, as a power of ten: `×1.73e+82`."""
    if value is None or not math.isfinite(value):
        return DASH
    is_usual = value == 0 or 1 / _LARGEST_TIMES <= abs(value) <= _LARGEST_TIMES
    return f"×{_trimmed(_significant(value, 3)) if is_usual else f'{value:.3g}'}"


def p_text(value: float | None) -> str:
    """Write a p value: `p = 0.031`, `p < 0.001`; empty where there is none."""
    if value is None or not math.isfinite(value):
        return ""
    return f"p < {_SMALLEST_P:g}" if value < _SMALLEST_P else f"p = {_trimmed(_significant(value, 2))}"


def _significant(value: float, digits: int) -> Decimal:
    """Round to a number of significant digits, by the decimal text of the value (0.285 is no 0.2849999)."""
    exact = Decimal(str(value))
    if exact == 0:
        return Decimal(0)
    return _rounded(exact, Decimal((0, (1,), exact.adjusted() - digits + 1)))


def _significant_or_whole(value: float) -> Decimal:
    """Round to 3 significant digits, but never coarser than to the unit."""
    whole = _rounded(Decimal(str(value)), Decimal(1))
    return whole if abs(whole) >= 100 else _significant(value, 3)  # noqa: PLR2004 - three digits before the point


def _rounded(number: Decimal, unit: Decimal) -> Decimal:
    return number.quantize(unit, ROUND_HALF_EVEN, context=_WIDE)


def _trimmed(number: Decimal) -> str:
    text = f"{number:f}"
    whole, point, rest = text.partition(".")
    rest = rest.rstrip("0")
    return _grouped_text(whole, f"{point}{rest}" if rest else "")


def _grouped(number: Decimal) -> str:
    whole, point, rest = f"{number:f}".partition(".")
    return _grouped_text(whole, f"{point}{rest}")


def _grouped_text(whole: str, rest: str) -> str:
    digits = f"{int(whole.lstrip('-')):,}".replace(",", THIN_SPACE)
    is_zero = not (digits + rest).strip("0.")
    sign = MINUS if whole.startswith("-") and not is_zero else ""
    return f"{sign}{digits}{rest}"
