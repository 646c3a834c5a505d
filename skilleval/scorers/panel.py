"""The panel: all scorers of a run look at one attempt, and every one of them leaves at least one row."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import attrgetter

from skilleval.domain.attempts import Reply, Status
from skilleval.domain.hashes import content_hash, short_hash
from skilleval.domain.scores import NOT_JUDGED, Score, Verdict
from skilleval.domain.tasks import Task
from skilleval.domain.trials import Trial
from skilleval.scorers.base import (
    MISSING,
    Finding,
    Fingerprinted,
    Scorer,
    ScoringRecord,
    is_costly,
    ungraded,
)

_BLAMED = frozenset({Status.TIMEOUT, Status.SKILL_ERROR})
_Key = Callable[[str, Trial, ScoringRecord], str]


class Panel:
    """Scores attempts by several named scorers.

    A completed attempt is shown to the scorers. A time-out or skill error fails with score 0. Where the
    infrastructure failed, the attempt is ungraded: the skill is not to blame.
    """

    def __init__(self, scorers: Mapping[str, Scorer]) -> None:
        self._scorers = scorers
        self._judging: dict[tuple[str, str], tuple[Task, str]] = {}

    def hearing(self, trial: Trial, reply: Reply) -> Hearing:
        """Take up an attempt; nothing is looked at yet."""
        return Hearing(self._scorers, self._key, trial, reply)

    def ungraded(self, reason: str) -> tuple[Score, ...]:
        """Give one ungraded score a scorer: judging itself broke."""
        return tuple(_score(name, scorer, ungraded(reason), "") for name, scorer in self._scorers.items())

    def _key(self, name: str, trial: Trial, record: ScoringRecord) -> str:
        """Give the score key; what judges a task is hashed once, for all its repeats."""
        task, judging = self._judging.get((name, trial.task.id), (None, ""))
        if task is not trial.task:
            judging = _judging(self._scorers[name], record)
            self._judging[name, trial.task.id] = (trial.task, judging)
        return short_hash(f"{trial.call_key}:{judging}") if judging and trial.call_key else ""


class Hearing:
    """One attempt before the panel. What scorers may see of it is gathered once, by whoever needs it first."""

    __slots__ = ("_key", "_record", "_reply", "_scorers", "_trial")

    def __init__(self, scorers: Mapping[str, Scorer], key: _Key, trial: Trial, reply: Reply) -> None:
        self._scorers = scorers
        self._key = key
        self._trial = trial
        self._reply = reply
        self._record: ScoringRecord | None = None

    async def scores(self, known: Sequence[Score] = ()) -> tuple[Score, ...]:
        """Give one score a scorer and check; `known` scores of this attempt with the same key are taken over."""
        record = self._seen()
        scores: list[Score] = []
        for name, scorer in self._scorers.items():
            key = self._key(name, self._trial, record)
            again = _taken_over(known, name, key)
            findings = () if again else await _findings(scorer, record, self._reply)
            made = [_score(name, scorer, finding, key) for finding in findings]
            scores += again or _with_earlier_calls(made, name, known)
        return tuple(scores)

    async def waiting(self) -> tuple[Score, ...]:
        """Give what stands in the rows while a model is asked: that nothing is judged yet; empty where none is asked.

        Should the run be killed in between, the attempt is there and only its judges are missing.
        """
        if self._reply.status is not Status.COMPLETED:
            return ()
        record = self._seen()
        if not any(is_costly(scorer, record) for scorer in self._scorers.values()):
            return ()
        finding = ungraded("the run ended before it was judged", failure_kind=NOT_JUDGED)
        return tuple(_score(name, scorer, finding, "") for name, scorer in self._scorers.items())

    def _seen(self) -> ScoringRecord:
        if self._record is None:
            self._record = _record(self._trial, self._reply)
        return self._record


def _judging(scorer: Scorer, record: ScoringRecord) -> str:
    """Hash all that judges a task; empty where not all of it can be known."""
    files = scorer.fingerprint(record) if isinstance(scorer, Fingerprinted) else ""
    if files is None:
        return ""
    info, evaluator = scorer.info, record.evaluator
    own = None if evaluator is None else (evaluator.kind, dict(evaluator.options))
    return content_hash(info.kind, info.version, dict(info.options), dict(record.expected), own, files)


def _taken_over(known: Sequence[Score], name: str, key: str) -> list[Score]:
    """Give the known scores of this key under the name in this config; what could not be graded is tried again."""
    same = [replace(score, scorer=name) for score in known if key and score.score_key == key]
    return [] if any(score.verdict is Verdict.UNGRADED for score in same) else same


def _with_earlier_calls(made: list[Score], name: str, known: Sequence[Score]) -> list[Score]:
    """Keep what judges of this run were asked before, with the check it was about: it was paid for, come what may."""
    if not known:
        return made
    before = {
        score.check_id: score.judgements
        for score in known
        if score.scorer == name and score.reused_from is None and score.judgements
    }
    if not before or not made:
        return made
    kept = [replace(score, judgements=(*before.pop(score.check_id, ()), *score.judgements)) for score in made]
    homeless = tuple(call for calls in before.values() for call in calls)
    return [replace(kept[0], judgements=(*homeless, *kept[0].judgements)), *kept[1:]]


async def _findings(scorer: Scorer, record: ScoringRecord, reply: Reply) -> tuple[Finding, ...]:
    if reply.status is not Status.COMPLETED:
        return (_unscored(reply),)
    return tuple(_sound(finding) for finding in await scorer.findings(record))


_parent = lru_cache(maxsize=64)(attrgetter("parent"))
"""The folder of a path: taking one apart costs more than the rest of a record."""


def _record(trial: Trial, reply: Reply) -> ScoringRecord:
    task = trial.task
    is_shown = reply.status is Status.COMPLETED and reply.output is not None
    return ScoringRecord(
        task_id=task.id,
        input=task.input,
        expected=task.expected,
        evaluator=task.evaluator,
        output=json.loads(reply.output or "") if is_shown else MISSING,
        folder=task.folder or _parent(trial.benchmark.source),
        files=task.files,
        tool_calls=None if reply.tool_calls is None else tuple(json.loads(reply.tool_calls)),
        seed=trial.seed,
        trial_id=trial.trial_id,
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
        judgements=finding.judgements,
    )


def _score(name: str, scorer: Scorer, finding: Finding, key: str) -> Score:
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
        score_key=key,
        failure_kind=finding.failure_kind,
        judgements=finding.judgements,
    )
