"""`contains`: every expected keyword is found among the values of the output."""

from __future__ import annotations

import re
from typing import Any

from skilleval.domain.scores import Verdict
from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.options import with_task_options
from skilleval.scorers.values import Normalise, is_number, normaliser, parts, same_number, same_value, shown
from skilleval.strict import StrictModel

_NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+(?!,?\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w|\.\d)")
"""A number inside text; 1,234 is one number, 1,2 are two."""

_MAX_DIGITS = 4000
"""Python refuses to read longer integers; as a float such a one is infinite and equals nothing."""


class ContainsOptions(StrictModel):
    """`conf/scorer/contains.yaml`."""

    case_sensitive: bool
    whole_words: bool


class ContainsScorer:
    """Scores the share of keywords found; passes when all are.

    Only values are searched, never the keys of an object. A text keyword is looked for inside each text value
    (and in the printed form of other values); a number by its value; any other keyword as an equal part.
    """

    Options = ContainsOptions

    def __init__(self, options: ContainsOptions) -> None:
        self._options = options
        self.info = ScorerInfo(kind="contains", version="1", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give one finding; ungraded where the task names no keyword or an empty one."""
        keywords = _keywords(record)
        if not keywords:
            return (ungraded("nothing to check: the task expects no `keywords` and no `value`"),)
        if any(isinstance(keyword, str) and not keyword.strip() for keyword in keywords):
            return (ungraded("an empty keyword is in every text: nothing to check"),)
        return (self._finding(record, keywords),)

    def _finding(self, record: ScoringRecord, keywords: list[Any]) -> Finding:
        if record.output is MISSING:
            return Finding(verdict=Verdict.FAILED, score=0.0, reason="the skill gave no output")
        options = with_task_options(record, self.info.kind, self._options)
        normalise = normaliser(case_sensitive=options.case_sensitive, strip=False)
        haystack = _Haystack(record.output, normalise, whole_words=options.whole_words)
        absent = [keyword for keyword in keywords if keyword not in haystack]
        found = len(keywords) - len(absent)
        if not absent:
            return Finding(verdict=Verdict.PASSED, score=1.0)
        listed = ", ".join(shown(keyword, 60) for keyword in absent[:5])
        reason = f"{found} of {len(keywords)} keywords found, missing {listed}"
        return Finding(
            verdict=Verdict.FAILED, score=found / len(keywords), reason=reason, evidence=shown(record.output)
        )


def _keywords(record: ScoringRecord) -> list[Any]:
    if "keywords" in record.expected:
        return list(record.expected["keywords"])
    return [record.expected["value"]] if "value" in record.expected else []


class _Haystack:
    """The values of one output, ready to be searched."""

    def __init__(self, output: Any, normalise: Normalise, *, whole_words: bool) -> None:
        self._parts = list(parts(output))
        self._normalise = normalise
        self._whole_words = whole_words
        self._texts = [normalise(_text(part)) for part in self._parts if not isinstance(part, dict | list)]

    def __contains__(self, keyword: object) -> bool:
        if isinstance(keyword, str):
            return self._has_text(self._normalise(keyword))
        if is_number(keyword):
            return self._has_number(keyword)  # type: ignore[arg-type]
        return any(same_value(part, keyword, self._normalise) for part in self._parts)

    def _has_text(self, word: str) -> bool:
        if not self._whole_words:
            return any(word in text for text in self._texts)
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        return any(pattern.search(text) for text in self._texts)

    def _has_number(self, number: float) -> bool:
        if any(is_number(part) and same_number(part, number) for part in self._parts):
            return True
        texts = (part for part in self._parts if isinstance(part, str))
        return any(same_number(_parsed(token), number) for text in texts for token in _NUMBER.findall(text))


def _text(part: object) -> str:
    return part if isinstance(part, str) else shown(part)


def _parsed(token: str) -> float:
    token = token.replace(",", "")
    is_whole = token.lstrip("-").isdecimal() and len(token) < _MAX_DIGITS
    return int(token) if is_whole else float(token)
