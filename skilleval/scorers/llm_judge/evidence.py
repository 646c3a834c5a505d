"""Does what a judge quotes as evidence really occur in what it was shown?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_ELLIPSIS = re.compile(r"\[?(?:\.{3,}|…)\]?")
_QUOTED = re.compile(r'"([^"]+)"|`([^`]+)`')
_QUOTES = str.maketrans(
    {
        **dict.fromkeys("“”„«»", '"'),
        **dict.fromkeys(("\N{LEFT SINGLE QUOTATION MARK}", "\N{RIGHT SINGLE QUOTATION MARK}"), "'"),
    }
)
_AROUND = " \"'`.,;:[]()"


class Quotable:
    """All that a judge may quote: output, calls of tools, files. White space, case and kind of quotes do not count."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(_normalised(text) for text in texts)

    def holds(self, evidence: str) -> bool:
        """Say whether each piece of the evidence occurs, or else each piece that it puts in quotation marks."""
        said = _normalised(evidence)
        if self._holds_pieces(said):
            return True
        quoted = [one or other for one, other in _QUOTED.findall(said)]
        return bool(quoted) and all(self._holds_pieces(piece) for piece in quoted)

    def _holds_pieces(self, said: str) -> bool:
        pieces = [piece.strip(_AROUND) for piece in _ELLIPSIS.split(said)]
        pieces = [piece for piece in pieces if piece]
        return bool(pieces) and all(piece in self._text for piece in pieces)


def _normalised(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text.translate(_QUOTES)).casefold()
    return " ".join(plain.split())
