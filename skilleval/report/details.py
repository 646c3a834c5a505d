"""Single trials as pure data, for the drill-down of a report; see `document`.

A text of a trial is an `Excerpt`: null where there is none. What tasks and conditions have in common stands once.
"""

from __future__ import annotations

from dataclasses import dataclass

from skilleval.report.excerpt import Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDetail:
    """What a task asks and expects; both are JSON texts."""

    task_id: str
    tags: tuple[str, ...] = ()
    input: Excerpt | None = None
    expected: Excerpt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionDetail:
    """What was tried, and how it was driven."""

    condition_id: str
    skill_id: str
    skill_version: str = ""
    adapter: str | None = None
    model: str | None = None
    sandbox: str | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDetail:
    """What one check of one scorer says of a trial; `check` is empty where a scorer looks at one thing."""

    scorer: str
    check: str
    verdict: str
    score: float | None = None
    weight: float | None = None
    required: bool = True
    failure_kind: str | None = None
    reason: Excerpt | None = None
    evidence: Excerpt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation with a model; a call of a tool is a turn of its own, `name` is that of the tool."""

    role: str
    text: Excerpt
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TryDetail:
    """One of several executions of a trial; the last one is the attempt."""

    try_index: int
    status: str
    failure_kind: str | None = None
    latency_ms: float | None = None
    cost_usd: float | None = None
    exit_code: int | None = None
    backoff_ms: float | None = None
    message: Excerpt | None = None
    output: Excerpt | None = None
    stdout: Excerpt | None = None
    stderr: Excerpt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialDetail:
    """One trial with all that is kept of it; `verdict` is that of all scorers together.

    `tries` is empty where one was enough. `reused_from` names the run that made the attempt, where it is another one.
    """

    condition_id: str
    task_id: str
    repeat: int
    status: str
    verdict: str
    failure_kind: str | None = None
    latency_ms: float | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    exit_code: int | None = None
    response_model: str | None = None
    reused_from: str | None = None
    notes: tuple[str, ...] = ()
    message: Excerpt | None = None
    output: Excerpt | None = None
    stdout: Excerpt | None = None
    stderr: Excerpt | None = None
    transcript: tuple[Turn, ...] = ()
    checks: tuple[CheckDetail, ...] = ()
    tries: tuple[TryDetail, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """The shown trials in the order of `tasks`, then of conditions; `n_trials` counts all, also those not shown."""

    tasks: tuple[TaskDetail, ...]
    conditions: tuple[ConditionDetail, ...]
    trials: tuple[TrialDetail, ...]
    n_trials: int
    is_complete: bool
