"""What the process sandbox needs from a mechanism that encloses programs, and what both mechanisms share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from skilleval.sandboxes.base import Completed
from skilleval.sandboxes.cgroups import ControlGroup, ControlGroups
from skilleval.sandboxes.launch import Launch
from skilleval.sandboxes.requirements import Gap
from skilleval.sandboxes.resources import Resources, entering, judged
from skilleval.sandboxes.view import View

_MAX_STATUS_BYTES = 65536


class Purpose(Enum):
    """What a program is started for: one trial, many trials, or to listen on a port for them."""

    TRIAL = "trial"
    SESSION = "session"
    SERVER = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A program to be enclosed: its argument list with the file in front, and all that is decided about it."""

    argv: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    view: View
    hold: Hold
    purpose: Purpose = Purpose.TRIAL


class Mechanism(Protocol):
    """A way to enclose programs that works here: it has been tried."""

    @property
    def name(self) -> str:
        """As in the option `mechanism`."""

    @property
    def guarantees(self) -> frozenset[str]:
        """What it enforces by itself, without control groups and limits of resources."""

    @property
    def gaps(self) -> Mapping[str, Gap]:
        """Why it does not enforce the others."""

    @property
    def parts_network(self) -> bool:
        """Whether programs without network have one of their own, in which they can listen."""

    @property
    def temporary(self) -> Mapping[str, str]:
        """The variables that tell a program where its own temporary files go, if that is the same for all."""

    def launch(self, start: Start) -> Launch | Completed:
        """Say how the program is started, enclosed, or why this program cannot be; then its hold is closed.

        Raises:
            OSError: this machine has no room left for it.
        """

    def close(self) -> None:
        """Give back what is held between programs."""


class Hold:
    """What one running program uses up, and the group in which it is counted and ended; null where there is none."""

    def __init__(self, resources: Resources, limits: Mapping[str, int], groups: ControlGroups | None) -> None:
        self._resources = resources
        self._limits = limits
        self._groups = groups
        self._group: ControlGroup | None = None if groups is None else groups.take()
        self._exhausted: str | None = None
        self.has_group = groups is not None

    def words(self, *, complaints: int) -> tuple[str, ...]:
        """Give the words in front of a command line that make it start inside."""
        entrances = () if self._group is None else self._group.entrances
        return entering(entrances, self._limits, complaints=complaints)

    def kill(self) -> bool:
        """End whatever is inside; true if nothing was."""
        return self._group is None or self._group.kill()

    def close(self) -> None:
        """Note what ran out, and leave the group to others."""
        if self._group is not None and self._groups is not None:
            self._exhausted = self._group.exhausted
            self._groups.give_back(self._group)
            self._group = None

    def judged(self, completed: Completed) -> Completed:
        """Name the limit that ended the program, where one did; asked when closed."""
        return judged(completed, self._resources, self._exhausted)


class StatusPipe:
    """A pipe over which what encloses a program reports; the program itself never holds its other end."""

    def __init__(self) -> None:
        self._reading, self.descriptor = os.pipe()
        os.set_blocking(self._reading, False)
        self._is_ours = True
        self.text = ""

    def started(self) -> None:
        """Who reports has its own copy of `descriptor` now."""
        if self._is_ours:
            self._is_ours = False
            os.close(self.descriptor)

    def close(self) -> None:
        """Read what was reported, and close both ends."""
        self.started()
        try:
            self.text = os.read(self._reading, _MAX_STATUS_BYTES).decode("utf-8", "replace")
        except BlockingIOError:  # nothing yet, though somebody could still report: it is too late for that
            self.text = ""
        os.close(self._reading)
