"""What a trial produced: whether it ran, what came back, and what that took."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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
class Try:
    """One execution inside a trial: when it began, the pause before it, and what came of it.

    What an imported run does not say is null, here and in its records.
    """

    try_index: int
    started_at: datetime | None
    backoff_ms: float
    reply: Reply
