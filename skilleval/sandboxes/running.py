"""Runs one program on this machine, from its start to the end of everything it started."""

from __future__ import annotations

import asyncio
import time
from enum import Enum

from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.exits import ExitWatch, open_descriptor
from skilleval.sandboxes.launch import Launch
from skilleval.sandboxes.pipes import Inflow, Outflow
from skilleval.sandboxes.starting import Started, start


class _Cause(Enum):
    """Why a program is over."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    OUTPUT_LIMIT = "output_limit"


async def execute(command: Command, launch: Launch) -> Completed:
    """Run a program; on return, and on cancellation, nothing of it is alive.

    A program that reaches its time or output limit is killed at once, without a polite signal first: it had its
    time, and what it wrote until then is kept. What a program leaves behind when it exits is killed as well.
    """
    started = start(launch)
    if isinstance(started, Completed):
        return started
    return started.verdict(await _Running(started, command).completed())


class _Running:
    """A started program with our ends of its pipes."""

    def __init__(self, started: Started, command: Command) -> None:
        self._began = time.perf_counter()
        self._started = started
        self._timeout_s = command.timeout_s
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[tuple[_Cause, float]] = self._loop.create_future()
        limit = command.max_output_bytes
        self._stdin = Inflow(started.stdin, command.stdin)
        self._stdout = Outflow(started.stdout, limit, self._overflow)
        self._stderr = Outflow(started.stderr, limit, self._overflow)

    async def completed(self) -> Completed:
        """Wait for the end, whatever brings it, and clean up."""
        try:
            cause, duration_ms = await self._ended()
        finally:
            await self._clean_up()
        overflowed = self._stdout.overflowed or self._stderr.overflowed
        return Completed(
            exit_code=self._started.process.returncode,
            stdout=self._stdout.kept,
            stderr=self._stderr.kept,
            duration_ms=duration_ms,
            spawn_ms=self._started.spawn_ms,
            timed_out=cause is _Cause.TIMED_OUT,
            output_limit=overflowed and cause is not _Cause.TIMED_OUT,
            stdout_bytes=self._stdout.seen,
            stderr_bytes=self._stderr.seen,
        )

    async def _ended(self) -> tuple[_Cause, float]:
        timer = self._loop.call_later(self._timeout_s, self._settle, _Cause.TIMED_OUT)
        process = self._started.process
        watch = ExitWatch(process, self._exited, descriptor=open_descriptor(process))
        try:
            for part in (watch, self._stdout, self._stderr, self._stdin):
                part.start()
            return await self._over
        finally:
            watch.close()
            timer.cancel()

    async def _clean_up(self) -> None:
        self._stdin.close()
        try:
            await self._started.end()
        finally:
            self._stdout.close()
            self._stderr.close()

    def _exited(self) -> None:
        self._settle(_Cause.EXITED)

    def _overflow(self) -> None:
        self._settle(_Cause.OUTPUT_LIMIT)

    def _settle(self, cause: _Cause) -> None:
        if not self._over.done():
            self._over.set_result((cause, (time.perf_counter() - self._began) * 1000))
