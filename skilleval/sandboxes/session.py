"""A running program that is talked with over its pipes; nothing here waits longer than the program lives."""

from __future__ import annotations

import asyncio
import os
import time
from io import FileIO

from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.exits import ExitWatch, open_descriptor
from skilleval.sandboxes.launch import Launch
from skilleval.sandboxes.starting import Started, start

_CHUNK = 65536
_MAX_HELD = 4 * _CHUNK  # what nobody has received yet: beyond it the program has to wait, not we to hold more


def open_session(command: Command, launch: Launch) -> PipeSession | Completed:
    """Start a program to talk with; where it cannot start, say why."""
    started = start(launch)
    return started if isinstance(started, Completed) else PipeSession(started, command)


class PipeSession:
    """A started program and its pipes. One task at a time sends, one receives."""

    def __init__(self, started: Started, command: Command) -> None:
        self._began = time.perf_counter()
        self._started = started
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._n_received = 0
        self._errors = _Tail(started.stderr, command.max_output_bytes)
        self._is_over = False
        self._timed_out = False
        self._completed: Completed | None = None
        self._news = asyncio.Event()
        self._end = asyncio.Event()
        self._room = asyncio.Event()
        self._timer = self._loop.call_later(command.timeout_s, self._time_out)
        self._watch = ExitWatch(started.process, self._exited, descriptor=open_descriptor(started.process))
        for pipe in (started.stdin, started.stdout):
            os.set_blocking(pipe.fileno(), False)
        self._watch.start()
        self._errors.start()
        self._loop.add_reader(started.stdout.fileno(), self._read)

    async def send(self, data: bytes) -> None:
        """Write to its stdin; returns when all is written, or the program reads no more."""
        left = memoryview(data)
        while left and not (self._is_over or self._started.stdin.closed):
            try:
                left = left[os.write(self._started.stdin.fileno(), left) :]
            except BlockingIOError:
                await self._writable()
            except OSError:  # it closed its stdin or ended: what it left unread does not matter
                return

    def end_input(self) -> None:
        """Close its stdin, while nobody sends; its output goes on, and what is sent later is dropped."""
        self._started.stdin.close()

    async def receive(self) -> bytes:
        """Give the next piece of its stdout as soon as there is one; nothing once its stdout is closed."""
        while not (self._received or self._is_over):
            self._news.clear()
            await self._news.wait()
        piece = bytes(self._received)
        self._received.clear()
        if not self._is_over:
            self._loop.add_reader(self._started.stdout.fileno(), self._read)
        return piece

    async def ended(self) -> None:
        """Wait until the program has ended by itself or at its limit; closing its stdout is no end."""
        await self._end.wait()

    @property
    def stderr(self) -> bytes:
        """The end of what it wrote to stderr, at most `max_output_bytes`."""
        return self._errors.kept

    async def aclose(self) -> Completed:
        """End it with all it started, and say how it ended; stdout that nobody received is not kept."""
        if self._completed is None:
            duration_ms = (time.perf_counter() - self._began) * 1000
            self._stop_listening()
            try:
                await self._started.end()
            finally:
                self._errors.close()
                self._started.stdin.close()
                self._started.stdout.close()
            self._completed = self._started.verdict(self._ended(duration_ms))
        return self._completed

    def _ended(self, duration_ms: float) -> Completed:
        return Completed(
            exit_code=self._started.process.returncode,
            stdout=b"",
            stderr=self._errors.kept,
            duration_ms=duration_ms,
            spawn_ms=self._started.spawn_ms,
            timed_out=self._timed_out,
            stdout_bytes=self._n_received,
            stderr_bytes=self._errors.seen,
        )

    async def _writable(self) -> None:
        descriptor = self._started.stdin.fileno()
        self._room.clear()
        self._loop.add_writer(descriptor, self._room.set)
        try:
            await self._room.wait()
        finally:
            self._loop.remove_writer(descriptor)

    def _read(self) -> None:
        if not self._take():
            self._over()
        elif len(self._received) >= _MAX_HELD:
            self._loop.remove_reader(self._started.stdout.fileno())

    def _take(self) -> bool:
        """Read once; false at the end of the stream."""
        try:
            chunk = os.read(self._started.stdout.fileno(), _CHUNK)
        except BlockingIOError:
            return True
        self._received += chunk
        self._n_received += len(chunk)
        self._news.set()
        return bool(chunk)

    def _exited(self) -> None:
        self._watch.close()
        self._end.set()
        # Others may hold the other end of the pipe: what is in it now is all that counts.
        before = -1
        while len(self._received) < _MAX_HELD and len(self._received) != before:
            before = len(self._received)
            self._take()
        self._over()

    def _over(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._loop.remove_reader(self._started.stdout.fileno())
            self._news.set()
            self._room.set()

    def _time_out(self) -> None:
        self._timed_out = True
        self._started.process.kill()  # its exit is noticed like any other

    def _stop_listening(self) -> None:
        self._timer.cancel()
        self._watch.close()
        self._over()


class _Tail:
    """Reads a program's stderr and keeps the last `limit` bytes."""

    def __init__(self, pipe: FileIO, limit: int) -> None:
        self._pipe = pipe
        self._limit = limit
        self._kept = bytearray()
        self._loop = asyncio.get_running_loop()
        self.seen = 0
        os.set_blocking(pipe.fileno(), False)

    @property
    def kept(self) -> bytes:
        """The last bytes."""
        return bytes(self._kept)

    def start(self) -> None:
        """Read whenever there is something."""
        self._loop.add_reader(self._pipe.fileno(), self._ready)

    def close(self) -> None:
        """Take what is still in the pipe and close it."""
        if not self._pipe.closed:
            self._loop.remove_reader(self._pipe.fileno())
            self._read()
            self._pipe.close()

    def _ready(self) -> None:
        if not self._read():
            self._loop.remove_reader(self._pipe.fileno())

    def _read(self) -> bool:
        try:
            chunk = os.read(self._pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return True
        self.seen += len(chunk)
        self._kept += chunk
        del self._kept[: -self._limit]
        return bool(chunk)
