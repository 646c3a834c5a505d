"""Fences around text that nobody vouches for, so that a judge can tell it from what it is told to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from skilleval.domain.hashes import content_hash

_DIGITS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of what a judge is shown: a name of ours, and text of somebody else's."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """Puts text between two lines with a mark that no text inside can hold.

    The mark is a hash of the trial and of all that is shown: nobody who writes one of the texts can know it before
    all of them are written, and the same attempt is shown in the same words each time.
    """

    mark: str

    @classmethod
    def around_all(cls, trial_id: str, texts: Sequence[str]) -> Fence:
        """Give the fence for some texts of a trial."""
        marks = (content_hash(trial_id, salt, list(texts))[:_DIGITS] for salt in count())
        return cls(mark=next(mark for mark in marks if not any(mark in text for text in texts)))

    def block(self, part: Part) -> str:
        """Give a part between its two lines."""
        return f"[BEGIN {part.name} {self.mark}]\n{part.text}\n[END {part.name} {self.mark}]"
