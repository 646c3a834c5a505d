"""How much a trial may use, how a program is started under these limits, and which one ended it."""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skilleval.sandboxes.base import CPU, FILE_SIZE, MEMORY, PROCESSES, Completed
from skilleval.sandboxes.cgroups import GroupLimits

_FAILED = 125  # the exit code of a start that went wrong
_SIGNALLED = 128
_MAX_SIGNAL = 64
_MB = 1 << 20
_BLOCK = 512  # the unit of `ulimit -f` in every POSIX shell
_CPU_GRACE_S = 5  # at the first limit a program gets a signal that says why, at the second it is killed
_OOM_SCORE = 500  # where the machine itself runs out of memory, trials go before everything else

_ENTERING = """
{{ echo {score} > /proc/self/oom_score_adj; }} 2>/dev/null
fail() {{ echo "$1" > /proc/self/fd/{complaints}; echo "$1" >&2; exit {failed}; }}
while [ "$1" != -- ]; do echo 0 > "$1" || fail "a control group cannot be entered"; shift; done
shift
{limits}
exec "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """The limits of one trial; null means no limit."""

    memory_mb: int
    cpus: float | None
    cpu_seconds: int | None
    processes: int
    file_size_mb: int
    open_files: int
    tmp_mb: int

    @property
    def tmp_bytes(self) -> int:
        """What fits into the private folder for temporary files."""
        return self.tmp_mb * _MB

    def group_limits(self, *, own_processes: int) -> GroupLimits:
        """Give what all processes of a trial may use together; those of the sandbox itself come on top."""
        return GroupLimits(
            memory_bytes=self.memory_mb * _MB, processes=self.processes + own_processes, cpus=self.cpus
        )

    def limits(self, *, serves: bool, has_group: bool) -> dict[str, int]:
        """Give the limits that hold for each process, by the letters of `ulimit` and in its units.

        A program that serves many trials has no limit of CPU time, which is meant for one. Memory is limited for
        each process only where no group limits it for all: data, because a limit of addresses stops Node.
        """
        found = {"c": 0, "f": self.file_size_mb * _MB // _BLOCK, "n": self.open_files}
        if not has_group:
            found["d"] = self.memory_mb * _MB // 1024
        if self.cpu_seconds is not None and not serves:
            found["t"] = self.cpu_seconds
        return found

    def spoken(self, limit: str) -> str:
        """Say how much of a resource there was."""
        return {
            MEMORY: f"{self.memory_mb} MB",
            PROCESSES: f"{self.processes} processes and threads",
            CPU: f"{self.cpu_seconds} s of CPU time a process",
            FILE_SIZE: f"{self.file_size_mb} MB a file",
        }[limit]


def entering(entrances: Sequence[Path], limits: Mapping[str, int], *, complaints: int) -> tuple[str, ...]:
    """Give the words in front of a command line that make it start inside its groups and limits.

    The shell puts itself there and then becomes the program, so there is no moment in which the program runs
    outside, and its process id is known from the start. No word of the command line is read by the shell. What goes
    wrong is written to the descriptor `complaints`, too.
    """
    lines = "\n".join(_limiting(letter, value) for letter, value in limits.items())
    script = _ENTERING.format(score=_OOM_SCORE, failed=_FAILED, limits=lines, complaints=complaints)
    return ("/bin/sh", "-c", script, "sh", *map(str, entrances), "--")


_KINDS = {
    "c": (resource.RLIMIT_CORE, 1),
    "d": (resource.RLIMIT_DATA, 1024),
    "f": (resource.RLIMIT_FSIZE, _BLOCK),
    "n": (resource.RLIMIT_NOFILE, 1),
    "t": (resource.RLIMIT_CPU, 1),
}


_FAIL = 'fail "a limit cannot be set"'


def _limiting(letter: str, value: int) -> str:
    kind, unit = _KINDS[letter]
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY and hard // unit <= value:  # ours is narrower, and nobody may widen it
        return f"ulimit -S -{letter} {hard // unit} || {_FAIL}"
    if letter != "t":
        return f"ulimit -{letter} {value} || {_FAIL}"
    widest = value + _CPU_GRACE_S if hard == resource.RLIM_INFINITY else min(value + _CPU_GRACE_S, hard)
    return f"ulimit -S -t {value} && ulimit -H -t {widest} || {_FAIL}"


def as_told_by_shells(code: int) -> int:
    """Read an exit code above 128 as the signal it stands for, as negative numbers do here.

    Bubblewrap reports an end by a signal in no other way, so `exit 137` and a kill look the same to it; every
    mechanism goes by this rule, so that a skill gets one verdict in all of them.
    """
    return _SIGNALLED - code if _SIGNALLED < code <= _SIGNALLED + _MAX_SIGNAL else code


def judged(completed: Completed, resources: Resources, exhausted: str | None) -> Completed:
    """Name the limit that ended a program, where one did; `exhausted` is what ran out in its group.

    That a process was refused is the cause only where the program says so itself: many take less and go on, and
    fail later for a reason of their own.
    """
    if completed.timed_out or completed.output_limit or completed.exit_code in {0, None}:
        return completed
    if exhausted == PROCESSES and not any(words in completed.stderr for words in _REFUSED_PROCESS):
        exhausted = None
    limit = exhausted or _BY_SIGNAL.get(completed.exit_code or 0)
    if limit is None:
        return completed
    return replace(completed, limit=limit, limit_value=resources.spoken(limit))


_BY_SIGNAL = {-signal.SIGXCPU: CPU, -signal.SIGXFSZ: FILE_SIZE}
_REFUSED_PROCESS = (
    os.strerror(errno.EAGAIN).encode(),
    b"EAGAIN",
    b"can't start new thread",  # Python
    b"annot fork",  # shells
    b"unable to create native thread",  # Java
)
"""How programs say that they could not start a process or thread."""
