"""A text as it stands, and as it reads once its escapes are undone: JSON in a message, a `repr` in a traceback."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_DEPTH = 3  # JSON within JSON within a message
_ESCAPE = re.compile(
    r"\\(?:u([Dd][89ABab]{hex}{2})\\u([Dd][C-Fc-f]{hex}{2})|u({hex}{4})|U({hex}{8})|x({hex}{2})"
    r"|(?:u{hex}{0,3}|U{hex}{0,7}|x{hex}?)?(?=…|\Z)|(.))".replace("{hex}", "[0-9A-Fa-f]"),
    re.DOTALL,
)
"""One escape of JSON or Python; what is left of one before a cut stands for nothing."""
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a text. Piece by piece, `starts` are places here and `origins` those in the reading `before`."""

    text: str
    before: Reading | None = None
    starts: tuple[int, ...] = ()
    origins: tuple[int, ...] = ()

    def origin(self, place: int) -> int:
        """Say where a place of this reading lies in the text itself."""
        if self.before is None:
            return place
        piece = bisect_right(self.starts, place) - 1
        return self.before.origin(self.origins[piece] + place - self.starts[piece])


def readings(text: str) -> Iterator[Reading]:
    """Give the text as it stands, then with its escapes undone, as long as there are any (at most three times)."""
    reading = Reading(text)
    yield reading
    for _ in range(_DEPTH):
        if "\\" not in reading.text:
            return
        reading = _unescaped(reading)
        yield reading


def _unescaped(reading: Reading) -> Reading:
    pieces: list[str] = []
    starts, origins = [0], [0]
    length = last = 0
    for match in _ESCAPE.finditer(reading.text):
        plain, meant = reading.text[last : match.start()], _meant(match)
        pieces += (plain, meant)
        length += len(plain)
        # Two borders an escape: before it and behind it, so that a match takes it whole or not at all.
        starts += (length, length + len(meant))
        origins += (match.start(), match.end())
        length, last = length + len(meant), match.end()
    pieces.append(reading.text[last:])
    return Reading("".join(pieces), reading, tuple(starts), tuple(origins))


def _meant(match: re.Match[str]) -> str:
    high, low, short, long, byte, simple = match.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
    if code := short or long or byte:
        number = int(code, 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"  # noqa: PLR2004 - the last character of Unicode
    return _SIMPLE.get(simple, simple) if simple else ""
