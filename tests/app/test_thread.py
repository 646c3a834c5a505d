from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from skilleval.app.stopping import STOPPER, Stopper, until_stopped
from skilleval.app.thread import outside_of_loops


def test_without_a_loop_work_stays_in_its_thread() -> None:
    """A script needs no second thread: Ctrl-C is heard as ever."""
    assert outside_of_loops(threading.current_thread) is threading.current_thread()


def test_within_a_loop_work_may_run_a_loop_of_its_own() -> None:
    """What fails in the thread of a notebook works in another one, and its result and errors come back."""

    async def cell() -> tuple[int, str]:
        told = ""
        with suppress(ZeroDivisionError):
            outside_of_loops(lambda: 1 // 0)
            told = "no error"
        return outside_of_loops(lambda: asyncio.run(asyncio.sleep(0, result=7))), told

    assert asyncio.run(cell()) == (7, "")


def test_a_stopper_ends_work_in_another_thread() -> None:
    """Work that hears no signal is ended by whoever waits for it, and tidies up first."""
    stopper, begun, ended = Stopper(), threading.Event(), []

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("tidied")

    def in_thread() -> None:
        STOPPER.set(stopper)
        ended.append(str(until_stopped(work())))

    thread = threading.Thread(target=in_thread)
    thread.start()
    assert begun.wait(60)
    stopper.stop()
    thread.join(60)
    assert ended == ["tidied", "True"]


def test_a_stop_that_comes_early_is_not_lost() -> None:
    """Who stops before the work has begun ends it as it begins."""
    stopper = Stopper()
    stopper.stop()
    found = []

    def in_thread() -> None:
        STOPPER.set(stopper)
        found.append(until_stopped(asyncio.sleep(30)))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join(60)
    assert found == [True]
