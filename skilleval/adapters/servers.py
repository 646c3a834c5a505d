"""Starts a skill's own HTTP server, watches it, starts it again when it died, and ends it with all it started.

The server runs through the sandbox like any program; the sandbox ends its whole tree when the task that runs it is
cancelled, so nothing is left alive, however a run ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from skilleval.adapters.http_endpoint import PORT, Serve
from skilleval.adapters.http_reply import Failure
from skilleval.adapters.server_start import NOT_FOUND
from skilleval.adapters.text import EXCERPT_BYTES, decoded
from skilleval.domain import Status
from skilleval.sandboxes.base import Command, Completed, Sandbox

_HOST = "127.0.0.1"
_START = str(Path(__file__).with_name("server_start.py"))
_AS_LONG_AS_IT_TAKES_S = 7 * 24 * 3600.0
_STRAY_OUTPUT_BYTES = 65536  # outputs go to the log; only a program that cannot start writes elsewhere
_MAX_LOG_BYTES = 1_000_000
_PROBE_S = 2.0
_PAUSE_S = 0.02
_LAST_BREATH_S = 0.5  # a lost connection is noticed before the end of the process behind it


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """How long a start may take, and how often a server is started again."""

    start_timeout_s: float
    max_restarts: int


class SkillServer:
    """The server of one skill. Nothing runs before the first `port`."""

    def __init__(self, serve: Serve, folder: Path, sandbox: Sandbox, limits: ServerLimits) -> None:
        self._serve = serve
        self._folder = folder
        self._sandbox = sandbox
        self._limits = limits
        self._starting: asyncio.Task[int | Failure] | None = None
        self._running: asyncio.Task[Completed] | None = None
        self._port = 0
        self._n_starts = 0
        self._was_up = False
        self._logs = tempfile.TemporaryDirectory(prefix="skilleval-server-", ignore_cleanup_errors=True)
        self._log = Path(self._logs.name) / "log"

    async def port(self) -> int | Failure:
        """Give the port of the running server, which is started where none runs; or say why there is none.

        All who ask during a start share its outcome, and it goes on when one of them is cancelled.
        """
        starting = self._starting
        if starting is None or (starting.done() and not self._is_up):
            starting = self._starting = asyncio.create_task(self._start())
        self._trim_log()
        return await asyncio.shield(starting)

    async def death(self) -> Failure | None:
        """Say that the server is dead, if it is or dies within a moment: what a lost connection may mean."""
        running = self._running
        if running is None:
            return None
        await asyncio.wait({running}, timeout=_LAST_BREATH_S)
        if not running.done():
            return None
        return Failure(
            kind="server_died",
            message=self._said(f"the server ended during the call{_how(running.result())}"),
        )

    def log_tail(self) -> bytes:
        """Give the end of what the server printed."""
        try:
            with self._log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - EXCERPT_BYTES))
                return file.read()
        except FileNotFoundError:
            return b""

    async def aclose(self) -> None:
        """End the server and all it started."""
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        await self._stop()
        self._logs.cleanup()

    @property
    def _is_up(self) -> bool:
        return self._running is not None and not self._running.done()

    async def _start(self) -> int | Failure:
        if self._n_starts > self._limits.max_restarts:
            return self._gave_up()
        self._n_starts += 1
        self._port = _free_port()
        self._running = asyncio.create_task(self._sandbox.run(self._command()))
        failure: Failure | None = None
        is_up = False
        try:
            failure = await self._ready(self._running)
            is_up = failure is None
        finally:
            if not is_up:  # not ready, or the run ends
                await self._stop()
        self._was_up = self._was_up or is_up
        return failure or self._port

    def _command(self) -> Command:
        program = [word.replace(PORT, str(self._port)) for word in self._serve.command]
        return Command(
            argv=(sys.executable, "-I", "-S", _START, str(self._log), *program),
            folder=self._folder,
            env={"PORT": str(self._port)},
            stdin=b"",
            timeout_s=_AS_LONG_AS_IT_TAKES_S,
            max_output_bytes=_STRAY_OUTPUT_BYTES,
        )

    async def _stop(self) -> None:
        running = self._running
        if running is not None and not running.done():
            running.cancel()
            await asyncio.wait({running})

    async def _ready(self, running: asyncio.Task[Completed]) -> Failure | None:
        deadline = time.monotonic() + self._limits.start_timeout_s
        answer = "nothing answered"
        while time.monotonic() < deadline:
            if running.done():
                return self._ended_early(running)
            answer = await _probed(self._port, self._serve.ready, deadline - time.monotonic())
            if not answer:
                return None
            await asyncio.wait({running}, timeout=_PAUSE_S)
        limit = f"within {self._limits.start_timeout_s:g} s"
        return self._not_up(f"the server was not ready {limit}: {answer}")

    def _ended_early(self, running: asyncio.Task[Completed]) -> Failure:
        completed = running.result()
        if completed.not_started:
            return self._not_up(f"the server could not be started: {completed.not_started}")
        if completed.exit_code == NOT_FOUND:
            return self._no_program()
        return self._not_up(f"the server ended before it was ready{_how(completed)}")

    def _no_program(self) -> Failure:
        message = self._said("the server could not be started")
        if "/" in self._serve.command[0]:
            return Failure(kind="program_missing", message=message, retryable=False)
        return Failure(kind="program_not_found", message=message, status=Status.UNSUPPORTED, retryable=False)

    def _not_up(self, what: str) -> Failure:
        can_help = self._n_starts <= self._limits.max_restarts
        return Failure(
            kind="server_not_ready",
            message=self._said(what),
            status=Status.SANDBOX_ERROR,
            retryable=can_help,
        )

    def _gave_up(self) -> Failure:
        """Refuse one more start: a server that never was there is no answer, one that keeps dying is a bad one."""
        if self._was_up:
            what = f"the server died {self._n_starts} times and is not started again"
            return Failure(kind="server_died", message=self._said(what), retryable=False)
        return self._not_up(f"the server did not come up in {self._n_starts} starts")

    def _said(self, what: str) -> str:
        last_words = decoded(self.log_tail())[0].strip().rpartition("\n")[2]
        return f"{what}: {last_words}" if last_words else what

    def _trim_log(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            if self._log.stat().st_size > _MAX_LOG_BYTES:
                os.truncate(self._log, 0)


def _how(completed: Completed) -> str:
    code = completed.exit_code
    return f" (signal {-code})" if code is not None and code < 0 else f" (exit code {code})"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


async def _probed(port: int, ready: str, patience_s: float) -> str:
    """Give what stands against calling the server ready; empty where nothing does."""
    try:
        async with asyncio.timeout(min(_PROBE_S, max(patience_s, 0.0))):
            reader, writer = await asyncio.open_connection(_HOST, port)
            try:
                return "" if ready == "tcp" else await _refusal(reader, writer, ready)
            finally:
                writer.close()
    except TimeoutError:
        return f"{ready} did not answer"
    except (OSError, ValueError) as error:
        return str(error) or type(error).__name__


async def _refusal(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> str:
    head = f"GET {path} HTTP/1.1\r\nHost: {_HOST}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode())
    line = (await reader.readline()).decode("latin-1").strip()
    words = line.split(maxsplit=2)
    if len(words) > 1 and words[0].startswith("HTTP/") and words[1].startswith("2"):
        return ""
    return f"GET {path} answered {line[:80] or 'nothing'}"
