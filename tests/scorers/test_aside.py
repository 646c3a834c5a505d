from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from skilleval.scorers.aside import aside


def test_the_result_comes_back_from_another_thread() -> None:
    """The event loop goes on meanwhile: here it alone can end the wait of the other thread."""
    turned = threading.Event()

    def slow() -> tuple[str, bool]:
        return threading.current_thread().name, turned.wait(60)

    async def turn() -> None:
        turned.set()

    async def both() -> tuple[str, bool]:
        found, _ = await asyncio.gather(aside(slow), turn())
        return found

    assert asyncio.run(both()) == ("scorer", True)


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("k"), MemoryError()])
def test_what_is_raised_there_is_raised_here(error: Exception) -> None:
    """Whatever it is."""

    def broken() -> None:
        raise error

    with pytest.raises(type(error)):
        asyncio.run(aside(broken))


def test_a_cancelled_search_keeps_nobody_from_ending() -> None:
    """A program that is asked to end does so, whatever limit a pattern has."""
    program = """
import asyncio
from skilleval.scorers.base import ScoringRecord
from skilleval.scorers.regex import RegexOptions, RegexScorer

async def main():
    options = RegexOptions(case_sensitive=True, multiline=False, dotall=False, timeout_ms=600_000.0)
    record = ScoringRecord(
        task_id="t", input={}, expected={"patterns": ["^(a|aa)+$"]}, evaluator=None, output="a" * 60 + "!"
    )
    try:
        await asyncio.wait_for(RegexScorer(options).findings(record), 0.2)
    except TimeoutError:
        print("given up")

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "given up\n", "")
