"""One session with one server, from the handshake to its end; nothing here waits longer than its limits."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcp import ClientSession, MCPError
from mcp_types import (
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
)

from skilleval.adapters.base import Call
from skilleval.adapters.http_reply import Failure
from skilleval.adapters.mcp.line import Line
from skilleval.adapters.mcp.reply import BREAKAGE, refused, reply_of, with_last_words
from skilleval.adapters.mcp.tools import chosen_tool
from skilleval.domain.attempts import Reply, Status

_FAREWELL_S = 1.0  # for the SDK's last words and the server's own end; then it is cut off
_MAX_PAGES = 100  # a list of tools without an end must not hold up the start
_ANOTHER_ERA = frozenset({METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION})
_LOUD = ("mcp", "client")  # loggers of the SDK
_CUT = Failure(kind="connection_lost", message="the connection was lost")
"""What stands until the line says why."""


class Connection:
    """A session, held open by a task of its own: what the SDK opens must be closed by whoever opened it."""

    def __init__(self, line: Line, server: Path) -> None:
        """Take what to talk over, and what tells this server from others. Nothing happens before `start`."""
        self.server = server
        self.n_asked = 0
        self.spawn_ms: float | None = None
        self._line = line
        self._life: asyncio.Task[None] | None = None
        self._is_ready = asyncio.Event()
        self._is_over = asyncio.Event()
        self._session: ClientSession | None = None
        self._tools: tuple[str, ...] = ()
        self._refusal: Failure | None = None

    @property
    def is_usable(self) -> bool:
        """Whether another tool can be called."""
        return self._session is not None and self._line.is_open and not self._is_over.is_set()

    @property
    def is_spent(self) -> bool:
        """Whether it ended in a way that may be owed to earlier calls, and says nothing about the last one."""
        return self.n_asked > 1 and self._is_over.is_set() and self._line.is_spent

    async def start(self, limit_s: float) -> Reply | None:
        """Connect, shake hands and list the tools; where that fails, say how."""
        _hush()
        began = time.perf_counter()
        self._life = asyncio.create_task(self._live())
        ready = asyncio.create_task(self._is_ready.wait())
        try:
            await asyncio.wait({self._life, ready}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        self.spawn_ms = (time.perf_counter() - began) * 1000
        if self._is_ready.is_set():
            return None
        message = f"the server did not finish the handshake within {limit_s:g} s"
        late = Failure(kind="start_timeout", message=message, status=Status.TIMEOUT)
        failure = None if self._life.done() else late
        await self.aclose()
        failure = failure or self._line.failure or self._refusal or _CUT
        return reply_of(with_last_words(failure, self._line), self._line)

    async def call(self, call: Call) -> Reply:
        """Call the skill's tool once, within the limit of the call."""
        self.n_asked += 1
        tool = chosen_tool(call.skill, self._tools)
        if isinstance(tool, Failure):
            return tool.reply()
        self._line.begin()
        began = time.perf_counter()
        outcome = await self._outcome(tool, call)
        latency_ms = (time.perf_counter() - began) * 1000
        if isinstance(outcome, Failure):
            outcome = await self._explained(outcome)
        return replace(reply_of(outcome, self._line), latency_ms=latency_ms)

    async def aclose(self) -> None:
        """End the session and, where there is one, the server with all it started."""
        life = self._life
        if life is None:
            return
        is_talking = self.is_usable
        self._is_over.set()
        if is_talking:
            await asyncio.wait({life}, timeout=_FAREWELL_S)
        if not life.done():
            life.cancel()
            await asyncio.wait({life})
        if not life.cancelled():
            life.result()

    async def _live(self) -> None:
        ours = Implementation(name="skilleval", version=_version())
        async with (
            self._line.opened() as (read, write),
            ClientSession(read, write, client_info=ours) as session,
        ):
            self._line.begin()
            self._refusal = await self._greeted(session)
            if self._refusal is None:
                self._session = session
                self._is_ready.set()
                await self._is_over.wait()

    async def _greeted(self, session: ClientSession) -> Failure | None:
        """Shake hands and list the tools, or say why that is not possible."""
        try:
            await _shake_hands(session)
        except RuntimeError as error:
            return Failure(
                kind="protocol_version", message=str(error), status=Status.UNSUPPORTED, retryable=False
            )
        except BREAKAGE as error:
            return refused(error, "the handshake failed") or _CUT
        try:
            self._tools = await _listed(session)
        except BREAKAGE as error:
            return refused(error, "the tools cannot be listed") or _CUT
        return None

    async def _outcome(self, tool: str, call: Call) -> CallToolResult | Failure:
        assert self._session is not None
        meta: Any = {"skilleval/seed": call.seed, "skilleval/repeat": call.repeat}
        try:
            async with asyncio.timeout(call.timeout_s):
                result = await self._session.call_tool(
                    tool, dict(call.input), meta=meta, allow_input_required=True
                )
        except TimeoutError:
            message = f"not done within {call.timeout_s:g} s"
            return Failure(kind="timeout", message=message, status=Status.TIMEOUT)
        except BREAKAGE as error:
            return refused(error, f"{tool} failed") or _CUT
        if isinstance(result, CallToolResult):
            return result
        message = f"{tool} asks for input that nobody here can give"
        return Failure(kind="input_required", message=message, status=Status.UNSUPPORTED, retryable=False)

    async def _explained(self, failure: Failure) -> Failure:
        """Ask the line for a reason; after more than an unwelcome message the connection is not used again."""
        if failure.status is not Status.TIMEOUT and failure is not _CUT and self._line.failure is None:
            return failure
        self._line.give_up()
        await self.aclose()
        if failure.status is not Status.TIMEOUT:
            failure = self._line.failure or failure
        return with_last_words(failure, self._line)


async def _shake_hands(session: ClientSession) -> None:
    """Begin as every server understands; where that is of the past, begin as of 2026."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code not in _ANOTHER_ERA:
            raise
        await session.discover()


async def _listed(session: ClientSession) -> tuple[str, ...]:
    """Give the names of all tools; a server that knows no such question has none."""
    names: dict[str, None] = {}
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        try:
            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        except MCPError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            break
        names |= dict.fromkeys(tool.name for tool in page.tools)
        if not page.next_cursor or page.next_cursor == cursor:  # one that stands still leads nowhere
            break
        cursor = page.next_cursor
    return tuple(names)


def _hush() -> None:
    """Keep the SDK from printing what every reply says anyway."""
    for name in _LOUD:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


@cache
def _version() -> str:
    return version("skilleval")
