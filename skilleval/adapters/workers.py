"""Keeps programs running that serve one request after the other: as many as calls run at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from skilleval.adapters.base import close_all
from skilleval.adapters.exchange import Cause, Exchange
from skilleval.adapters.jsonrpc import ONLY_ID
from skilleval.adapters.reply_reader import ReplyReader
from skilleval.sandboxes.base import Command, Completed, Sandbox, Session

_LIFETIME_S = 10 * 365 * 86400.0  # a session ends when its pool says so; each request has a limit of its own
_MAX_IDLE = 32  # processes kept for skills whose turn comes again, where fewer calls than that run at once
_SETTLED_S = 0.001  # whoever had nothing to do for so long may have ended meanwhile
_PATIENCE_S = 0.5  # whoever closes its stdout is about to end, or has hung up
_LARGE = 32768  # what a pipe surely takes at once; more is sent while the program is listened to
_HIDDEN = "the reply does not stand on a line of its own"

Ask = Callable[[int], bytes]
"""Builds the request of an id."""
Program = tuple[Path, tuple[str, ...]]
"""Where a program runs, and its arguments: what workers have in common that can stand in for each other."""


class Worker:
    """A running program that is asked one thing at a time. Whatever goes wrong, it is not asked again."""

    def __init__(self, session: Session, command: Command, *, spawn_ms: float, max_trials: int) -> None:
        self.program = program_of(command)
        self.is_usable = True
        self._session = session
        self._spawn_ms: float | None = spawn_ms
        self._max_trials = max_trials
        self._max_stderr_bytes = command.max_output_bytes
        self._n_asked = 0
        self._is_sent = True
        self._idle_since = time.perf_counter()

    async def ask(self, command: Command, ask: Ask) -> Exchange:
        """Send a request and read its reply, within the limits of the command; else the program is ended."""
        self.is_usable = False
        self._n_asked += 1
        # The only id of others is never ours: a program that always replies with it is found out at once.
        request_id = ONLY_ID + self._n_asked
        reader, line, n_errors = ReplyReader(request_id), ask(request_id), len(self._session.stderr)
        began = time.perf_counter()
        cause = await self._heard(line, reader, command)
        duration_ms = (time.perf_counter() - began) * 1000
        is_sound = cause is Cause.REPLIED and self._is_sent and reader.is_answered
        ended = None if is_sound else await self._session.aclose()
        misfit = _last_look(cause, reader, ended)
        stderr = self._session.stderr
        # Beyond the cap only the end of stderr is known, and no longer what of it belongs to which trial.
        has_room = self._n_asked < self._max_trials and len(stderr) < self._max_stderr_bytes
        self.is_usable = is_sound and has_room
        self._idle_since = time.perf_counter()
        spawn_ms, self._spawn_ms = self._spawn_ms, None
        return Exchange(
            cause=Cause.TOO_DEEP if reader.is_too_deep else cause,
            done=_done(cause, reader, ended, stderr[n_errors:], duration_ms),
            reply=reader.reply,
            misfit=misfit,
            spawn_ms=spawn_ms,
            n_before=self._n_asked - 1,
        )

    async def is_alive(self) -> bool:
        """Say whether it still runs after a while without a request; what it printed meanwhile is dropped."""
        if time.perf_counter() - self._idle_since < _SETTLED_S:
            return True
        try:
            async with asyncio.timeout(0):
                while await self._session.receive():
                    pass
        except TimeoutError:
            return True
        return False

    async def aclose(self) -> None:
        """End the program."""
        await self._session.aclose()

    async def _heard(self, line: bytes, reader: ReplyReader, command: Command) -> Cause:
        try:
            async with asyncio.timeout(command.timeout_s):
                return await self._talk(line, reader, command.max_output_bytes)
        except TimeoutError:
            return Cause.TIMED_OUT

    async def _talk(self, line: bytes, reader: ReplyReader, max_output_bytes: int) -> Cause:
        if len(line) <= _LARGE:
            await self._session.send(line)
            return await self._listen(reader, max_output_bytes)
        # A program that prints while it reads must not wait for us while we wait for it.
        sending = asyncio.create_task(self._session.send(line))
        try:
            return await self._listen(reader, max_output_bytes)
        finally:
            self._is_sent = sending.done()
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _listen(self, reader: ReplyReader, max_output_bytes: int) -> Cause:
        while piece := await self._session.receive():
            if len(reader) + len(piece) > max_output_bytes:
                reader.keep(piece)
                return Cause.OUTPUT_LIMIT
            reader.feed(piece)
            if reader.is_over:
                return Cause.REPLIED
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await self._session.ended()
                return Cause.ENDED
        return Cause.HUNG_UP


class Workers:
    """The workers of a run: started when they are needed, each used by one call at a time, ended with the run."""

    def __init__(self, sandbox: Sandbox, *, max_trials: int) -> None:
        self._sandbox = sandbox
        self._max_trials = max_trials
        self._running: set[Worker] = set()
        self._idle: list[Worker] = []
        self._most_at_once = 0
        self._replied: set[Program] = set()

    async def ask(self, command: Command, ask: Ask) -> Exchange:
        """Have a request answered by a program that has nothing else to do, in a fresh one where none has.

        A program that an earlier trial used up says nothing about this one: it is asked of a fresh one.
        """
        exchange = await self._asked(await self._taken(command), command, ask)
        if exchange.is_forgiven:
            return await self._asked(await self._started(command), command, ask)
        return exchange

    def has_replied(self, command: Command) -> bool:
        """Say whether the program of a command ever replied while its stdin was open."""
        return program_of(command) in self._replied

    async def aclose(self) -> None:
        """End all programs."""
        running, self._running, self._idle = self._running, set(), []
        await close_all(running)

    async def _asked(self, worker: Worker | Completed, command: Command, ask: Ask) -> Exchange:
        if isinstance(worker, Completed):
            return Exchange(cause=Cause.NOT_STARTED, done=worker)
        self._most_at_once = max(self._most_at_once, len(self._running) - len(self._idle))
        try:
            exchange = await worker.ask(command, ask)
        finally:
            await self._put_back(worker)
        if exchange.reply is not None:
            self._replied.add(worker.program)
        return exchange

    async def _taken(self, command: Command) -> Worker | Completed:
        wanted = program_of(command)
        while worker := next((one for one in reversed(self._idle) if one.program == wanted), None):
            self._idle.remove(worker)
            if await worker.is_alive():
                return worker
            await self._end(worker)
        return await self._started(command)

    async def _started(self, command: Command) -> Worker | Completed:
        began = time.perf_counter()
        session = await self._sandbox.open(replace(command, timeout_s=_LIFETIME_S))
        if isinstance(session, Completed):
            return session
        spawn_ms = (time.perf_counter() - began) * 1000
        worker = Worker(session, command, spawn_ms=spawn_ms, max_trials=self._max_trials)
        self._running.add(worker)
        return worker

    async def _put_back(self, worker: Worker) -> None:
        if not worker.is_usable:
            await self._end(worker)
            return
        self._idle.append(worker)
        if len(self._idle) > max(_MAX_IDLE, self._most_at_once):
            await self._end(self._idle.pop(0))

    async def _end(self, worker: Worker) -> None:
        await worker.aclose()
        self._running.discard(worker)


def program_of(command: Command) -> Program:
    """Say which program a command runs."""
    return command.folder, command.argv


def _last_look(cause: Cause, reader: ReplyReader, ended: Completed | None) -> str | None:
    """Look for a reply that the end brought or the layout hid; say why a reply cannot be taken for one."""
    if cause is Cause.TIMED_OUT:
        reader.look_at_all()
        return reader.misfit if reader.reply is None else _HIDDEN
    if cause is Cause.ENDED and ended is not None and ended.exit_code == 0:
        reader.look_at_all()
    return reader.misfit


def _done(
    cause: Cause, reader: ReplyReader, ended: Completed | None, stderr: bytes, duration_ms: float
) -> Completed:
    """Say how the program did in this request; that we end it after its reply is nothing that it did."""
    seen = Completed(
        exit_code=None,
        stdout=reader.printed,
        stderr=stderr,
        duration_ms=duration_ms,
        spawn_ms=0.0,
        timed_out=cause is Cause.TIMED_OUT,
        output_limit=cause is Cause.OUTPUT_LIMIT,
        stdout_bytes=len(reader),
        stderr_bytes=len(stderr),
    )
    if ended is None or cause is Cause.REPLIED:
        return seen
    return replace(seen, exit_code=ended.exit_code, limit=ended.limit, limit_value=ended.limit_value)
