from __future__ import annotations

import asyncio
import subprocess
import sys
import time

import pytest

from skilleval.sandboxes.exits import ExitWatch, has_ended, one_ended, open_descriptor


def _sleeper(seconds: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", seconds])


@pytest.mark.parametrize("by_descriptor", [True, False])
def test_an_exit_is_noticed_with_and_without_a_descriptor(by_descriptor: bool) -> None:
    """Systems without process descriptors are polled, and notice the same exit."""

    async def noticed() -> bool:
        over = asyncio.Event()
        program = _sleeper("0.1")
        descriptor = open_descriptor(program) if by_descriptor else None
        watch = ExitWatch(program, over.set, descriptor=descriptor)
        watch.start()
        early = over.is_set()
        await asyncio.wait_for(over.wait(), 60)
        watch.close()
        return not early and has_ended(program) and program.wait() == 0

    assert asyncio.run(noticed())


def test_a_closed_watch_says_nothing() -> None:
    """After `close` an exit is not reported any more."""

    async def reports() -> list[str]:
        said: list[str] = []
        program = _sleeper("0.05")
        watch = ExitWatch(program, lambda: said.append("over"), descriptor=None)
        watch.start()
        watch.close()
        program.wait()
        await asyncio.sleep(0.05)
        return said

    assert asyncio.run(reports()) == []


def _waited(*programs: subprocess.Popen[bytes], at_most_s: float) -> float:
    """Say how long the end of one of these programs was waited for; all are over afterwards."""
    began = time.perf_counter()
    asyncio.run(one_ended([program.pid for program in programs], at_most_s=at_most_s))
    took = time.perf_counter() - began
    for program in programs:
        program.kill()
        program.wait()
    return took


@pytest.mark.skipif(sys.platform != "linux", reason="process descriptors are of Linux")
def test_waiting_is_over_with_the_first_of_several_children() -> None:
    """Whoever ends first ends the waiting, long before the time is over."""
    assert _waited(_sleeper("60"), _sleeper("0.05"), at_most_s=30) < 20


def test_waiting_for_an_end_has_a_limit() -> None:
    """Where nobody ends, or nobody is left to wait for, the time that was given is all that passes."""
    assert 0.05 <= _waited(_sleeper("60"), at_most_s=0.05) < 20
    gone = _sleeper("0")
    gone.wait()
    assert 0.05 <= _waited(gone, at_most_s=0.05) < 20
