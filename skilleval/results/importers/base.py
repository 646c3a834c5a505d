"""What every importer gives: runs of another tool in our words, before they are rows.

Whatever a source does not say is null here, as it will be in the tables (versions and digests: empty texts).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from skilleval.domain.attempts import NO_USAGE, Status, Usage
from skilleval.domain.hashes import content_hash
from skilleval.domain.scores import Verdict
from skilleval.domain.trials import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCheck:
    """What a check of the other tool said of an attempt."""

    scorer: str
    rule: str
    check_id: str
    check: str
    verdict: Verdict
    score: float | None
    weight: float = 1.0
    required: bool = True
    reason: str = ""
    evidence: str = ""
    failure_kind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTrial:
    """One attempt of the other tool. `where` is its place in the source; `input` and `expected` are JSON values.

    `output`, `request` and `tool_calls` are JSON text. `repeat` is 0-based, whatever the source counts from.
    """

    where: str
    skill_id: str
    task_id: str
    repeat: int
    mode: Mode = Mode.DIRECT
    skill_version: str | None = None
    skill_digest: str | None = None
    adapter: str | None = None
    model: str | None = None
    sandbox: str | None = None
    task_tags: tuple[str, ...] = ()
    task_weight: float = 1.0
    timeout_ms: float | None = None
    input: Mapping[str, Any] | None = None
    expected: Mapping[str, Any] | None = None
    status: Status = Status.COMPLETED
    failure_kind: str | None = None
    message: str | None = None
    output: str | None = None
    latency_ms: float | None = None
    usage: Usage = NO_USAGE
    request: str | None = None
    tool_calls: str | None = None
    response_model: str | None = None
    notes: tuple[str, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    checks: tuple[ImportedCheck, ...] = ()

    @property
    def condition_id(self) -> str:
        """Content hash of what is compared; never that of a condition of our own."""
        edition = (self.skill_version, self.skill_digest)
        return content_hash(
            "imported",
            self.skill_id,
            *((None, None) if self.mode is Mode.WITHOUT_SKILL else edition),
            self.adapter,
            self.model,
            self.sandbox,
            self.mode,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedBenchmark:
    """What is known of the tasks; `digest` is null unless the benchmark itself was read."""

    id: str
    version: str | None = None
    name: str | None = None
    digest: str | None = None
    path: str | None = None
    scoring_method: str = "mean"
    k: int = 1
    max_latency_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """One run of the other tool, on one benchmark.

    `published` are the numbers that it gave itself, kept so that they can be held against ours. `n_planned` is null
    where it does not say how many trials there should have been; `remarks` are worth saying to the user.
    """

    benchmark: ImportedBenchmark
    trials: tuple[ImportedTrial, ...]
    started_at: datetime | None = None
    ended_at: datetime | None = None
    interrupted: bool = False
    n_planned: int | None = None
    tool_version: str | None = None
    published: Any = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What a user adds to files that do not say it: `modes` gives the arm that a name of theirs stands for."""

    benchmark: str | None = None
    skill: str | None = None
    model: str | None = None
    modes: Mapping[str, Mode] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """One format: what it is, whether a path holds it, and how it is read.

    `recognises` looks at names and the first keys only and never raises on strangers; `read` raises `ResultsError` with
    file, key, what was expected and what was found.
    """

    name: str
    what: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, ImportOptions], tuple[ImportedRun, ...]]


def verdict_of(passed: bool) -> Verdict:  # noqa: FBT001 - the verdict as the one truth value it is
    """Give the verdict of a truth value."""
    return Verdict.PASSED if passed else Verdict.FAILED
