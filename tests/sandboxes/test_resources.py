from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from skilleval.sandboxes.base import Completed
from skilleval.sandboxes.cgroups import GroupLimits
from skilleval.sandboxes.resources import Resources, as_told_by_shells, entering, judged

RESOURCES = Resources(
    memory_mb=64, cpus=None, cpu_seconds=7, processes=32, file_size_mb=2, open_files=99, tmp_mb=16
)
ENDED = Completed(exit_code=1, stdout=b"", stderr=b"", duration_ms=1.0, spawn_ms=1.0)


def _run(limits: dict[str, int], *program: str, entrances: tuple[Path, ...] = ()) -> tuple[int, str, str]:
    """Run a program behind the words; give its exit code, its stdout, and the complaints."""
    reading, writing = os.pipe()
    try:
        words = entering(entrances, limits, complaints=writing)
        done = subprocess.run(
            (*words, *program), pass_fds=(writing,), capture_output=True, text=True, timeout=120, check=False
        )
    finally:
        os.close(writing)
    with os.fdopen(reading) as pipe:
        return done.returncode, done.stdout, pipe.read()


def test_a_program_starts_with_the_limits_it_is_given() -> None:
    """Core, data, file size, open files and CPU time are narrowed before the program runs."""
    limits = RESOURCES.limits(serves=False, has_group=False)
    assert limits == {"c": 0, "f": 4096, "n": 99, "d": 65536, "t": 7}
    script = "for letter in c f n d t; do ulimit -$letter; done"
    assert _run(limits, "/bin/sh", "-c", script) == (0, "0\n4096\n99\n65536\n7\n", "")


def test_memory_is_limited_for_each_process_only_where_no_group_does_it() -> None:
    """Where a group counts all processes together, a second limit would only be in the way."""
    assert "d" not in RESOURCES.limits(serves=False, has_group=True)


def test_a_program_that_serves_many_trials_has_no_limit_of_cpu_time() -> None:
    """The limit is meant for one trial; null means none at all."""
    assert "t" not in RESOURCES.limits(serves=True, has_group=True)
    assert "t" not in replace(RESOURCES, cpu_seconds=None).limits(serves=False, has_group=True)


def test_a_limit_beyond_what_we_have_ourselves_is_no_error() -> None:
    """Nobody may widen his own limits: ours stay."""
    most = 1 << 40
    code, out, _ = _run({"n": most}, "/bin/sh", "-c", "ulimit -n")
    assert code == 0
    assert out.strip() == "unlimited" or int(out) <= most


def test_the_words_of_a_program_are_not_read_by_the_shell() -> None:
    """Substitutions, quotes and empty words arrive as they are."""
    words = ("$(exit 1)", "a b", "", "'", '"', ";", "--", "*")
    assert _run({}, "/usr/bin/printf", "%s|", *words)[1] == "".join(f"{word}|" for word in words)


def test_a_program_puts_itself_into_each_group_before_it_runs(tmp_path: Path) -> None:
    """It writes 0, itself, to each entrance."""
    entrances = (tmp_path / "one", tmp_path / "two")
    assert _run({}, "/bin/cat", *map(str, entrances), entrances=entrances)[1] == "0\n0\n"


def test_a_group_that_cannot_be_entered_stops_the_start(tmp_path: Path) -> None:
    """The program does not run outside, and whoever listens is told."""
    entrances = (tmp_path / "absent" / "tasks",)
    assert _run({}, "/bin/echo", "ran", entrances=entrances) == (
        125,
        "",
        "a control group cannot be entered\n",
    )


def test_a_trial_may_start_as_many_processes_as_it_was_promised() -> None:
    """The processes of the sandbox itself come on top."""
    limits = RESOURCES.group_limits(own_processes=2)
    assert limits == GroupLimits(memory_bytes=64 << 20, processes=34, cpus=None)
    assert limits.controllers() == {"memory", "pids"}


@pytest.mark.parametrize(
    ("exit_code", "exhausted", "limit", "value"),
    [
        (1, None, None, ""),
        (1, "processes", None, ""),
        (-signal.SIGKILL, "memory", "memory", "64 MB"),
        (-signal.SIGKILL, None, None, ""),
        (-signal.SIGXCPU, None, "cpu", "7 s of CPU time a process"),
        (-signal.SIGXFSZ, None, "file_size", "2 MB a file"),
        (0, "memory", None, ""),
        (None, "memory", None, ""),
    ],
)
def test_the_limit_that_ended_a_program_is_named(
    exit_code: int | None, exhausted: str | None, limit: str | None, value: str
) -> None:
    """A program that ended well did so in spite of what it ran into."""
    found = judged(replace(ENDED, exit_code=exit_code), RESOURCES, exhausted)
    assert (found.limit, found.limit_value) == (limit, value)


@pytest.mark.parametrize(
    "said",
    [
        "BlockingIOError: [Errno 11] Resource temporarily unavailable",
        "RuntimeError: can't start new thread",
        "sh: 1: Cannot fork",
        "Error: spawn sh EAGAIN",
    ],
)
def test_refused_processes_are_the_cause_where_the_program_says_so(said: str) -> None:
    """A program that fails later for a reason of its own keeps its exit code; one that names the limit hit it."""
    found = judged(replace(ENDED, stderr=said.encode()), RESOURCES, "processes")
    assert (found.limit, found.limit_value) == ("processes", "32 processes and threads")
    assert judged(replace(ENDED, stderr=b"KeyError: 'x'"), RESOURCES, "processes").limit is None
    assert judged(replace(ENDED, stderr=said.encode()), RESOURCES, None).limit is None


@pytest.mark.parametrize(
    ("code", "read"), [(0, 0), (1, 1), (128, 128), (137, -9), (192, -64), (193, 193), (-9, -9)]
)
def test_exit_codes_above_128_are_signals(code: int, read: int) -> None:
    """The convention of shells holds in every mechanism."""
    assert as_told_by_shells(code) == read


@pytest.mark.parametrize("cause", ["timed_out", "output_limit"])
def test_a_program_that_we_ended_ran_into_no_other_limit(cause: str) -> None:
    """One cause at most is true."""
    ended = Completed(
        exit_code=-9,
        stdout=b"",
        stderr=b"",
        duration_ms=1.0,
        spawn_ms=1.0,
        timed_out=cause == "timed_out",
        output_limit=cause == "output_limit",
    )
    assert judged(ended, RESOURCES, "memory") == ended
