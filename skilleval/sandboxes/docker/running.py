"""Runs a program that waits at its gate in a container, to its end or its limit."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from skilleval.sandboxes.base import MEMORY, Command, Completed
from skilleval.sandboxes.docker.container import End, Program
from skilleval.sandboxes.docker.settled import settled
from skilleval.sandboxes.docker.stream import Channel
from skilleval.sandboxes.resources import Resources, judged

_LAST_WORDS_S = 1.0  # its end and the end of its output are told on different ways


@dataclass(frozen=True, slots=True, kw_only=True)
class Go:
    """A program, what to tell its gate, what starting took, and the limits it has."""

    program: Program
    opening: bytes
    spawn_ms: float
    resources: Resources


class Kept:
    """The first bytes of an output, and how many there were."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self.seen = 0

    @property
    def content(self) -> bytes:
        """The first `limit` bytes."""
        return bytes(self._bytes)

    @property
    def overflowed(self) -> bool:
        """Has more been seen than is kept?"""
        return self.seen > self._limit

    def add(self, piece: bytes) -> None:
        """Count a piece, and keep what fits."""
        self.seen += len(piece)
        self._bytes += piece[: max(0, self._limit - len(self._bytes))]


async def execute(command: Command, go: Go) -> Completed:
    """Let a program run; on return it has ended. On cancellation its container must still be removed."""
    return await _Running(command, go).completed()


class _Running:
    """A program that has been let go, and what is seen of it."""

    def __init__(self, command: Command, go: Go) -> None:
        self._command = command
        self._go = go
        self._program = go.program
        limit = command.max_output_bytes
        self._outputs = {Channel.STDOUT: Kept(limit), Channel.STDERR: Kept(limit)}
        self._began = time.perf_counter()
        self._began_at = time.time()
        self._ending = asyncio.create_task(self._program.ended())
        self._draining = asyncio.create_task(self._drain())
        self._feeding = asyncio.create_task(self._feed())

    async def completed(self) -> Completed:
        """Wait for the end, whatever brings it."""
        tasks = (self._ending, self._draining, self._feeding)
        try:
            timed_out = not await self._is_over_in_time()
            cut_after_ms = self._elapsed_ms()
            if self._overflowed:
                self._program.stream.cut()
            if not self._ending.done():
                await settled(self._program.kill())
            end = await self._ending
            await asyncio.wait({self._draining}, timeout=_LAST_WORDS_S)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        is_cut = timed_out or self._overflowed
        return self._told(end, cut_after_ms if is_cut else self._lasted_ms(end), timed_out=timed_out)

    async def _is_over_in_time(self) -> bool:
        """Wait for the end of the program or too much output; false where neither comes in time."""
        waiting: set[asyncio.Task[object]] = {self._ending, self._draining}
        deadline = self._began + self._command.timeout_s
        while not (self._ending.done() or self._overflowed):
            left_s = deadline - time.perf_counter()
            if left_s <= 0:
                return False
            _, waiting = await asyncio.wait(waiting, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        return True

    async def _drain(self) -> None:
        """Read all output until there is too much of it."""
        while not self._overflowed and (piece := await self._program.stream.receive()) is not None:
            self._outputs[piece[0]].add(piece[1])

    async def _feed(self) -> None:
        await self._program.stream.send(self._go.opening + self._command.stdin)
        self._program.stream.end_input()

    @property
    def _overflowed(self) -> bool:
        return any(output.overflowed for output in self._outputs.values())

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self._began) * 1000

    def _lasted_ms(self, end: End) -> float:
        """Give the time until the end itself: we hear of it some 30 ms later."""
        heard_ms = self._elapsed_ms()
        if end.finished_at is None:
            return heard_ms
        lasted_ms = (end.finished_at - self._began_at) * 1000
        return lasted_ms if 0 < lasted_ms < heard_ms else heard_ms

    def _told(self, end: End, duration_ms: float, *, timed_out: bool) -> Completed:
        stdout, stderr = self._outputs[Channel.STDOUT], self._outputs[Channel.STDERR]
        completed = Completed(
            exit_code=end.exit_code,
            stdout=stdout.content,
            stderr=stderr.content,
            duration_ms=duration_ms,
            spawn_ms=self._go.spawn_ms,
            timed_out=timed_out,
            output_limit=self._overflowed and not timed_out,
            stdout_bytes=stdout.seen,
            stderr_bytes=stderr.seen,
        )
        return judged(completed, self._go.resources, MEMORY if end.ran_out_of_memory else None)
