"""`evals`: all that a case of an instruction skill asks for, judged by the scorer that each part needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from skilleval.domain.hashes import content_hash
from skilleval.scorers.base import (
    Finding,
    Fingerprinted,
    Scorer,
    ScorerInfo,
    ScoringRecord,
    is_costly,
    ungraded,
)

_ASKS = {
    "llm_judge": ("assertions", "judgePrompt", "criteria"),
    "tool_calls": ("tool_assertions",),
    "script": ("script",),
    "files": ("file_checks",),
}
"""Kind → keys of what is expected, one of which calls for it."""


class EvalsScorer:
    """Gives the findings of every scorer that the task needs, each marked with its kind; ids of checks are distinct.

    A task that needs none of them is ungraded: nothing passes because nothing was asked.
    """

    def __init__(self, *, llm_judge: Scorer, tool_calls: Scorer, script: Scorer, files: Scorer) -> None:
        self._scorers = {"llm_judge": llm_judge, "tool_calls": tool_calls, "script": script, "files": files}
        versions = ",".join(f"{kind}:{scorer.info.version}" for kind, scorer in self._scorers.items())
        options = {kind: dict(scorer.info.options) for kind, scorer in self._scorers.items()}
        self.info = ScorerInfo(kind="evals", version=versions, options=options)

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give all findings, those of the judge first."""
        found: list[Finding] = []
        taken: set[str] = set()
        for kind, scorer in self._needed(record):
            for finding in await scorer.findings(record):
                check_id = _free(finding.check_id, kind, taken)
                taken.add(check_id)
                found.append(replace(finding, rule=kind, check_id=check_id))
        keys = ", ".join(key for keys in _ASKS.values() for key in keys)
        return tuple(found) or (ungraded(f"nothing to check: the case has none of {keys}"),)

    def fingerprint(self, record: ScoringRecord) -> str | None:
        """Give what the scorers that the task needs say of themselves; null where one cannot say it."""
        digests = [
            scorer.fingerprint(record)
            for _, scorer in self._needed(record)
            if isinstance(scorer, Fingerprinted)
        ]
        return None if None in digests else content_hash(*digests)

    def is_costly(self, record: ScoringRecord) -> bool:
        """Say whether one of the scorers that the task needs asks a model."""
        return any(is_costly(scorer, record) for _, scorer in self._needed(record))

    def _needed(self, record: ScoringRecord) -> Iterator[tuple[str, Scorer]]:
        for kind, scorer in self._scorers.items():
            if any(record.expected.get(key) for key in _ASKS[kind]):
                yield kind, scorer


def _free(check_id: str, kind: str, taken: set[str]) -> str:
    """Give an id that no other check has: as it is, else with its kind before it, else with a number behind that."""
    wished = [check_id, f"{kind}:{check_id}"]
    numbered = (f"{kind}:{check_id}:{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (*wished, *numbered) if name not in taken)
