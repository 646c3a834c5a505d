"""What every adapter offers: it drives one skill once and reports what came of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from skilleval.domain.attempts import Reply
from skilleval.domain.files import TaskFile
from skilleval.domain.skills import Skill
from skilleval.domain.trials import Mode

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One execution of a skill: one try of one trial; `mode` says whether a model is given the skill at all."""

    skill: Skill
    task_id: str
    input: Mapping[str, Any]
    repeat: int
    seed: int
    try_index: int
    timeout_s: float
    trial_id: str
    mode: Mode = Mode.DIRECT
    files: tuple[TaskFile, ...] = ()


class Adapter(Protocol):
    """Drives skills of one kind. A failure of the skill is a `Reply`, not an exception."""

    @property
    def kind(self) -> str:
        """The kind, as in the registry and in the column `adapter`."""

    async def invoke(self, call: Call) -> Reply:
        """Call the skill once; never longer than `call.timeout_s` plus a short time to clean up."""

    async def aclose(self) -> None:
        """Give back connections and processes."""


@runtime_checkable
class Checking(Protocol):
    """An adapter that can tell before the first trial that a skill cannot be driven."""

    def check(self, skill: Skill) -> None:
        """Raise an `AdapterError`, or a `SetupError` where the user can mend it, that says what is missing."""


@runtime_checkable
class Admitting(Protocol):
    """An adapter whose calls wait for their turn, e.g. for a limit of requests per minute.

    Nothing is held while a call is under way, so a trial can never wait for what it holds itself.
    """

    async def admit(self, call: Call) -> None:
        """Wait until the call may be made; this is no part of its time."""


@runtime_checkable
class Recalling(Protocol):
    """An adapter that knows its answers: it waits for nothing, so nobody has to watch over how long it takes."""

    def recall(self, call: Call) -> Reply:
        """Give at once what `invoke` gives."""


@runtime_checkable
class Isolating(Protocol):
    """An adapter that starts programs and can give each trial one of its own.

    Its class takes `worker_trials`: null, or how many trials one program serves.
    """

    @property
    def isolation(self) -> str:
        """`trial` where no two trials share a program, `worker` where many do."""


def isolation(adapter: Adapter) -> str:
    """Say whether trials share what answers them: so they do wherever an adapter does not promise the opposite."""
    return adapter.isolation if isinstance(adapter, Isolating) else "worker"


class Closing(Protocol):
    """What is held until it is closed."""

    async def aclose(self) -> None:
        """Give back what is held."""


async def close_all(parts: Iterable[Closing]) -> None:
    """Close all at once; one that cannot be closed is logged and keeps no other open."""
    outcomes = await asyncio.gather(*(part.aclose() for part in parts), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            _log.warning("what an adapter held could not be closed: %s", outcome)
