"""Time, in one place: monotonic for durations, UTC for stamps that never run backwards within a process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class Clock:
    """Measures by the monotonic clock; stamps are the wall time at creation plus what the monotonic clock says.

    A step of the wall clock during a run therefore cannot make a duration negative or put an end before its start.
    """

    def __init__(
        self,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._monotonic = monotonic
        self._origin = monotonic()
        self._wall_origin = datetime.fromtimestamp(wall(), tz=UTC)

    def monotonic(self) -> float:
        """Seconds of the monotonic clock."""
        return self._monotonic()

    def elapsed_ms(self, since: float) -> float:
        """Milliseconds since an earlier `monotonic()`."""
        return (self._monotonic() - since) * 1000

    def utc(self) -> datetime:
        """The moment, in UTC."""
        return self._wall_origin + timedelta(seconds=self._monotonic() - self._origin)

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking others."""
        await asyncio.sleep(seconds)
