"""Reads what a file holds as far as a model can be shown it: its size and digest always, its text where it is text."""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass
from pathlib import Path

from skilleval.domain.files import FileKind

SHOWN_BYTES = 65_536
"""Of a longer file only the beginning is kept."""
_SNIFFED_BYTES = 4_096
"""A zero byte among the first of these makes a file binary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A file as it was at one moment; `text` is null for a binary one and the beginning of one that was cut."""

    n_bytes: int
    digest: str
    kind: FileKind
    text: str | None


def read_content(path: Path) -> Content:
    """Read a file in one pass: what is kept of it and its digest belong together.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        beginning = file.read(SHOWN_BYTES)
        digest, n_bytes = hashlib.sha256(beginning), len(beginning)
        while block := file.read(1 << 20):
            digest.update(block)
            n_bytes += len(block)
    text = _text(beginning, is_whole=n_bytes == len(beginning))
    kind = FileKind.BINARY if text is None else FileKind.TEXT if n_bytes == len(beginning) else FileKind.CUT
    return Content(n_bytes=n_bytes, digest=digest.hexdigest(), kind=kind, text=text)


def _text(data: bytes, *, is_whole: bool) -> str | None:
    if b"\0" in data[:_SNIFFED_BYTES]:
        return None
    try:
        # A cut may fall inside a character, whose first bytes are then dropped.
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=is_whole)
    except UnicodeDecodeError:
        return None
