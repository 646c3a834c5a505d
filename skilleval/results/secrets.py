"""What patterns match in the texts of one trial, and where it stands in each of them: whole, escaped or cut."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from skilleval.results.readings import readings

SHORTEST = 4
"""Characters: shorter parts of a secret tell nothing, and stand in texts by chance."""
CUT = "…"
MAX_CUTS = 64  # our own texts have a few; a skill that prints nothing else must not hold up the run

Span = tuple[int, int]


class Secrets:
    """The patterns, and the words that they match somewhere in the trial.

    The words are looked for too, because a text may hold one without the surroundings by which its pattern knows it,
    or only a part of it. The effort does not grow with their number.
    """

    def __init__(self, patterns: Sequence[re.Pattern[str]], texts: Iterable[str]) -> None:
        self._patterns = patterns
        found: set[str] = set()
        for text in texts:
            for reading in readings(text):
                for pattern in patterns:
                    found.update(match.group() for match in pattern.finditer(reading.text))
        # A message may hold only one line of what stands on several.
        lines = {line.strip() for word in found for line in word.splitlines()}
        self._words = frozenset(word for word in found | lines if len(word) >= SHORTEST)
        self._lengths = sorted({len(word) for word in self._words}, reverse=True)
        self._heads = frozenset(word[:SHORTEST] for word in self._words)
        self._sorted = sorted(self._words)
        self._backwards = sorted(word[::-1] for word in self._words)

    def spans(self, text: str, *, may_be_cut: bool) -> Iterator[Span]:
        """Give the places of all secrets, and of what a cut may have left of one, in order and apart."""
        places: set[Span] = set()
        for reading in readings(text):
            found = {match.span() for pattern in self._patterns for match in pattern.finditer(reading.text)}
            if self._words:
                found.update(self._whole(reading.text))
                found.update(self._cut(reading.text) if may_be_cut else ())
            places |= {(reading.origin(start), reading.origin(end)) for start, end in found if start < end}
        return _merged(sorted(places))

    def _whole(self, text: str) -> Iterator[Span]:
        for start in range(len(text) - SHORTEST + 1):
            if text[start : start + SHORTEST] in self._heads:
                # At the end of the text the longer ones are shorter, so the end is that of what was found.
                for length in self._lengths:
                    word = text[start : start + length]
                    if word in self._words:
                        yield start, start + len(word)
                        break

    def _cut(self, text: str) -> Iterator[Span]:
        """Find where a text that was cut keeps only the beginning of a word, or only its end."""
        longest = self._lengths[0]
        cuts = [match.start() for match in islice(re.finditer(CUT, text), MAX_CUTS)]
        for cut in (*cuts, len(text)):
            for start in range(max(0, cut - longest), cut - SHORTEST + 1):
                if _begins(self._sorted, text[start:cut]):
                    yield start, cut
                    break
        for cut in (0, *(place + 1 for place in cuts)):
            for end in range(min(len(text), cut + longest), cut + SHORTEST - 1, -1):
                if _begins(self._backwards, text[cut:end][::-1]):
                    yield cut, end
                    break


def _begins(words: Sequence[str], part: str) -> bool:
    """Say whether one of the sorted words begins like this."""
    place = bisect_left(words, part)
    return place < len(words) and words[place].startswith(part)


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Join what overlaps."""
    current: Span | None = None
    for start, end in spans:
        if current is None:
            current = (start, end)
        elif start < current[1]:
            current = (current[0], max(current[1], end))
        else:
            yield current
            current = (start, end)
    if current is not None:
        yield current
