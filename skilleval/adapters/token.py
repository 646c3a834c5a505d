"""A token, recognised in every way that programs spell it: in JSON, in a `repr`, in an address, in HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

STARS = "***"

_NAMED = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_ESCAPED = "\"'/\\"
_LONGEST_SPELLING = 12  # of one character, in what a cut may leave
_REST_OF_SPELLING = re.compile(
    r"(?:\\+(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?|%[0-9a-f]?|&#?\w{0,6})\Z", re.IGNORECASE
)
"""What a cut may leave of a character."""


@dataclass(frozen=True, slots=True)
class Token:
    """A text of printable ASCII characters that must not be kept. It is in no representation."""

    value: str = field(repr=False)

    def redacted(self, text: str, *, is_cut_before: bool = False, is_cut: bool = False) -> str:
        """Give a text without the token; where the text was cut, also without what the cut left of it."""
        whole, characters = _patterns(self.value)
        text = whole.sub(STARS, text)
        if is_cut:
            text = _without_beginning(text, characters)
        return _without_end(text, characters) if is_cut_before else text


@lru_cache(maxsize=64)
def _patterns(token: str) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...]]:
    spellings = [_spellings(character) for character in token]
    return re.compile("".join(spellings)), tuple(re.compile(spelling) for spelling in spellings)


def _spellings(character: str) -> str:
    """Give a pattern of all ways to write a character; each begins with one certain sign, so the search is fast."""
    digits = [f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{ord(character):02x}"]
    code = "".join(digits)
    forms = [
        rf"\\\\*u00{code}",
        rf"\\\\*x{code}",
        f"%(?:25)*{code}",
        f"&#0*{ord(character)};",
        f"&#[xX]0*{code};",
    ]
    if character in _NAMED:
        forms.append(f"&{_NAMED[character]};")
    if character in _ESCAPED:
        forms.append(rf"\\\\*{re.escape(character)}")
    return f"(?:{'|'.join([*forms, re.escape(character)])})"


def _without_beginning(text: str, characters: Sequence[re.Pattern[str]]) -> str:
    """Take off the longest end of a text that may be the beginning of the token."""
    for start in range(max(0, len(text) - _LONGEST_SPELLING * len(characters)), len(text)):
        if _is_beginning(text, start, characters):
            return text[:start] + STARS
    return text


def _is_beginning(text: str, start: int, characters: Sequence[re.Pattern[str]]) -> bool:
    at = start
    for character in characters:
        if at > start and (at == len(text) or _REST_OF_SPELLING.match(text, at)):
            return True
        match = character.match(text, at)
        if match is None:
            return False
        at = match.end()
    return False


def _without_end(text: str, characters: Sequence[re.Pattern[str]]) -> str:
    """Take off the longest beginning of a text that may be the end of the token."""
    for first in range(1, len(characters)):
        at = 0
        for character in characters[first:]:
            match = character.match(text, at)
            if match is None:
                break
            at = match.end()
        else:
            return STARS + text[at:]
    return text
