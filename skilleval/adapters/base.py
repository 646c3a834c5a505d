"""What every adapter offers: it drives one skill once and reports what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from skilleval.domain import Reply, Skill


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One execution of a skill: one try of one trial."""

    skill: Skill
    task_id: str
    input: Mapping[str, Any]
    repeat: int
    seed: int
    try_index: int
    timeout_s: float
    trial_id: str


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
        """Raise an `AdapterError` that says what is missing and how to mend it."""
