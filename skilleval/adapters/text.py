"""Turns what a skill wrote into text that can always be stored: valid UTF-8, capped, its damage counted."""

from __future__ import annotations

import codecs
import json
import re

EXCERPT_BYTES = 65_536
"""Kept of what a skill printed; less is stored, once nothing in it is secret any more."""
MESSAGE_CHARACTERS = 16_384
"""Kept of what was said of a failure, for the same reason more than is stored."""

_SURROGATES = re.compile("[\ud800-\udfff]+")


def decoded(data: bytes, *, is_cut: bool = False) -> tuple[str, int]:
    """Give bytes as text, with replacement characters, and the number of places that were not UTF-8.

    Where `is_cut`, a last character that is incomplete was cut by us and is no damage.
    """
    try:
        return codecs.utf_8_decode(data, "strict", not is_cut)[0], 0
    except UnicodeDecodeError:
        # `surrogateescape` marks exactly the wrong bytes; neighbours among them are one place.
        marked = codecs.utf_8_decode(data, "surrogateescape", not is_cut)[0]
        return codecs.utf_8_decode(data, "replace", not is_cut)[0], len(_SURROGATES.findall(marked))


def excerpt(data: bytes) -> str:
    """Give the end of what was written, where tracebacks and replies stand."""
    if len(data) <= EXCERPT_BYTES:
        return decoded(data)[0]
    tail = data[-EXCERPT_BYTES:].lstrip(bytes(range(0x80, 0xC0)))  # what is left of a character cut in two
    return f"…{decoded(tail)[0]}"


def storable(text: str) -> tuple[str, int]:
    """Give text without lone surrogates, which JSON can escape but UTF-8 cannot hold, and how many places had them."""
    return (text, 0) if text.isascii() else _SURROGATES.subn("\ufffd", text)


def compact_json(value: object) -> tuple[str, int]:
    """Give a value as storable JSON text with its key order kept, and the places that had to be replaced.

    Raises:
        ValueError: a number is not finite.
        RecursionError: it is nested too deeply.
    """
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def parsed_json(text: str) -> object:
    """Give the value of a JSON text.

    Raises:
        ValueError: it is not JSON; NaN and Infinity are not.
        RecursionError: it is nested too deeply.
    """
    value: object = json.loads(text, parse_constant=_refuse)
    return value


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
