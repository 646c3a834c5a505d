"""A text of which only the beginning is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The beginning of a text, with the number of characters the whole text has."""

    text: str
    length: int
