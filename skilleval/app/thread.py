"""Work in a thread of its own: a notebook has an event loop in its main thread, and a loop within a loop cannot run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from skilleval.app.stopping import STOPPER, Stopper

T = TypeVar("T")


def outside_of_loops(work: Callable[[], T]) -> T:
    """Do some work here, or in another thread where this one runs an event loop.

    Raises:
        KeyboardInterrupt: the user stopped it; what was finished is kept.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    return _in_thread(work)


def _in_thread(work: Callable[[], T]) -> T:
    stopper = Stopper()

    def stoppable() -> T:
        STOPPER.set(stopper)
        return work()

    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(stoppable)
        try:
            return future.result()
        except KeyboardInterrupt:
            stopper.stop()  # the pool waits until the work has put everything away
            raise
