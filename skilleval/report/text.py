"""Foreign text made safe to look at: whatever a skill or a model wrote is shown, never interpreted."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache

LAYOUT = "\n\t"

# Letters and marks that draw nothing although Unicode does not class them as control or format characters.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_PLAIN_SPACES = frozenset(
    " \u2009\u202f\u3000"
)  # a thin space stands in our own numbers, the wide one is seen
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# JSON allows these inside texts; a script element, or a file in UTF-8 (surrogates), does not survive them.
_UNSAFE_IN_JSON = re.compile("[\u007f-\u009f\u2028\u2029\ud800-\udfff]")
_UNSAFE_IN_HTML = re.compile("[<>&]")


@cache
def is_hidden(character: str) -> bool:
    """Say whether a character would draw nothing, or would reorder its neighbours."""
    category = unicodedata.category(character)
    if category in _HIDDEN_CATEGORIES or character in _BLANK or _is_variation_selector(character):
        return True
    return category == "Zs" and character not in _PLAIN_SPACES


def _is_variation_selector(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


@cache
def escaped(character: str) -> str:
    r"""Spell a character in ASCII: `\n`, `\x1b`, `\u202e`, `\U000e0041`."""
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    point = ord(character)
    if point <= 0xFF:  # noqa: PLR2004 - the range of \xNN
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"  # noqa: PLR2004 - the range of \uNNNN


def one_line(text: str, *, limit: int | None = None) -> str:
    """Give a text as one line in which every hidden character is spelled out, cut to a length if asked."""
    line = _spelled(pieces(text))
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"


def joined_lines(text: str) -> str:
    """Put a message and the problems below it into one line, e.g. `1 setting cannot be used: runner.seed: …`."""
    message, *problems = [line.strip() for line in text.split("\n") if line.strip()] or [text]
    return ": ".join(part for part in (message, "; ".join(problems)) if part)


def block(text: str) -> str:
    """Give a text of several lines in which every hidden character but tab and line feed is spelled out."""
    return _spelled(pieces(text, keep=LAYOUT))


def _spelled(parts: list[tuple[str, bool]]) -> str:
    return "".join(escaped(part) if hidden else part for part, hidden in parts)


def pieces(text: str, *, keep: str = "") -> list[tuple[str, bool]]:
    """Split a text into runs of plain characters and single hidden ones; those to `keep` count as plain."""
    found: list[tuple[str, bool]] = []
    start = 0
    for index, char in enumerate(text):
        if char not in keep and is_hidden(char):
            if start < index:
                found.append((text[start:index], False))
            found.append((char, True))
            start = index + 1
    if start < len(text):
        found.append((text[start:], False))
    return found


def json_text(value: object, *, indent: int | None = None) -> str:
    """Give the JSON text of a value; characters that break files or scripts are escaped, NaN is refused."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return _UNSAFE_IN_JSON.sub(_json_escape, text)


def script_json(value: object) -> str:
    """Give JSON that may stand inside a script element: no text in it can end or change the element."""
    return _UNSAFE_IN_HTML.sub(_json_escape, json_text(value))


def _json_escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"
