"""One turn of a chat: what a model is asked, what it answers, and what a provider of models offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from skilleval.domain.attempts import NO_USAGE, Status, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One turn: what is said to a model and how it is to answer.

    `tools` are OpenAI function tools. `params` go into the request as they are, e.g. `temperature`. `response_schema`
    is a JSON Schema that the answer is to keep, where the provider can be told so.
    """

    user: str
    system: str | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: str | Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    response_schema: Mapping[str, Any] | None = None
    seed: int | None = None

    @property
    def n_characters(self) -> int:
        """Size of all that is said, for estimates of tokens."""
        return len(self.user) + len(self.system or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a model wants to make; `arguments` is the text it wrote, which need not be JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What came of a turn. Only a `completed` one has a text; a failure is never put into it.

    `request` is what was sent, as JSON text, without credentials. `latency_ms` is the time of this one call: waiting
    for limits and pauses before retries are no part of it. `notes` say what was done otherwise than asked, e.g.
    `system_as_user`.
    """

    status: Status
    model: str
    request: str
    text: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = NO_USAGE
    response_model: str | None = None
    finish_reason: str | None = None
    latency_ms: float | None = None
    failure_kind: str | None = None
    message: str | None = None
    retryable: bool = False
    retry_after_s: float | None = None
    notes: tuple[str, ...] = ()


class Provider(Protocol):
    """Gives access to one model. A failure is a `Completion`, not an exception.

    A class of somebody else's is built as `Class(options)` with an `Options` model of its own, which has at least the
    fields of `ModelOptions`. The `params` of those options are already in every request that comes here.
    """

    @property
    def model(self) -> str:
        """The name of the model, as it is asked for."""

    async def complete(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Ask once; never longer than `timeout_s` plus a short time to clean up."""

    async def aclose(self) -> None:
        """Give back connections."""


@runtime_checkable
class Ready(Protocol):
    """A provider or model that can tell before the first trial that it cannot be asked."""

    def check(self) -> None:
        """Raise a `SkillevalError` that says what is missing and how to mend it."""


@runtime_checkable
class Located(Protocol):
    """A provider that knows where its model is asked, which decides what that costs."""

    @property
    def endpoint(self) -> str | None:
        """The address, e.g. `https://api.openai.com/v1`; null where there is none that can be asked."""


class Asked(Protocol):
    """A model that can be asked: the provider with its limits, prices and the meter of the run around it."""

    @property
    def model(self) -> str:
        """The name of the model."""

    @property
    def identity(self) -> str:
        """A hash of all that decides about its answers: where it is asked, and with which parameters."""

    async def admit(self, request: ChatRequest) -> None:
        """Wait until the limits of requests and tokens per minute let the request through; nothing is held after."""

    async def ask(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Ask once; the completion has its price, and the meter of the run has counted it."""

    async def consult(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Wait for the limits, ask, and ask again where that could help, as often as the options of the model say."""

    async def aclose(self) -> None:
        """Give back connections."""
