"""`task`: each task is judged by the evaluator it names, or by a fallback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from skilleval.scorers.base import (
    Finding,
    Fingerprinted,
    Scorer,
    ScorerInfo,
    ScoringRecord,
    is_costly,
    ungraded,
)


class TaskScorer:
    """Hands each record to the scorer its task names; tasks that name none go to `fallback`.

    A kind that is not there leaves the task ungraded, with the reason: it is never passed and never failed.
    """

    def __init__(self, *, fallback: str, scorers: Mapping[str, Scorer]) -> None:
        self._fallback = fallback
        self._scorers = scorers
        versions = ",".join(f"{kind}:{scorer.info.version}" for kind, scorer in sorted(scorers.items()))
        options = {kind: dict(scorer.info.options) for kind, scorer in scorers.items()}
        self.info = ScorerInfo(kind="task", version=versions, options={"fallback": fallback, **options})

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give the findings of the task's own scorer, marked with its kind where they are not marked already."""
        kind = self._kind(record)
        scorer = self._scorers.get(kind)
        if scorer is None:
            known = ", ".join(sorted(self._scorers))
            return (ungraded(f"no scorer of kind {kind!r} here; known: {known}", rule=kind),)
        findings = await scorer.findings(record)
        return tuple(replace(finding, rule=finding.rule or kind) for finding in findings)

    def fingerprint(self, record: ScoringRecord) -> str | None:
        """Give what the task's own scorer says of itself."""
        scorer = self._scorers.get(self._kind(record))
        return scorer.fingerprint(record) if isinstance(scorer, Fingerprinted) else ""

    def is_costly(self, record: ScoringRecord) -> bool:
        """Say whether the task's own scorer asks a model."""
        scorer = self._scorers.get(self._kind(record))
        return scorer is not None and is_costly(scorer, record)

    def _kind(self, record: ScoringRecord) -> str:
        return record.evaluator.kind if record.evaluator else self._fallback
