"""The scores of Inspect as checks: a letter, a truth value, a number, or several of these with names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from skilleval.domain.scores import Verdict
from skilleval.results.importers.base import ImportedCheck, verdict_of
from skilleval.results.importers.node import Node, shown

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partially correct, incorrect, no answer: what they are worth in Inspect's own accuracy."""
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def checks_of(scores: Node) -> Iterator[ImportedCheck]:
    """Give a check for each value of each scorer."""
    for name, score in scores.members():
        value = score.value.get("value") if isinstance(score.value, dict) else None
        if isinstance(value, dict):
            for part, one in value.items():
                yield _check(name, str(part), one, score)
        else:
            yield _check(name, name, value, score)


def _check(scorer: str, part: str, value: Any, score: Node) -> ImportedCheck:
    """Judge one value. A number outside [0, 1] is no share of anything that we know: it stays ungraded."""
    share = share_of(value)
    why, answer = score.get("explanation"), score.get("answer")
    said = value if isinstance(value, str) else json.dumps(value)
    return ImportedCheck(
        scorer=scorer,
        rule=scorer,
        check_id=part,
        check=part,
        verdict=Verdict.UNGRADED if share is None else verdict_of(share >= 1),
        score=share,
        reason=f"{said}: {why.value}"
        if why.value
        else said
        if share is not None
        else f"no share: {shown(value)}",
        evidence="" if answer.value is None else str(answer.value),
    )


def share_of(value: Any) -> float | None:
    """Give what a value is worth from 0 to 1; null where it is no share."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        known = _LETTERS.get(value, _WORDS.get(value.lower()))
        return _number(value) if known is None else known
    return _in_range(float(value)) if isinstance(value, int | float) else None


def _number(text: str) -> float | None:
    try:
        return _in_range(float(text))
    except ValueError:
        return None


def _in_range(number: float) -> float | None:
    return number if math.isfinite(number) and 0 <= number <= 1 else None
