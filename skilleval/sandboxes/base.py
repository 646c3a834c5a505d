"""What every sandbox offers: it runs one command on files and always ends what it started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

ENVIRONMENT: Final = "environment"
PROCESSES_END: Final = "processes_end"
FILESYSTEM: Final = "filesystem"
NETWORK: Final = "network"
SYSTEM_CALLS: Final = "system_calls"
MEMORY: Final = "memory"
CPU: Final = "cpu"
PROCESSES: Final = "processes"
FILE_SIZE: Final = "file_size"
OPEN_FILES: Final = "open_files"
TMP_SIZE: Final = "tmp_size"

GUARANTEES: Final[Mapping[str, str]] = {
    ENVIRONMENT: "no variable of the evaluator is seen, not even through /proc",
    PROCESSES_END: "nothing a program starts outlives it",
    FILESYSTEM: "only what the program needs can be read, only what it is given can be changed",
    NETWORK: "nothing outside the sandbox can be reached",
    SYSTEM_CALLS: "calls of the kernel that no skill needs are refused",
    MEMORY: "all processes of a trial together have a limit of memory",
    CPU: "the time or the share of the processors has a limit",
    PROCESSES: "the number of processes and threads of a trial has a limit",
    FILE_SIZE: "no file grows beyond a limit",
    OPEN_FILES: "the number of open files of a process has a limit",
    TMP_SIZE: "temporary files together have a limit",
}
"""What a sandbox may promise, and what each promise means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """A port on which a program listens, and the unix socket at which it is to be reached from here.

    The sandbox makes the socket, in a folder that is there and empty of others. Where the sandbox is a container the
    program can write that folder, and what it puts in the socket's place must not be followed. It is null where the
    sandbox shares its network.
    """

    port: int
    socket: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to run: an argument list, never a shell line.

    `env` is the whole environment the program is given beyond what the sandbox allows by itself. At most
    `max_output_bytes` of stdout (and of stderr) are read; more ends the program. A sandbox that hides files shows
    the program its `folder` and `reads` (files or folders, both read-only; of a program file also what it needs to
    run) and `writes` (folders of ours in which it may write, at the same path).
    """

    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    stdin: bytes
    timeout_s: float
    max_output_bytes: int
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    exposes: Exposure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a program ended. Exactly one of the causes is true at most: timed out, too much output, not started.

    `exit_code` is negative for a signal and null if the program never ran. `duration_ms` runs from the started
    program to its end (monotonic); `spawn_ms` is what starting took. `stdout_bytes` counts what was seen, also
    beyond the cap. `limit` names the resource of the sandbox that ran out, in one word such as `memory` or `cpu`, where
    that is what ended the program, and `limit_value` says how much there was, e.g. `2048 MB`.
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
    limit: str | None = None
    limit_value: str = ""


class Session(Protocol):
    """A running program that is talked with: bytes in, bytes out, until one of both ends it."""

    async def send(self, data: bytes) -> None:
        """Write to its stdin; returns when all is written, or the program reads no more."""

    def end_input(self) -> None:
        """Close its stdin, while nobody sends; its output goes on, and what is sent later is dropped."""

    async def receive(self) -> bytes:
        """Give the next piece of its stdout as soon as there is one; nothing once its stdout is closed."""

    async def ended(self) -> None:
        """Wait until the program has ended by itself or at its limit; closing its stdout is no end."""

    @property
    def stderr(self) -> bytes:
        """The end of what it wrote to stderr, at most `max_output_bytes`."""

    async def aclose(self) -> Completed:
        """End it with all it started, and say how it ended; stdout that nobody received is not kept."""


class Sandbox(Protocol):
    """Runs commands; knows nothing of tasks, skills or agents."""

    @property
    def name(self) -> str:
        """The kind, as in the registry and in the column `sandbox`."""

    @property
    def guarantees(self) -> frozenset[str]:
        """What is really enforced, e.g. `network`, `filesystem`, `memory`; empty for `none`."""

    @property
    def shares_network(self) -> bool:
        """Whether a port that a program opens on 127.0.0.1 can be reached from here, and ours from there."""

    @property
    def serves_unguarded(self) -> bool:
        """Whether a program with a port to expose has our network, although others have not."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user must know before the first trial, one sentence each."""

    async def run(self, command: Command) -> Completed:
        """Run a program to its end or its limit; on return, and on cancellation, nothing of it is alive."""

    async def open(self, command: Command) -> Session | Completed:
        """Start a program to talk with; where it cannot start, say why. `stdin` is written first and left open.

        `timeout_s` is the limit of the whole session: then the program is ended.
        """

    async def aclose(self) -> None:
        """Give back whatever the sandbox holds."""
