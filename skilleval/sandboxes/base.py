"""What every sandbox offers: it runs one command on files and always ends what it started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to run: an argument list, never a shell line.

    `env` is the whole environment the program is given beyond what the sandbox allows by itself. At most
    `max_output_bytes` of stdout (and of stderr) are read; more ends the program.
    """

    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    stdin: bytes
    timeout_s: float
    max_output_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a program ended. Exactly one of the causes is true at most: timed out, too much output, not started.

    `exit_code` is negative for a signal and null if the program never ran. `duration_ms` runs from the started
    program to its end (monotonic); `spawn_ms` is what starting took. `stdout_bytes` counts what was seen, also
    beyond the cap.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    duration_ms: float
    spawn_ms: float
    timed_out: bool = False
    output_limit: bool = False
    not_started: str | None = None
    stdout_bytes: int = 0
    stderr_bytes: int = 0


class Sandbox(Protocol):
    """Runs commands; knows nothing of tasks, skills or agents."""

    @property
    def name(self) -> str:
        """The kind, as in the registry and in the column `sandbox`."""

    @property
    def guarantees(self) -> frozenset[str]:
        """What is really enforced, e.g. `network`, `filesystem`, `memory`; empty for `none`."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user must know before the first trial, one sentence each."""

    async def run(self, command: Command) -> Completed:
        """Run a program to its end or its limit; on return, and on cancellation, nothing of it is alive."""

    async def aclose(self) -> None:
        """Give back whatever the sandbox holds."""
