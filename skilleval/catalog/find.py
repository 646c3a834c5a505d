"""Ranks skills by how well they fit a query, and picks them by tag and by how they are driven."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skilleval.domain.skills import Skill

_WORD = re.compile(r"\w+")
_WEIGHTS = {"name": 3.0, "description": 2.0, "tags": 1.5}
_ALIKE = 0.88
"""Words that are less alike are different words: `convert` finds `conversion`, `text` does not find `test`."""
_CLOSE_TO_BEST = 0.25
"""What fits less than this share of the best hit only shares a word that everybody uses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A skill and how well it fits, in [0, 1]; 1 has every word of the query in its name."""

    skill: Skill
    relevance: float


def ranked(skills: Sequence[Skill], query: str) -> tuple[Hit, ...]:
    """Rank skills by a query over name, id, description and tags, best first; what does not fit is left out.

    Each word of the query counts where it fits best: most in the name, less in the description, least in a tag.
    Rare words count more than words that many skills have. Misspelt words and other forms of a word count a little less
    than the word itself. Equal hits are ordered by name.
    """
    words = list(dict.fromkeys(_words(query)))
    fits = [{word: _fit(word, _fields(skill)) for word in words} for skill in skills]
    rarity = {word: _rarity(sum(fit[word] > 0 for fit in fits), len(skills)) for word in words}
    most = max(_WEIGHTS.values()) * sum(rarity.values())
    hits = [
        Hit(skill=skill, relevance=sum(rarity[word] * fit[word] for word in words) / most)
        for skill, fit in zip(skills, fits, strict=True)
        if any(fit.values())
    ]
    least = _CLOSE_TO_BEST * max((hit.relevance for hit in hits), default=0.0)
    fitting = (hit for hit in hits if hit.relevance >= least)
    return tuple(sorted(fitting, key=lambda hit: (-hit.relevance, by_name(hit.skill))))


def by_name(skill: Skill) -> tuple[str, str, str, str]:
    """Give what orders skills where nothing else does."""
    return (skill.name.casefold(), skill.id, skill.version, skill.digest)


def with_tags(skills: Sequence[Skill], tags: Sequence[str]) -> tuple[Skill, ...]:
    """Pick the skills that have all of these tags; case does not matter."""
    wanted = {tag.casefold() for tag in tags}
    return tuple(skill for skill in skills if wanted <= {tag.casefold() for tag in skill.tags})


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold().replace("_", " "))


def _fields(skill: Skill) -> Mapping[str, Sequence[str]]:
    return {
        "name": _words(f"{skill.name} {skill.id}"),
        "description": _words(skill.description),
        "tags": _words(" ".join(skill.tags)),
    }


def _fit(word: str, fields: Mapping[str, Sequence[str]]) -> float:
    return max(
        _WEIGHTS[name] * max((_likeness(word, other) for other in others), default=0.0)
        for name, others in fields.items()
    )


def _likeness(word: str, other: str) -> float:
    """Say how alike two words are; one inside the other counts by its share, as in languages without spaces."""
    from rapidfuzz.distance import JaroWinkler

    inside = len(word) / len(other) if word in other else 0.0
    return max(inside, float(JaroWinkler.normalized_similarity(word, other, score_cutoff=_ALIKE)))


def _rarity(n_with: int, n_all: int) -> float:
    """Give the inverse document frequency of BM25, which is never below 0."""
    return math.log1p((n_all - n_with + 0.5) / (n_with + 0.5))
