"""What is said of an attempt, and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from skilleval.domain.attempts import NO_USAGE, Usage


class Verdict(StrEnum):
    """What a check says of an attempt; `ungraded` is neither passed nor failed."""

    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"


NOT_JUDGED = "not_judged"  # the `failure_kind` of what awaits its judge; the run may end before that
RATER_CHECK = "rater:"  # how the id of a check begins that holds what one person of several said
EVIDENCE_NOT_FOUND = "evidence not found in the output"  # of a judge's quote; remarks are counted by it


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One call of a judge model: what it was asked, what it said, and what that took. None of it is the subject's.

    `purpose` says which call it was, e.g. `assertions`, `assertions:again`, `rubric:swapped`. `failure_kind` is null
    where the reply could be used.
    """

    purpose: str
    model: str
    started_at: datetime
    request: str
    reply: str | None = None
    failure_kind: str | None = None
    message: str | None = None
    latency_ms: float | None = None
    usage: Usage = NO_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One check of one scorer on one attempt: a value in [0, 1], or null with the verdict `ungraded`.

    `scorer` is the name in the config (`scorers.<name>`), `rule` the kind that judged (`exact`, `contains`, …).
    `score_key` is a content hash of the call and of all that judged it; empty where not all of that is known, and then
    the score is never reused. `reused_from` is the run that judged, where it is an earlier one. `failure_kind` says in
    one word why nothing could be said, where that is nobody's fault but the judge's (`judge_error`). `judgements` are
    the calls of a model that led to it; a call that decided about several checks stands with the first of them.
    """

    scorer: str
    rule: str
    scorer_version: str
    check_id: str
    check: str
    verdict: Verdict
    score: float | None
    weight: float = 1.0
    required: bool = True
    reason: str = ""
    evidence: str = ""
    score_key: str = ""
    reused_from: str | None = None
    failure_kind: str | None = None
    judgements: tuple[Judgement, ...] = ()

    @property
    def passed(self) -> bool | None:
        """The verdict as a boolean; null when ungraded."""
        return None if self.verdict is Verdict.UNGRADED else self.verdict is Verdict.PASSED
