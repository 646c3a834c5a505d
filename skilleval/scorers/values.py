"""Comparing JSON values the way a person means it: by type and by value, never by their printed text."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

RESULT_KEYS = ("result", "output", "answer")
"""An object that wraps the answer is opened at the first of these keys it has."""

Normalise = Callable[[str], str]


def unwrapped(output: Any) -> Any:
    """Give the answer inside an output: the first present key of `RESULT_KEYS`, else the output itself."""
    if isinstance(output, dict):
        for key in RESULT_KEYS:
            if key in output:
                return output[key]
    return output


def normaliser(*, case_sensitive: bool, strip: bool) -> Normalise:
    """Build the function that brings text into the form in which it is compared.

    Canonically equal Unicode text compares equal (NFC); without case, by full case folding.
    """

    def normalise(text: str) -> str:
        text = text.strip() if strip else text
        folded = text if case_sensitive else unicodedata.normalize("NFC", text).casefold()
        return unicodedata.normalize("NFC", folded)

    return normalise


def is_number(value: object) -> bool:
    """Say whether a JSON value is a number; `true` is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same_number(left: float, right: float, tolerance: float = 0.0) -> bool:
    """Compare two numbers by value: 1 equals 1.0; integers of any size compare exactly."""
    if left == right:
        return True
    if tolerance == 0:
        return False
    try:
        return math.isfinite(left) and math.isfinite(right) and abs(left - right) <= tolerance
    except OverflowError:  # an integer beyond the floats is near no float
        return False


def same_value(left: Any, right: Any, normalise: Normalise, tolerance: float = 0.0) -> bool:
    """Compare two JSON values deeply: numbers by value, booleans only with booleans, text normalised.

    Works without recursion, so the depth of an output cannot break it.
    """
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            pending.extend((one[key], other[key]) for key in one)
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pending.extend(zip(one, other, strict=True))
        elif not _same_leaf(one, other, normalise, tolerance):
            return False
    return True


def _same_leaf(one: object, other: object, normalise: Normalise, tolerance: float) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return normalise(one) == normalise(other)
    if is_number(one) and is_number(other):
        return same_number(one, other, tolerance)  # type: ignore[arg-type]
    return type(one) is type(other) and one == other


def parts(value: Any) -> Iterator[Any]:
    """Walk a JSON value: itself, then every value inside it (keys of objects are not values)."""
    pending = [value]
    while pending:
        current = pending.pop()
        yield current
        if isinstance(current, dict):
            pending.extend(reversed(current.values()))
        elif isinstance(current, list):
            pending.extend(reversed(current))


def shown(value: object, limit: int = 200) -> str:
    """Give a value as short JSON text for a reason or as evidence."""
    import json

    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except RecursionError:
        return f"a {type(value).__name__} nested too deeply to be shown"
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
