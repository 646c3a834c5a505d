"""A clock whose time passes only while everybody sleeps: minutes of waiting are tested in no time."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Coroutine
from typing import Any

from skilleval.clock import Clock


class SimulatedClock(Clock):
    """A clock whose time passes only while everybody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._n = 0
        super().__init__(monotonic=lambda: self.now, wall=lambda: 0.0)

    async def sleep(self, seconds: float) -> None:
        """Sleep until the time has come."""
        self._n += 1
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, self._n, woken))
        await woken

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run to the end; whoever waits for something that never happens is found out."""
        asyncio.run(self._run(main))

    async def _run(self, main: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(main)
        while not task.done():
            for _ in range(20):  # let everybody go on until they sleep
                await asyncio.sleep(0)
            if not task.done():
                assert self._sleepers, "nobody sleeps and nobody goes on: a deadlock"
                self.now, _, woken = heapq.heappop(self._sleepers)
                if not woken.done():
                    woken.set_result(None)
        await task
