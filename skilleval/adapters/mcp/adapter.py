"""`mcp`: calls a tool of an MCP server. A program is started for each call or serves many; an address is asked."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from skilleval.adapters.base import Call, close_all
from skilleval.adapters.hidden import with_hints
from skilleval.adapters.http_endpoint import Endpoint
from skilleval.adapters.mcp.options import McpOptions, Program, read_target
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Skill
from skilleval.errors import SetupError
from skilleval.sandboxes.base import Command, Sandbox

if TYPE_CHECKING:
    from skilleval.adapters.mcp.connection import Connection
    from skilleval.adapters.mcp.line import Line

_AS_LONG_AS_IT_TAKES_S = 10 * 365 * 86400.0  # start and call have limits of their own
_MAX_IDLE = 32  # servers kept for skills whose turn comes again, where fewer calls than that run at once


class McpAdapter:
    """Calls the tool that a skill names, with the task's input as its arguments."""

    Options = McpOptions
    kind = "mcp"

    def __init__(
        self,
        options: McpOptions,
        sandbox: Sandbox,
        *,
        worker_trials: int | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._options = options
        self._sandbox = sandbox
        self._worker_trials = worker_trials
        self._environ = environ
        self._targets: dict[Path, Program | Endpoint] = {}
        self._open: set[Connection] = set()
        self._idle: list[Connection] = []
        self._most_at_once = 0

    @property
    def isolation(self) -> str:
        """`worker` where a server, or a session with one behind an address, serves many trials."""
        return "trial" if self._worker_trials is None else "worker"

    def check(self, skill: Skill) -> None:
        """Make sure that a skill can be called, before the first trial, and load what calls need.

        Raises:
            SetupError: there is neither a command line nor a usable address, or the token is not where it should
                be; it says what to do.
        """
        self._target(skill)
        import skilleval.adapters.mcp.connection  # noqa: F401 - takes a second, which no trial is to be charged

    async def invoke(self, call: Call) -> Reply:
        """Call the tool once; the start of a server is no part of the latency."""
        try:
            target = self._target(call.skill)
        except SetupError as error:
            message = "; ".join(str(problem) for problem in error.problems)
            return Reply(status=Status.UNSUPPORTED, failure_kind="not_configured", message=message)
        reply = await self._called(target, call)
        is_here = isinstance(target, Program)
        return with_hints(reply, call.skill.folder, self._sandbox) if is_here else reply

    async def aclose(self) -> None:
        """End all sessions and servers."""
        connections, self._open, self._idle = self._open, set(), []
        await close_all(connections)

    def _target(self, skill: Skill) -> Program | Endpoint:
        if skill.source not in self._targets:
            self._targets[skill.source] = read_target(self._options, skill, self._environ)
        return self._targets[skill.source]

    async def _called(self, target: Program | Endpoint, call: Call) -> Reply:
        known = await self._taken(call.skill.source)
        if known is not None:
            reply = await self._asked(known, call)
            if not known.is_spent:
                return reply
        return await self._asked_afresh(target, call)

    async def _asked_afresh(self, target: Program | Endpoint, call: Call) -> Reply:
        from skilleval.adapters.mcp.connection import Connection

        connection = Connection(self._line(target, call), call.skill.source)
        self._open.add(connection)
        self._most_at_once = max(self._most_at_once, len(self._open) - len(self._idle))
        try:
            failed = await connection.start(self._options.start_timeout_ms / 1000)
            reply = failed or await connection.call(call)
        finally:
            await self._put_back(connection)
        spawn_ms = connection.spawn_ms if isinstance(target, Program) else None
        return replace(reply, spawn_ms=spawn_ms)

    async def _asked(self, connection: Connection, call: Call) -> Reply:
        self._most_at_once = max(self._most_at_once, len(self._open) - len(self._idle))
        try:
            return await connection.call(call)
        finally:
            await self._put_back(connection)

    async def _taken(self, server: Path) -> Connection | None:
        """Give a connection to a skill's server that has nothing to do."""
        while known := next((one for one in reversed(self._idle) if one.server == server), None):
            self._idle.remove(known)
            if known.is_usable:
                return known
            await self._end(known)
        return None

    async def _put_back(self, connection: Connection) -> None:
        if connection.n_asked >= (self._worker_trials or 0) or not connection.is_usable:
            await self._end(connection)
            return
        self._idle.append(connection)
        if len(self._idle) > max(_MAX_IDLE, self._most_at_once):
            await self._end(self._idle.pop(0))

    async def _end(self, connection: Connection) -> None:
        await connection.aclose()
        self._open.discard(connection)

    def _line(self, target: Program | Endpoint, call: Call) -> Line:
        if isinstance(target, Program):
            from skilleval.adapters.mcp.stdio import ProgramLine

            return ProgramLine(self._sandbox, self._command(target, call))
        from skilleval.adapters.mcp.web import WebLine

        return WebLine(target, self._options, lambda: self._tls)

    def _command(self, program: Program, call: Call) -> Command:
        own = {"SKILLEVAL_SEED": str(call.seed), "SKILLEVAL_REPEAT": str(call.repeat)}
        return Command(
            argv=program.argv,
            folder=call.skill.folder,
            env=own if self._worker_trials is None else {},
            stdin=b"",
            timeout_s=_AS_LONG_AS_IT_TAKES_S,
            max_output_bytes=self._options.max_output_bytes,
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """The certificates: reading them takes longer than a call, so once for all sessions."""
        import httpx2

        return httpx2.create_ssl_context(trust_env=self._options.use_proxy_env)
