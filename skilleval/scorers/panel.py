"""The panel: all scorers of a run look at one attempt, and every one of them leaves at least one row."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from skilleval.domain import Reply, Score, Status, Trial, Verdict
from skilleval.scorers.base import MISSING, Finding, Scorer, ScoringRecord, ungraded

_BLAMED = frozenset({Status.TIMEOUT, Status.SKILL_ERROR})


class Panel:
    """Scores attempts by several named scorers.

    A completed attempt is shown to the scorers. A time-out or skill error fails with score 0. Where the
    infrastructure failed, the attempt is ungraded: the skill is not to blame.
    """

    def __init__(self, scorers: Mapping[str, Scorer]) -> None:
        self._scorers = scorers

    async def scores(self, trial: Trial, reply: Reply) -> tuple[Score, ...]:
        """Give one score a scorer and check."""
        if reply.status is Status.COMPLETED:
            record = _record(trial, reply)
            return tuple(
                [
                    _score(name, scorer, _sound(finding))
                    for name, scorer in self._scorers.items()
                    for finding in await scorer.findings(record)
                ]
            )
        finding = _unscored(reply)
        return tuple(_score(name, scorer, finding) for name, scorer in self._scorers.items())

    def ungraded(self, reason: str) -> tuple[Score, ...]:
        """Give one ungraded score a scorer: judging itself broke."""
        return tuple(_score(name, scorer, ungraded(reason)) for name, scorer in self._scorers.items())


def _record(trial: Trial, reply: Reply) -> ScoringRecord:
    task = trial.task
    output = MISSING if reply.output is None else json.loads(reply.output)
    return ScoringRecord(
        task_id=task.id,
        input=task.input,
        expected=task.expected,
        evaluator=task.evaluator,
        output=output,
        folder=trial.benchmark.source.parent,
    )


def _unscored(reply: Reply) -> Finding:
    reason = f"{reply.status.value}: {reply.message or reply.failure_kind or 'no cause given'}"
    if reply.status in _BLAMED:
        return Finding(verdict=Verdict.FAILED, score=0.0, reason=reason)
    return ungraded(reason)


def _sound(finding: Finding) -> Finding:
    """Refuse a number that is no score, instead of bending it into one."""
    score = finding.score
    if score is None or (math.isfinite(score) and 0 <= score <= 1):
        return finding
    return ungraded(
        f"the scorer gave {score}, which is not in [0, 1]",
        check_id=finding.check_id,
        check=finding.check,
        rule=finding.rule,
    )


def _score(name: str, scorer: Scorer, finding: Finding) -> Score:
    info = scorer.info
    return Score(
        scorer=name,
        rule=finding.rule or info.kind,
        scorer_version=info.version,
        check_id=finding.check_id,
        check=finding.check,
        verdict=finding.verdict,
        score=finding.score,
        weight=finding.weight,
        required=finding.required,
        reason=finding.reason,
        evidence=finding.evidence,
    )
