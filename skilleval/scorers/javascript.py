"""How JavaScript prints values, writes JSON and reads patterns: what `compat` needs to repeat its verdicts."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from skilleval.scorers.base import MISSING
from skilleval.scorers.values import is_number

_WHITE_SPACE = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    chr(code) for code in range(0x2000, 0x200B)
)
_PLAIN_DIGITS = 21
_SMALLEST_PLAIN = -6

_TOKEN = re.compile(r"\\k<|\\.|\[\^?\]|\[\^?|\]|\(\?(?:<?[=!:]|<(?=[A-Za-z_$])|.)?|[.$]", re.DOTALL)
_GROUPS = frozenset({"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<"})
_ESCAPED_LETTERS = frozenset("bBdDsSwWtnrfvxucp")
_OUTSIDE = {
    ".": r"[^\n\r\u2028\u2029]",
    "$": r"\Z",  # `$` of Python also matches before a last line break
    "[]": r"(?!)",
    "[^]": r"[\s\S]",
    r"\k<": r"\g<",
}


def printed(value: Any) -> str:
    """Print a value as `String(value)` does; `MISSING` is undefined.

    Raises:
        RecursionError: the value is nested too deeply.
    """
    if value is MISSING:
        return "undefined"
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join("" if item is None else printed(item) for item in value)
    if isinstance(value, dict):
        return "[object Object]"
    return _number(value) if is_number(value) else json.dumps(value)


def trimmed(text: str) -> str:
    """Take off the white space that `trim()` takes off."""
    return text.strip(_WHITE_SPACE)


def as_text(value: Any) -> str:
    """Give objects, lists and null as compact JSON text and anything else printed.

    Raises:
        RecursionError: the value is nested too deeply.
    """
    return _compact(value) if isinstance(value, dict | list) else printed(value)


def _compact(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(key)}:{_compact(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_compact(item) for item in value) + "]"
    return _quoted(value) if isinstance(value, str) else printed(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    try:
        number = float(value)
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text, minus = "".join(map(str, digits)), "-" if sign else ""
    point = len(text) + int(exponent)
    if _SMALLEST_PLAIN < point <= _PLAIN_DIGITS:
        return f"{minus}{_plain(text, point)}"
    mantissa = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    return f"{minus}{mantissa}e{point - 1:+d}"


def _plain(digits: str, point: int) -> str:
    if point <= 0:
        return f"0.{'0' * -point}{digits}"
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    return f"{digits[:point]}.{digits[point:]}"


def translated(pattern: str) -> str | None:
    """Write a pattern without flags for the library `regex`; null where JavaScript does not know its groups.

    Covers what differs in meaning: `$`, `.`, `[]`, named groups and letters that need no escape. To be searched
    with ASCII classes.
    """
    written: list[str] = []
    end, in_class = 0, False
    for match in _TOKEN.finditer(pattern):
        token = match.group()
        if token.startswith("(?") and not in_class and token not in _GROUPS:
            return None
        written += [pattern[end : match.start()], _token(token, in_class=in_class)]
        end = match.end()
        in_class = token != "]" and (in_class or token in {"[", "[^"})  # noqa: S105 - a bracket, no password
    return "".join([*written, pattern[end:]])


def _token(token: str, *, in_class: bool) -> str:
    if token.startswith("\\") and len(token) == 2 and token[1].isalpha() and token[1] not in _ESCAPED_LETTERS:  # noqa: PLR2004 - a backslash and a letter
        return token[1]
    if in_class:
        return r"\[" if token == "[" else token  # noqa: S105 - a bracket, no password
    return _OUTSIDE.get(token, token)
