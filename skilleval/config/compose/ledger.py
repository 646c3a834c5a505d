"""What a sweep tells whoever keeps its books: the plan, and how each job begins and ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from skilleval.config.compose.composing import SweepJob

Outcome = dict[str, Any]
"""How a job ended: JSON values with at least `job`, `overrides` and `exit_code`."""

SEARCH: Final = "search.log"
"""The file in the folder of a sweep in which a search keeps what it knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """What is known of a sweep before its jobs are: what was asked for, and what the settings are without the grid.

    `config` holds the settings of all jobs before references are resolved. `request` is what composing it again takes.
    """

    sweep_id: str
    experiment: str
    sweeper: str
    launcher: str
    request: Mapping[str, Any]
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    """One job of a plan: all its overrides, and those of them that are swept, as key and value."""

    overrides: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What is swept: the overrides that all jobs share, the values of each swept key, and the jobs where known."""

    overrides: tuple[str, ...]
    values: Mapping[str, Sequence[str]]
    jobs: tuple[PlannedJob, ...] | None = None


class Ledger(Protocol):
    """Keeps the books of one sweep. It is plain data, so that launchers can carry it to other processes."""

    @property
    def folder(self) -> Path:
        """The folder of the sweep."""
        ...

    def opened(self, plan: SweepPlan) -> AbstractContextManager[None]:
        """Keep others from running the same sweep; refuse settings that are other ones than when it began."""
        ...

    def plan(self, grid: Grid) -> None:
        """Write down what is swept, unless that was done before."""
        ...

    def left(self, grid: Grid | None = None) -> tuple[tuple[str, ...], ...]:
        """Give the overrides of each planned job that is not done and that nobody is running.

        Of a sweep that is not planned yet these are all jobs of the grid.
        """
        ...

    def place(self, overrides: Sequence[str], number: int) -> SweepJob:
        """Find the job that has these overrides; where none is planned, it has this number."""
        ...

    def done(self, job: SweepJob) -> Outcome | None:
        """Give how a job ended that is done; null where it is still to be run."""
        ...

    def begin(self, job: SweepJob, overrides: Sequence[str]) -> None:
        """Note that a job starts."""
        ...

    def end(self, job: SweepJob, outcome: Mapping[str, Any]) -> None:
        """Note how a job ended; `is_refused` in the outcome says that its own settings cannot be used."""
        ...

    def stop(self) -> None:
        """Note that the user stopped the sweep: a job whose process went with it says nothing itself."""
        ...

    def finished(self) -> tuple[Outcome, ...]:
        """Give how those jobs ended that are not to be run again."""
        ...

    def outcomes(self) -> tuple[Outcome, ...]:
        """Give how each job ended that was started, in the order of their numbers."""
        ...


def key_of(override: str) -> str:
    """Give the key of an override without the signs that add or force it: `experiment` of `+experiment=a`."""
    return override.partition("=")[0].lstrip("+")
