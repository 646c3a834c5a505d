"""The frozen nouns of skilleval; see the glossary in `docs/glossary.md`.

Values that are JSON (task input, output, expected value) are kept as JSON text wherever they may be absent:
`None` means "there is none", the text `"null"` means "there is one and it is null".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any


class Status(StrEnum):
    """Did the trial run? Never mixed with whether it passed."""

    COMPLETED = "completed"
    TIMEOUT = "timeout"
    SKILL_ERROR = "skill_error"
    PROVIDER_ERROR = "provider_error"
    SANDBOX_ERROR = "sandbox_error"
    UNSUPPORTED = "unsupported"
    BLOCKED = "blocked"

    @property
    def is_infrastructure(self) -> bool:
        """True where the skill is not to blame: such trials never enter a completion rate."""
        return self in _INFRASTRUCTURE


_INFRASTRUCTURE = frozenset(
    {Status.PROVIDER_ERROR, Status.SANDBOX_ERROR, Status.UNSUPPORTED, Status.BLOCKED},
)


class Verdict(StrEnum):
    """What a check says of an attempt; `ungraded` is neither passed nor failed."""

    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"


RATER_CHECK = "rater:"  # how the id of a check begins that holds what one person of several said
EVIDENCE_NOT_FOUND = "evidence not found in the output"  # of a judge's quote; remarks are counted by it


class Mode(StrEnum):
    """How the skill takes part in a condition."""

    DIRECT = "direct"
    WITH_SKILL = "with_skill"
    WITHOUT_SKILL = "without_skill"
    OLD_SKILL = "old_skill"


def canonical_json(value: object) -> str:
    """Give the one JSON text of a value: sorted keys, no spaces, NaN refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(*parts: object) -> str:
    """Hash JSON values into 32 hexadecimal digits (128 bits of SHA-256)."""
    return short_hash(canonical_json(parts))


def short_hash(text: str) -> str:
    """Hash a text into 32 hexadecimal digits (128 bits of SHA-256)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class FileKind(StrEnum):
    """What of a file a model can be shown: all of it, its beginning, or only that it is there."""

    TEXT = "text"
    CUT = "cut"
    BINARY = "binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledFile:
    """A file of an instruction skill; `path` is relative to the skill, `text` null where it is never shown.

    `role` is `reference` (shown), `script` (its first line is shown where that is a shebang) or `asset` (named only).
    """

    path: str
    role: str
    n_bytes: int
    digest: str
    kind: FileKind
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """What a `SKILL.md` tells a model: its body, without frontmatter, and the files beside it.

    `frontmatter` holds the scalars as they are written, e.g. `1.0` stays the text `1.0`.
    """

    body: str
    frontmatter: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[BundledFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill: callable, as its `skill.json` describes it, or instructions for a model (`SKILL.md`).

    `folder` is the skill's own folder: its program always runs there. `digest` is the SHA-256 over the folder; that of
    an instruction skill leaves out its evals. `adapter_options` is what its `adapter.config.json` says, validated,
    with keys in snake_case. `instructions` is null for a callable skill.
    """

    id: str
    version: str
    name: str
    adapter: str
    entrypoint: str
    folder: Path
    source: Path
    digest: str
    description: str = ""
    tags: tuple[str, ...] = ()
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    adapter_options: Mapping[str, Any] = field(default_factory=dict)
    instructions: Instructions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """The scorer a task names for itself, with the options it gives."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile:
    """An input file of a task, read once, so that every arm of a comparison gets the same bytes.

    `name` is what the subject sees; `text` is null for a binary one, and its beginning for one that was cut.
    """

    name: str
    source: Path
    n_bytes: int
    digest: str
    kind: FileKind
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One problem of a benchmark.

    `expected` holds the keys of `expectedOutput` but `type` (e.g. `value`, `keywords`). `evaluator` is null where
    the task names none. `skill_id` names the one skill that is asked; null: all are. `folder` is where relative paths
    of the task start; null: where its benchmark stands.
    """

    id: str
    input: Mapping[str, Any]
    expected: Mapping[str, Any]
    description: str = ""
    evaluator: Evaluator | None = None
    timeout_ms: float | None = None
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    skill_id: str | None = None
    files: tuple[TaskFile, ...] = ()
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A named, versioned collection of tasks; `digest` is the SHA-256 of its file."""

    id: str
    version: str
    name: str
    tasks: tuple[Task, ...]
    source: Path
    digest: str
    domain: str = "general"
    scoring_method: str = "mean"
    k: int = 1
    max_latency_ms: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What is compared: skill × adapter × model × sandbox × mode.

    `options_digest` covers the adapter and sandbox options, so two settings never share an id. `isolation` says
    whether each trial has a process of its own (`trial`) or many share one (`worker`). Without the skill it does not
    matter which edition of it there would be: such a condition stays the same when the skill is edited.
    """

    skill_id: str
    skill_version: str
    skill_digest: str
    adapter: str
    sandbox: str
    model: str | None = None
    mode: Mode = Mode.DIRECT
    options_digest: str = ""
    isolation: str = "trial"

    @property
    def condition_id(self) -> str:
        """Content hash of all parts."""
        edition = (self.skill_version, self.skill_digest)
        return content_hash(
            self.skill_id,
            *(("", "") if self.mode is Mode.WITHOUT_SKILL else edition),
            self.adapter,
            self.sandbox,
            self.model,
            self.mode,
            self.options_digest,
            self.isolation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One repeat of one task under one condition. `trial_id` is a content hash, equal in every run.

    `timeout_ms` is the task's own where it has one, else the run's. `call_key` is a content hash of what is asked of
    the skill and how: equal keys may share an attempt. Unlike `trial_id` it names neither benchmark nor task, for
    neither reaches the skill; it is empty where an old run did not keep it.
    """

    trial_id: str
    condition_id: str
    condition: Condition
    skill: Skill
    benchmark: Benchmark
    task: Task
    repeat: int
    seed: int
    timeout_ms: float
    call_key: str

    def retries(self, of_run: int) -> int:
        """Give the retries allowed: a skill's own file may ask for more patience than the run, not for less."""
        return max(of_run, int(self.skill.adapter_options.get("retries", 0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call consumed; null where not reported, never 0 for unknown.

    `cached_tokens` are those of `input_tokens` that the provider had in its cache.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What one execution of a skill gave back.

    `output` is JSON text, or null where there is none. `latency_ms` is the time the skill itself took by the
    monotonic clock; where the call was cut off it is the time until then, so it is a lower bound. `spawn_ms` is
    what starting its process took (null without a process). `stdout` and `stderr` are excerpts, kept as evidence.
    `retryable` says whether trying again could help. Of a model there is more: `request` is what it was sent, as JSON
    text; `tool_calls` the JSON list of the calls it made; `response_model` the model that says it answered; `notes`
    what had to be done otherwise than asked, e.g. a system message sent as the user's.
    """

    status: Status
    output: str | None = None
    failure_kind: str | None = None
    message: str | None = None
    latency_ms: float | None = None
    spawn_ms: float | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    output_bytes: int | None = None
    output_encoding_errors: int = 0
    usage: Usage = NO_USAGE
    retryable: bool = False
    retry_after_s: float | None = None
    request: str | None = None
    tool_calls: str | None = None
    response_model: str | None = None
    notes: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One execution inside a trial: when it began, the pause before it, and what came of it.

    What an imported run does not say is null, here and in its records.
    """

    try_index: int
    started_at: datetime | None
    backoff_ms: float
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """A finished trial: its tries (the last one is the attempt), its scores and the times around it.

    `queue_ms` runs from the start of the run until a worker took the trial; `scoring_ms` covers all scorers.
    None of them is part of the skill's latency. `concurrency` trials were allowed at once; `in_flight` calls were
    running when the last try began, itself included (null where an old run did not count them). `serial_latency_ms` is
    the latency of a further call that had the machine to itself, `serial_status` how that call ended. `reused_from` is
    the run that made the attempt, where it is an earlier one.
    """

    trial: Trial
    tries: tuple[Try, ...]
    scores: tuple[Score, ...]
    ended_at: datetime | None
    queue_ms: float | None
    scoring_ms: float
    concurrency: int | None
    in_flight: int | None = 1
    serial_latency_ms: float | None = None
    serial_status: Status | None = None
    reused_from: str | None = None

    @property
    def attempt(self) -> Reply:
        """What the trial produced."""
        return self.tries[-1].reply
