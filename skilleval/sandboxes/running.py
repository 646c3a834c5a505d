"""Runs one program on this machine, from its start to the end of everything it started."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Coroutine, Mapping
from enum import Enum
from io import FileIO
from typing import cast

from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.exits import ExitWatch, open_descriptor
from skilleval.sandboxes.pipes import Inflow, Outflow
from skilleval.sandboxes.trees import TOKEN_NAME, Tree


class _Cause(Enum):
    """Why a program is over."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    OUTPUT_LIMIT = "output_limit"


async def execute(command: Command, environment: Mapping[str, str]) -> Completed:
    """Run a program; on return, and on cancellation, nothing of it is alive.

    A program that reaches its time or output limit is killed at once, without a polite signal first: it had its
    time, and what it wrote until then is kept. What a program leaves behind when it exits is killed as well.
    """
    tree = Tree()
    started = time.perf_counter()
    try:
        program = _start(command, {**environment, TOKEN_NAME: tree.token})
    except (OSError, ValueError) as error:
        tree.close()
        reason = error.strerror if isinstance(error, OSError) else error
        return not_started("not_started", f"{command.argv[0]}: {reason}")
    tree.leader = program
    spawn_ms = (time.perf_counter() - started) * 1000
    return await _Running(tree, program, command).completed(spawn_ms)


def not_started(kind: str, reason: str) -> Completed:
    """Say that a program never ran: the cause in one word, a colon, the reason in one sentence."""
    return Completed(
        exit_code=None,
        stdout=b"",
        stderr=b"",
        duration_ms=0.0,
        spawn_ms=0.0,
        not_started=f"{kind}: {reason}",
    )


def _start(command: Command, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - running what the user names is the purpose; no shell takes part
        command.argv,
        cwd=command.folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )


class _Running:
    """A started program with our ends of its pipes."""

    def __init__(self, tree: Tree, program: subprocess.Popen[bytes], command: Command) -> None:
        self._started = time.perf_counter()
        self._tree = tree
        self._program = program
        self._timeout_s = command.timeout_s
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[tuple[_Cause, float]] = self._loop.create_future()
        limit = command.max_output_bytes
        # Unbuffered pipes are FileIO objects, which the type of Popen cannot say.
        self._stdin = Inflow(cast("FileIO", program.stdin), command.stdin)
        self._stdout = Outflow(cast("FileIO", program.stdout), limit, self._overflow)
        self._stderr = Outflow(cast("FileIO", program.stderr), limit, self._overflow)

    async def completed(self, spawn_ms: float) -> Completed:
        """Wait for the end, whatever brings it, and clean up."""
        try:
            cause, duration_ms = await self._ended()
        finally:
            await self._clean_up()
        overflowed = self._stdout.overflowed or self._stderr.overflowed
        return Completed(
            exit_code=self._program.returncode,
            stdout=self._stdout.kept,
            stderr=self._stderr.kept,
            duration_ms=duration_ms,
            spawn_ms=spawn_ms,
            timed_out=cause is _Cause.TIMED_OUT,
            output_limit=overflowed and cause is not _Cause.TIMED_OUT,
            stdout_bytes=self._stdout.seen,
            stderr_bytes=self._stderr.seen,
        )

    async def _ended(self) -> tuple[_Cause, float]:
        timer = self._loop.call_later(self._timeout_s, self._settle, _Cause.TIMED_OUT)
        watch = ExitWatch(self._program, self._exited, descriptor=open_descriptor(self._program))
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
            if not self._tree.kill():
                await _uninterrupted(self._tree.end())
        finally:
            self._stdout.close()
            self._stderr.close()

    def _exited(self) -> None:
        self._settle(_Cause.EXITED)

    def _overflow(self) -> None:
        self._settle(_Cause.OUTPUT_LIMIT)

    def _settle(self, cause: _Cause) -> None:
        if not self._over.done():
            self._over.set_result((cause, (time.perf_counter() - self._started) * 1000))


async def _uninterrupted(step: Coroutine[None, None, None]) -> None:
    """Take a step to its end; a cancellation in the meantime takes effect afterwards."""
    task = asyncio.ensure_future(step)
    interruption: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is not None:
        raise interruption
    task.result()
