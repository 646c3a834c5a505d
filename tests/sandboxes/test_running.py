from __future__ import annotations

import asyncio
import resource
import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import case_input
from naps import Nap

from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.none import NoSandbox

Make = Callable[..., Command]
Run = Callable[..., Completed]

ESCAPES = {
    "holds the pipes": "sleep {nap} &",
    "a session of its own": "setsid sleep {nap} &",
    "no pipes, no environment": "env -i $(command -v setsid) sleep {nap} >/dev/null 2>&1 </dev/null &",
    "two forks deep": "(setsid sh -c 'sleep {nap} & sleep {nap} & wait' &)",
    "two forks deep, no environment": "(env -i setsid sh -c '(sleep {nap} &) ; sleep {nap}' >/dev/null 2>&1 &)",
    "deaf to signals": "sh -c 'trap \"\" TERM INT HUP; sleep {nap} & wait' &",
    "stopped": "sh -c 'kill -STOP $$; sleep {nap}' &",
}


def test_c25_a_timeout_ends_the_grandchild_that_holds_stdout(run: Run, nap: Nap) -> None:
    """The run returns in time, keeps what was written, and nobody sleeps on."""
    case = case_input("C25")
    argv = shlex.split(case["entrypoint"].replace("sleep 60", f"sleep {nap.seconds}"))
    started = time.monotonic()
    completed = run(*argv, timeout_s=case["timeoutMs"] / 1000)
    assert time.monotonic() - started < 15
    assert (completed.timed_out, completed.stdout, completed.exit_code) == (True, b"started\n", -9)
    assert 500 <= completed.duration_ms < 15_000
    assert nap.sleepers() == []


@pytest.mark.parametrize("escape", ESCAPES)
def test_c25_a_timeout_ends_what_tries_to_escape(run: Run, nap: Nap, escape: str) -> None:
    """A time-out finds processes in other sessions, without environment, without parents, and deaf ones."""
    script = ESCAPES[escape].format(nap=nap.seconds)
    completed = run("sh", "-c", f"{script}\necho started; sleep {nap.seconds}", timeout_s=1.0)
    assert (completed.timed_out, completed.stdout) == (True, b"started\n")
    assert nap.sleepers() == []


@pytest.mark.parametrize("escape", ESCAPES)
def test_es22_what_a_program_leaves_behind_ends_with_it(run: Run, nap: Nap, escape: str) -> None:
    """A program that exits is over at once, though a grandchild holds its pipes; the grandchild is ended."""
    script = ESCAPES[escape].format(nap=nap.seconds)
    completed = run("sh", "-c", f"{script}\nsleep 0.1; echo done")
    assert (completed.exit_code, completed.stdout, completed.timed_out) == (0, b"done\n", False)
    assert completed.duration_ms < 30_000
    assert nap.sleepers() == []


def test_a_program_just_within_its_time_is_no_timeout(run: Run) -> None:
    """Start and run together cover all the program's time; a program may run before its start has returned."""
    completed = run("sleep", "0.2", timeout_s=2.0)
    assert (completed.exit_code, completed.timed_out) == (0, False)
    assert completed.spawn_ms > 0
    assert 200 <= completed.spawn_ms + completed.duration_ms < 20_000


def test_a_signal_is_a_negative_exit_code(run: Run) -> None:
    """A program that a signal ended is neither a time-out nor an output limit."""
    completed = run("sh", "-c", "kill -SEGV $$")
    assert (completed.exit_code, completed.timed_out, completed.output_limit) == (-11, False, False)


def test_stdin_is_written_whole_and_closed(run: Run) -> None:
    """Input far larger than a pipe arrives completely, and the end of it is seen."""
    assert run("wc", "-c", stdin=b"x" * 3_000_000).stdout.strip() == b"3000000"


def test_input_and_output_larger_than_a_pipe_do_not_lock_each_other(run: Run) -> None:
    """Reading goes on while writing waits."""
    data = bytes(range(256)) * 4000
    assert run("cat", stdin=data, max_output_bytes=len(data)).stdout == data


@pytest.mark.parametrize("script", ["exit 0", "exec 0<&-; sleep 0.1", "head -c 1 >/dev/null"])
def test_es21_a_program_that_leaves_its_input_unread_is_survived(run: Run, script: str) -> None:
    """A closed or abandoned stdin is no error of the run."""
    completed = run("sh", "-c", script, stdin=b"x" * 3_000_000)
    assert (completed.exit_code, completed.not_started) == (0, None)


def test_es21_a_program_that_closes_its_output_is_survived(run: Run) -> None:
    """A closed stdout is the end of the output and not of the program."""
    completed = run("sh", "-c", "echo early; exec >&- 2>&-; sleep 0.1; exit 4")
    assert (completed.exit_code, completed.stdout) == (4, b"early\n")


def test_c30_endless_output_is_cut_at_the_cap_in_bounded_memory(run: Run) -> None:
    """300 MB neither block nor fill memory: the program is ended and no more than the cap is kept."""
    case = case_input("C30")
    cap = case["maxOutputBytes"]
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    completed = run(*shlex.split(case["entrypoint"]), max_output_bytes=cap)
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    assert (completed.output_limit, completed.timed_out, len(completed.stdout)) == (True, False, cap)
    assert cap < completed.stdout_bytes < 10 * cap
    assert grown_kb < 100_000


@pytest.mark.parametrize(("n_bytes", "overflows"), [(99_999, False), (100_000, False), (100_001, True)])
@pytest.mark.parametrize("stream", [1, 2])
def test_c30_the_cap_itself_is_still_allowed(run: Run, n_bytes: int, overflows: bool, stream: int) -> None:
    """One byte beyond the cap is too much, on stdout as on stderr."""
    completed = run("sh", "-c", f"head -c {n_bytes} /dev/zero >&{stream}", max_output_bytes=100_000)
    kept = completed.stdout if stream == 1 else completed.stderr
    assert (completed.output_limit, len(kept)) == (overflows, min(n_bytes, 100_000))
    assert completed.stdout_bytes + completed.stderr_bytes == n_bytes


def test_a_writer_that_never_stops_is_ended_with_all_its_helpers(run: Run, nap: Nap) -> None:
    """Too much output ends the tree like a time-out does."""
    completed = run("sh", "-c", f"setsid sleep {nap.seconds} & yes", max_output_bytes=10_000)
    assert (completed.output_limit, completed.stdout) == (True, b"y\n" * 5000)


def test_cancelling_ends_the_tree_before_it_is_felt(sandbox: NoSandbox, make: Make, nap: Nap) -> None:
    """When the cancellation arrives at the caller nothing is alive, also if it is repeated meanwhile."""

    async def cancelled() -> list[int]:
        task = asyncio.create_task(
            sandbox.run(make("sh", "-c", f"setsid sleep {nap.seconds} & sleep {nap.seconds}"))
        )
        await asyncio.sleep(0)
        await asyncio.to_thread(nap.wait_for, 3)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return nap.sleepers()

    assert asyncio.run(cancelled()) == []


def test_a_run_leaves_no_descriptor_open(run: Run) -> None:
    """Pipes and the descriptor of the process are closed, however the program ended."""
    run("true")
    before = len(list(Path("/proc/self/fd").iterdir()))
    run("true")
    run("sleep", "5", timeout_s=0.05)
    run("yes", max_output_bytes=10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
