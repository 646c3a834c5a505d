"""What a sandbox makes of a command before it is started: the program as the system sees it, and what encloses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from skilleval.sandboxes.base import Completed


class Enclosure(Protocol):
    """What a sandbox holds around one running program beyond its processes' relations, e.g. a control group."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing a program starts can leave it, so that `kill` reaches all there is."""

    def started(self) -> None:
        """The program runs: give back our copies of what was handed over to it."""

    def kill(self) -> bool:
        """End whatever is inside; true if nothing is left."""

    def verdict(self, completed: Completed) -> Completed:
        """Say how the program itself ended; asked last, when the enclosure is closed."""

    def close(self) -> None:
        """Take the enclosure away; it is empty, or was never used."""


class NoEnclosure:
    """Nothing around the program."""

    is_complete = False

    def started(self) -> None:
        """Nothing was handed over."""

    def kill(self) -> bool:
        """Nothing is inside."""
        return True

    def verdict(self, completed: Completed) -> Completed:
        """Leave it as it was seen."""
        return completed

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A program as it is started: argument list, working folder, whole environment, descriptors it inherits."""

    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    enclosure: Enclosure = field(default_factory=NoEnclosure)
