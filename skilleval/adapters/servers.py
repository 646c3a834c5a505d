"""Starts a skill's own HTTP server, watches it, starts it again when it died, and ends it with all it started.

The server runs in the sandbox like any program; the sandbox ends its whole tree when the task that watches it is
cancelled, so nothing is left alive, however a run ends.
"""

from __future__ import annotations

import asyncio
import socket
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from skilleval.adapters.http_endpoint import PORT, Serve
from skilleval.adapters.http_reply import Failure, Redaction, nothing_redacted
from skilleval.adapters.server_probe import HOST, Address, probed
from skilleval.adapters.text import EXCERPT_BYTES, decoded
from skilleval.domain.attempts import Status
from skilleval.sandboxes.base import Command, Completed, Exposure, Sandbox, Session
from skilleval.sandboxes.doors import Pin, socket_folder

_AS_LONG_AS_IT_TAKES_S = 7 * 24 * 3600.0
_PAUSE_S = 0.02
_DIED = "server_died"
_LAST_BREATH_S = 0.5  # a lost connection is noticed before the end of the process behind it


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """How long a start may take, and how often a server is started again."""

    start_timeout_s: float
    max_restarts: int


class SkillServer:
    """The server of one skill. Nothing runs before the first `address`."""

    def __init__(
        self,
        serve: Serve,
        folder: Path,
        sandbox: Sandbox,
        limits: ServerLimits,
        *,
        redacted: Redaction = nothing_redacted,
    ) -> None:
        """Take what there is to start; `redacted` takes the token out of what is told of the server."""
        self._serve = serve
        self._redacted = redacted
        self._folder = folder
        self._sandbox = sandbox
        self._limits = limits
        self._starting: asyncio.Task[Address | Failure] | None = None
        self._running: asyncio.Task[Completed] | None = None
        self._session: Session | None = None
        self._n_starts = 0
        self._was_up = False
        self._failure: Failure | None = None
        self._printed = bytearray()
        self._sockets: TemporaryDirectory[str] | None = None
        self._pins: list[Pin] = []

    async def address(self) -> Address | Failure:
        """Say where the running server is reached, which is started where none runs; or say why there is none.

        All who ask during a start share its outcome, and it goes on when one of them is cancelled.
        """
        starting = self._starting
        if starting is None or (starting.done() and not self._is_up):
            starting = self._starting = asyncio.create_task(self._start())
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
            kind=_DIED,
            message=self._said(f"the server ended during the call{_how(running.result())}"),
        )

    def log(self) -> str:
        """Give the end of what the server printed: on stdout, then on stderr."""
        errors = b"" if self._session is None else self._session.stderr
        printed = self._redacted(decoded(bytes(self._printed))[0], is_cut_before=_is_cut(self._printed))
        return printed + self._redacted(decoded(errors)[0], is_cut_before=_is_cut(errors))

    async def aclose(self) -> None:
        """End the server and all it started."""
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        await self._stop()
        for pin in self._pins:
            pin.close()
        if self._sockets is not None:
            self._sockets.cleanup()

    @property
    def _is_up(self) -> bool:
        return self._running is not None and not self._running.done()

    async def _start(self) -> Address | Failure:
        if self._n_starts > self._limits.max_restarts:
            return self._gave_up()
        self._n_starts += 1
        try:
            address = self._new_address()
        except OSError as error:
            self._failure = self._no_start(f"sandbox_failed: {error.filename}: {error.strerror}")
            return self._failure
        self._running = asyncio.create_task(self._life(self._command(address)))
        met: Address | Failure | None = None
        try:
            met = await self._ready(self._running, address)
        finally:
            if not isinstance(met, Address):  # not ready, or the run ends
                await self._stop()
        self._failure = met if isinstance(met, Failure) else None
        self._was_up = self._was_up or self._failure is None
        return met

    def _new_address(self) -> Address:
        if self._sandbox.shares_network:
            return Address(_free_port())
        if self._sockets is None:
            self._sockets = socket_folder("skilleval-server-")
        return Address(_free_port(), Path(self._sockets.name) / str(self._n_starts))

    def _command(self, address: Address) -> Command:
        port, door = address.port, address.socket
        return Command(
            argv=tuple(word.replace(PORT, str(port)) for word in self._serve.command),
            folder=self._folder,
            env={"PORT": str(port)},
            stdin=b"",
            timeout_s=_AS_LONG_AS_IT_TAKES_S,
            max_output_bytes=EXCERPT_BYTES,
            exposes=Exposure(port=port, socket=door),
        )

    async def _life(self, command: Command) -> Completed:
        """Run the server to its end, keeping the last it prints; a cancellation ends it."""
        self._printed.clear()
        session = await self._sandbox.open(command)
        if isinstance(session, Completed):
            return session
        self._session = session
        try:
            while piece := await session.receive():
                self._printed += piece
                del self._printed[:-EXCERPT_BYTES]
            await session.ended()
        finally:
            completed = await session.aclose()
        return completed

    async def _stop(self) -> None:
        running = self._running
        if running is not None and not running.done():
            running.cancel()
            await asyncio.wait({running})

    async def _ready(self, running: asyncio.Task[Completed], address: Address) -> Address | Failure:
        deadline = time.monotonic() + self._limits.start_timeout_s
        answer = "nothing answered"
        met: Address | None = None
        while time.monotonic() < deadline:
            if running.done():
                return self._ended_early(running)
            met = met or self._pinned(address)
            if met is not None:
                answer = await probed(met, self._serve.ready, deadline - time.monotonic())
                if not answer:
                    return met
            await asyncio.wait({running}, timeout=_PAUSE_S)
        limit = f"within {self._limits.start_timeout_s:g} s"
        return self._not_up(f"the server was not ready {limit}: {answer}")

    def _pinned(self, address: Address) -> Address | None:
        """Say where the server is met: never at a path in which it could put something else; null before that."""
        if address.socket is None:
            return address
        try:
            pin = Pin(address.socket)
        except OSError:
            return None
        self._pins.append(pin)
        return Address(address.port, pin.path)

    def _ended_early(self, running: asyncio.Task[Completed]) -> Failure:
        completed = running.result()
        if completed.not_started:
            return self._no_start(completed.not_started)
        # A program that ends instead of serving is broken, wherever it runs.
        what = f"the server ended before it was ready{_how(completed)}"
        return Failure(kind=_DIED, message=self._said(what), retryable=self._can_restart)

    def _no_start(self, not_started: str) -> Failure:
        kind, _, reason = not_started.partition(": ")
        message = f"the server could not be started: {reason}"
        if kind == "program_missing":
            return Failure(kind=kind, message=message, retryable=False)
        if kind == "program_not_found":
            return Failure(kind=kind, message=message, status=Status.UNSUPPORTED, retryable=False)
        return self._not_up(message)

    def _not_up(self, what: str) -> Failure:
        return Failure(
            kind="server_not_ready",
            message=self._said(what),
            status=Status.SANDBOX_ERROR,
            retryable=self._can_restart,
        )

    @property
    def _can_restart(self) -> bool:
        return self._n_starts <= self._limits.max_restarts

    def _gave_up(self) -> Failure:
        """Refuse one more start: a server that keeps dying is a bad answer, one that was never ready is none."""
        if self._was_up:
            what = f"the server died {self._n_starts} times and is not started again"
            return Failure(kind=_DIED, message=self._said(what), retryable=False)
        last = self._failure or self._not_up("")
        what = f"the server did not come up in {self._n_starts} starts"
        return replace(last, message=self._said(what), retryable=False)

    def _said(self, what: str) -> str:
        last_words = self.log().strip().rpartition("\n")[2]
        return f"{what}: {last_words}" if last_words else what


def _how(completed: Completed) -> str:
    code = completed.exit_code
    if completed.limit is not None:
        resource = completed.limit.replace("_", " ")
        return f" (at the sandbox's limit of {resource}: {completed.limit_value})"
    if code is None:
        return ""
    return f" (signal {-code})" if code < 0 else f" (exit code {code})"


def _is_cut(kept: bytes | bytearray) -> bool:
    return len(kept) >= EXCERPT_BYTES


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
