"""Non-blocking ends of a program's pipes: nothing here waits, whatever the program does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from io import FileIO

_CHUNK = 65536
_MAX_LEFTOVER_READS = 64  # a pipe holds at most 1 MiB; a writer that survived must not keep us here


class Inflow:
    """Writes bytes to a program's stdin and closes it; a program that stops reading is no error."""

    def __init__(self, pipe: FileIO, data: bytes) -> None:
        self._pipe = pipe
        self._left = memoryview(data)
        self._loop = asyncio.get_running_loop()
        os.set_blocking(pipe.fileno(), False)

    def start(self) -> None:
        """Write what fits at once and the rest whenever there is room."""
        self._write()
        if not self._pipe.closed:
            self._loop.add_writer(self._pipe.fileno(), self._write)

    def close(self) -> None:
        """Close the pipe, written out or not."""
        if not self._pipe.closed:
            self._loop.remove_writer(self._pipe.fileno())
            self._pipe.close()

    def _write(self) -> None:
        try:
            while self._left:
                self._left = self._left[os.write(self._pipe.fileno(), self._left) :]
        except BlockingIOError:
            return
        except OSError:
            pass  # the program closed its stdin or ended: what it left unread does not matter
        self.close()


class Outflow:
    """Reads a program's stdout or stderr: keeps at most `limit` bytes, counts all it sees."""

    def __init__(self, pipe: FileIO, limit: int, on_overflow: Callable[[], None]) -> None:
        self._pipe = pipe
        self._limit = limit
        self._on_overflow = on_overflow
        self._kept = bytearray()
        self._loop = asyncio.get_running_loop()
        self.seen = 0
        os.set_blocking(pipe.fileno(), False)

    @property
    def kept(self) -> bytes:
        """The first `limit` bytes."""
        return bytes(self._kept)

    @property
    def overflowed(self) -> bool:
        """Has more been seen than is kept?"""
        return self.seen > self._limit

    def start(self) -> None:
        """Read whenever there is something."""
        self._loop.add_reader(self._pipe.fileno(), self._ready)

    def close(self) -> None:
        """Take what is still in the pipe, without waiting for those who hold its other end, and close it."""
        if self._pipe.closed:
            return
        self._loop.remove_reader(self._pipe.fileno())
        reads = 0
        while reads < _MAX_LEFTOVER_READS and self._read():
            reads += 1
        self._pipe.close()

    def _ready(self) -> None:
        if not self._read() or self.overflowed:
            self._loop.remove_reader(self._pipe.fileno())
        if self.overflowed:
            self._on_overflow()

    def _read(self) -> bool:
        try:
            chunk = os.read(self._pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        self.seen += len(chunk)
        self._kept += chunk[: max(0, self._limit - len(self._kept))]
        return bool(chunk)
