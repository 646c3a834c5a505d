"""What every scorer offers: it looks at one frozen record and says what it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol, cast, runtime_checkable

from skilleval.domain.files import TaskFile
from skilleval.domain.scores import Judgement, Verdict
from skilleval.domain.tasks import Evaluator


class Missing(Enum):
    """A value that is not there, which is not the same as null."""

    MISSING = "missing"

    def __repr__(self) -> str:
        """Read well in messages."""
        return "no value"


MISSING: Final = Missing.MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringRecord:
    """All that a scorer may see of a completed trial.

    `output` is the decoded JSON output, `MISSING` where the skill gave none. `folder` is where the benchmark stands:
    relative paths in a task start there. `tool_calls` are the calls a model made, each `{id, name, arguments}` with
    `arguments` as it wrote them; null where no model was asked. `trial_id` fences what is shown to a judge; which arm
    of a comparison a record belongs to is nothing a scorer may know.
    """

    task_id: str
    input: Mapping[str, Any]
    expected: Mapping[str, Any]
    evaluator: Evaluator | None
    output: Any
    folder: Path = Path()
    files: tuple[TaskFile, ...] = ()
    tool_calls: tuple[Mapping[str, Any], ...] | None = None
    seed: int = 0
    trial_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a scorer says about one thing it looked at: a score in [0, 1] and a verdict, or ungraded with null.

    `failure_kind` and `judgements` are those of `Score`.
    """

    verdict: Verdict
    score: float | None
    reason: str = ""
    evidence: str = ""
    check_id: str = "0"
    check: str = ""
    weight: float = 1.0
    required: bool = True
    rule: str = ""
    failure_kind: str | None = None
    judgements: tuple[Judgement, ...] = ()


def ungraded(  # noqa: PLR0913 - keywords: what a finding has
    reason: str,
    *,
    check_id: str = "0",
    check: str = "",
    rule: str = "",
    failure_kind: str | None = None,
    judgements: tuple[Judgement, ...] = (),
) -> Finding:
    """Say that no score can be given, and why."""
    return Finding(
        verdict=Verdict.UNGRADED,
        score=None,
        reason=reason,
        check_id=check_id,
        check=check,
        rule=rule,
        failure_kind=failure_kind,
        judgements=judgements,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerInfo:
    """Name, kind and version of a scorer, as they are stored in every row it writes."""

    kind: str
    version: str
    options: Mapping[str, Any] = field(default_factory=dict)


class Scorer(Protocol):
    """Judges one attempt. Stateless: the same record gives the same findings."""

    @property
    def info(self) -> ScorerInfo:
        """What is recorded beside each score."""

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Judge the record; at least one finding, `ungraded` where there is nothing to check.

        Whatever may take long is awaited, so that it neither holds up other trials nor spoils their latency.
        """


@runtime_checkable
class Fingerprinted(Protocol):
    """A scorer that more decides about than its options, e.g. a program of the benchmark's author."""

    def fingerprint(self, record: ScoringRecord) -> str | None:
        """Give a digest of the rest that decides about the task of a record; its output plays no part.

        Null says that it cannot be known: then no score of it is ever reused.
        """


@runtime_checkable
class Costly(Protocol):
    """A scorer that may ask a model, which costs money and time."""

    def is_costly(self, record: ScoringRecord) -> bool:
        """Say whether judging this record asks one. What was attempted is then kept before."""


def is_costly(scorer: Scorer, record: ScoringRecord) -> bool:
    """Say whether a scorer asks a model about a record."""
    return _may_cost(type(scorer)) and cast("Costly", scorer).is_costly(record)


@cache
def _may_cost(kind: type) -> bool:
    """Ask once a type: `isinstance` with a protocol costs as much as writing a row."""
    return issubclass(kind, Costly)
