"""Has schemas checked by processes that can be ended.

What a check costs has no bound: a schema of a dozen lines can take years. A thread cannot be ended and holds up
whoever shares its interpreter, a process neither.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import subprocess
import sys
from collections.abc import Callable
from io import FileIO
from typing import cast
from weakref import WeakKeyDictionary

from skilleval.scorers.json_schema.exchange import Check, UnusableSchemaError, errors_from

_ARGV = (sys.executable, "-B", "-P", "-m", "skilleval.scorers.json_schema.program")
_HANDED_OVER = ("PATH", "LD_LIBRARY_PATH")
_START_S = 60.0
_MARGIN_S = 0.5  # a pattern that takes too long is told by its name, which needs a moment
_CHUNK = 65536


async def errors_of(check: Check) -> list[list[str]]:
    """Give the errors of each reading, up to the one that fits and has none.

    Raises:
        UnusableSchemaError: the schema cannot judge, or not within the limit.
    """
    line = check.line()
    reply = await _workers(os.getpid()).reply(line, check.timeout_ms / 1000 + _MARGIN_S)
    if reply is None:
        raise UnusableSchemaError(f"the check against the schema took longer than {check.timeout_ms:g} ms")
    if not reply:
        raise UnusableSchemaError("the check against the schema broke off without an answer")
    return errors_from(reply)


class _Worker:
    """A running program that does one check at a time; bound to no event loop between two checks."""

    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in _HANDED_OVER if name in os.environ}
        self._process = subprocess.Popen(  # noqa: S603 - our own program, without a word from outside
            _ARGV,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            bufsize=0,
            process_group=0,  # Ctrl-C is for us, and we end it
        )
        # Unbuffered pipes are FileIO objects, which the type of Popen cannot say.
        self._stdin = cast("FileIO", self._process.stdin)
        self._stdout = cast("FileIO", self._process.stdout)
        for pipe in (self._stdin, self._stdout):
            os.set_blocking(pipe.fileno(), False)
        self._is_ready = False

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    async def reply(self, line: bytes, timeout_s: float) -> bytes | None:
        """Give its reply: empty where it ended without one, null where the time is over. Starting takes no time."""
        try:
            if not self._is_ready:
                async with asyncio.timeout(_START_S):
                    self._is_ready = bool(await self._line())
            async with asyncio.timeout(timeout_s):
                return await self._line() if self._is_ready and await self._send(line) else b""
        except TimeoutError:
            return None

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    async def _send(self, line: bytes) -> bool:
        left, loop = memoryview(line), asyncio.get_running_loop()
        while left:
            try:
                left = left[os.write(self._stdin.fileno(), left) :]
            except BlockingIOError:
                await _until(self._stdin.fileno(), loop.add_writer, loop.remove_writer)
            except OSError:
                return False
        return True

    async def _line(self) -> bytes:
        read, loop = bytearray(), asyncio.get_running_loop()
        while not read.endswith(b"\n"):
            await _until(self._stdout.fileno(), loop.add_reader, loop.remove_reader)
            chunk = os.read(self._stdout.fileno(), _CHUNK)
            if not chunk:
                return b""
            read += chunk
        return bytes(read)


class _Workers:
    """As many workers as there are processors, started when they are needed and kept for the next check."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._idle: list[_Worker] = []
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        atexit.register(self._close)

    async def reply(self, line: bytes, timeout_s: float) -> bytes | None:
        """Have a worker reply. Whatever did not end well is ended, cancelled checks too."""
        turns = self._turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(os.cpu_count() or 1))
        async with turns:
            worker, reply = self._taken(), None
            try:
                reply = await worker.reply(line, timeout_s)
            finally:
                if reply:
                    self._idle.append(worker)
                else:
                    worker.end()
        return reply

    def _taken(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            worker.end()
        return _Worker()

    def _close(self) -> None:
        if os.getpid() == self._pid:  # a fork has no workers of its own
            while self._idle:
                self._idle.pop().end()


@functools.cache
def _workers(_pid: int) -> _Workers:
    # One set a process: whoever is forked shares neither our pipes nor our children.
    return _Workers()


async def _until(
    descriptor: int, add: Callable[[int, Callable[[], None]], None], remove: Callable[[int], bool]
) -> None:
    """Wait until a descriptor can be read from, or written to."""
    is_so = asyncio.Event()
    add(descriptor, is_so.set)
    try:
        await is_so.wait()
    finally:
        remove(descriptor)
