"""A token, recognised in every way that programs spell it: in JSON, in a `repr`, in an address, in HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

STARS = "***"

_NAMED = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_ESCAPED = "\"'/\\"
_LETTERED = {"\n": "n", "\r": "r", "\t": "t"}
_LONGEST_SPELLING = 12  # of one character, in what a cut may leave
_REST_OF_SPELLING = re.compile(
    r"(?:\\+(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?|%[0-9a-f]?|&#?\w{0,6})\Z", re.IGNORECASE
)
"""What a cut may leave of a character."""


@dataclass(frozen=True, slots=True)
class Token:
    """A text that must not be kept. It is in no representation."""

    value: str = field(repr=False)

    def redacted(
        self, text: str, *, is_cut_before: bool = False, is_cut: bool = False, shortest: int = 1
    ) -> str:
        """Give a text without the token; where the text was cut, also without what the cut left of it.

        Parts below `shortest` characters stay: in a text that is only perhaps cut they stand by chance.
        """
        whole, characters = _patterns(self.value)
        text = whole.sub(STARS, text)
        if is_cut:
            text = _without_beginning(text, characters, shortest)
        return _without_end(text, characters, shortest) if is_cut_before else text


@lru_cache(maxsize=256)
def _patterns(token: str) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...]]:
    spellings = [_spellings(character) for character in token]
    return re.compile("".join(spellings)), tuple(re.compile(spelling) for spelling in spellings)


def _spellings(character: str) -> str:
    """Give a pattern of all ways to write a character; each begins with one certain sign, so the search is fast."""
    number = ord(character)
    units = character.encode("utf-16-be", "surrogatepass")
    octets = [_digits(f"{octet:02x}") for octet in character.encode("utf-8", "surrogateescape")]
    forms = [
        "".join(rf"\\\\*u{_digits(units[at : at + 2].hex())}" for at in range(0, len(units), 2)),
        "".join(rf"\\\\*x{octet}" for octet in octets),
        "".join(f"%(?:25)*{octet}" for octet in octets),
        f"&#0*{number};",
        f"&#[xX]0*{_digits(f'{number:x}')};",
    ]
    if len(octets) > 1:
        forms += [rf"\\\\*x{_digits(f'{number:02x}')}", rf"\\\\*U{_digits(f'{number:08x}')}"]
    if character in _NAMED:
        forms.append(f"&{_NAMED[character]};")
    if character in _ESCAPED:
        forms.append(rf"\\\\*{re.escape(character)}")
    if character == " ":
        forms.append(r"\+")  # as forms are sent
    if character in _LETTERED:
        forms.append(rf"\\\\*{_LETTERED[character]}")
    return f"(?:{'|'.join([*forms, re.escape(character)])})"


def _digits(hexadecimal: str) -> str:
    return "".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in hexadecimal)


def _without_beginning(text: str, characters: Sequence[re.Pattern[str]], shortest: int) -> str:
    """Take off the longest end of a text that may be the beginning of the token."""
    for start in range(max(0, len(text) - _LONGEST_SPELLING * len(characters)), len(text)):
        if _is_beginning(text, start, characters, shortest):
            return text[:start] + STARS
    return text


def _is_beginning(text: str, start: int, characters: Sequence[re.Pattern[str]], shortest: int) -> bool:
    at = start
    for n, character in enumerate(characters):
        if n >= shortest and (at == len(text) or _REST_OF_SPELLING.match(text, at)):
            return True
        match = character.match(text, at)
        if match is None:
            return False
        at = match.end()
    return False


def _without_end(text: str, characters: Sequence[re.Pattern[str]], shortest: int) -> str:
    """Take off the longest beginning of a text that may be the end of the token."""
    for first in range(1, len(characters) - shortest + 1):
        at = 0
        for character in characters[first:]:
            match = character.match(text, at)
            if match is None:
                break
            at = match.end()
        else:
            return STARS + text[at:]
    return text
