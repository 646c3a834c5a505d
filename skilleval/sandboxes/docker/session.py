"""A program in a container that is talked with; nothing here waits longer than the program lives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from skilleval.sandboxes.base import MEMORY, Command, Completed
from skilleval.sandboxes.docker.running import Go
from skilleval.sandboxes.docker.settled import settled
from skilleval.sandboxes.docker.stream import Channel
from skilleval.sandboxes.resources import judged

_MAX_HELD = 262_144  # what nobody has received yet: beyond it the program has to wait, not we to hold more
_LAST_WORDS_S = 1.0

Dispose = Callable[[], Awaitable[None]]
"""Takes the program's container away."""


class ContainerSession:
    """A running program and the connection with it. One task at a time sends, one receives."""

    def __init__(self, command: Command, go: Go, dispose: Dispose) -> None:
        self._go = go
        self._program = go.program
        self._dispose = dispose
        self._max_stderr = command.max_output_bytes
        self._received = bytearray()
        self._errors = bytearray()
        self._n_received = 0
        self._n_errors = 0
        self._timed_out = False
        self._takes_input = True
        self._is_closing = False
        self._completed: Completed | None = None
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._began = time.perf_counter()
        self._ending = asyncio.create_task(self._program.ended())
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _: self._news.set())
        self._limiting = asyncio.create_task(self._limit(command.timeout_s))

    async def send(self, data: bytes) -> None:
        """Write to its stdin; returns when all is written, or the program reads no more."""
        if self._takes_input and not self._program.stream.is_over.is_set():
            await self._program.stream.send(data)

    def end_input(self) -> None:
        """Close its stdin, while nobody sends; its output goes on, and what is sent later is dropped."""
        self._takes_input = False
        self._program.stream.end_input()

    async def receive(self) -> bytes:
        """Give the next piece of its stdout as soon as there is one; nothing once its stdout is closed."""
        while not (self._received or self._reading.done()):
            self._news.clear()
            await self._news.wait()
        piece = bytes(self._received)
        self._received.clear()
        self._room.set()
        return piece

    async def ended(self) -> None:
        """Wait until the program has ended by itself or at its limit; closing its stdout is no end."""
        await asyncio.wait({self._ending})

    @property
    def stderr(self) -> bytes:
        """The end of what it wrote to stderr, at most `max_output_bytes`."""
        return bytes(self._errors)

    async def aclose(self) -> Completed:
        """End it with all it started, and say how it ended; stdout that nobody received is not kept."""
        if self._completed is None:
            self._completed = await settled(self._closed())
        return self._completed

    async def _closed(self) -> Completed:
        duration_ms = (time.perf_counter() - self._began) * 1000
        self._is_closing = True
        self._limiting.cancel()
        self._room.set()
        try:
            if not self._ending.done():
                await self._program.kill()
            end = await self._ending
            await asyncio.wait({self._reading}, timeout=_LAST_WORDS_S)
        finally:
            self._reading.cancel()
            await asyncio.gather(self._reading, self._limiting, return_exceptions=True)
            await self._dispose()
        completed = Completed(
            exit_code=end.exit_code,
            stdout=b"",
            stderr=self.stderr,
            duration_ms=duration_ms,
            spawn_ms=self._go.spawn_ms,
            timed_out=self._timed_out,
            stdout_bytes=self._n_received,
            stderr_bytes=self._n_errors,
        )
        return judged(completed, self._go.resources, MEMORY if end.ran_out_of_memory else None)

    async def _read(self) -> None:
        while (piece := await self._program.stream.receive()) is not None:
            self._take(*piece)
            while len(self._received) >= _MAX_HELD and not self._is_closing:
                self._room.clear()
                await self._room.wait()

    def _take(self, channel: Channel, piece: bytes) -> None:
        if channel is Channel.STDERR:
            self._n_errors += len(piece)
            self._errors += piece
            del self._errors[: -self._max_stderr]
            return
        self._n_received += len(piece)
        if not self._is_closing:
            self._received += piece
            self._news.set()

    async def _limit(self, timeout_s: float) -> None:
        await asyncio.sleep(timeout_s)
        self._timed_out = not self._ending.done()
        if self._timed_out:
            await self._program.kill()
