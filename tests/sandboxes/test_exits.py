from __future__ import annotations

import asyncio
import subprocess

import pytest

from skilleval.sandboxes.exits import ExitWatch, has_ended, open_descriptor


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
        await asyncio.wait_for(over.wait(), 5)
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
