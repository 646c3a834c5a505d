"""Talks with a server that is a program: one JSON message a line, through the sandbox like any program of a skill."""

from __future__ import annotations

import asyncio
import json
import math
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from skilleval.adapters.http_reply import Failure
from skilleval.adapters.mcp.line import Traffic
from skilleval.adapters.text import EXCERPT_BYTES, decoded, excerpt, parsed_json
from skilleval.domain.attempts import Status
from skilleval.sandboxes.base import Command, Completed, Sandbox, Session

_LAST_BREATH_S = 0.5  # whoever closes its stdout is about to end, or has hung up
_GRACE_S = 0.5  # for a server to leave by itself once its stdin is closed
_NOT_STARTED = {
    "program_not_found": Status.UNSUPPORTED,  # this machine lacks the interpreter: not the skill's fault
    "program_missing": Status.SKILL_ERROR,  # the skill names a file that it does not have
}

Received = SessionMessage | Exception


class ProgramLine:
    """The stdin and stdout of a server that lives as long as the line is open."""

    def __init__(self, sandbox: Sandbox, command: Command) -> None:
        """Take what there is to start; its `max_output_bytes` hold for each request."""
        self._sandbox = sandbox
        self._command = command
        self._session: Session | None = None
        self._ending: Completed | None = None
        self._noise = bytearray()
        self._n_wrong = 0
        self._n_bytes = 0
        self._n_errors = 0
        self._is_over = False
        self._has_left = False
        self._is_flooded = False
        self._is_given_up = False

    def opened(self) -> Transport:
        """Start the program, for as long as the context lasts."""
        return self._streams()

    def begin(self) -> None:
        """Begin a request: traffic counts from here on."""
        self._n_bytes = self._n_wrong = 0
        self._noise.clear()
        self._n_errors = len(self._stderr)

    def give_up(self) -> None:
        """Close without a farewell: the server has had its time."""
        self._is_given_up = True

    @property
    def is_open(self) -> bool:
        """Whether it still talks, and what it says on stderr can still be told apart by trials."""
        return not self._is_over and len(self._stderr) < self._command.max_output_bytes

    @property
    def traffic(self) -> Traffic:
        """What was heard since the request began: on stdout only what is no message."""
        return Traffic(
            n_bytes=self._n_bytes,
            n_wrong=self._n_wrong,
            stdout=excerpt(bytes(self._noise)),
            stderr=excerpt(self._stderr[self._n_errors :]),
            exit_code=self._ending.exit_code if self._has_left and self._ending is not None else None,
        )

    @property
    def failure(self) -> Failure | None:
        """How the program failed to serve; null where it did not."""
        if self._ending is not None and self._ending.not_started is not None:
            return _not_started(self._ending.not_started)
        if self._is_flooded:
            message = f"wrote at least {self._n_bytes} bytes to stdout, the limit is {self._command.max_output_bytes}"
            return Failure(kind="output_limit", message=message)
        if self._ending is None or not self._is_over:
            return None
        if not self._has_left:
            return Failure(kind="no_reply", message="the server closed its stdout without a reply")
        return _left(self._ending)

    @property
    def is_spent(self) -> bool:
        """Whether it left in peace, or at a limit that all requests shared."""
        done = self._ending
        return self._has_left and done is not None and (done.exit_code == 0 or done.limit is not None)

    def redacted(self, text: str) -> str:
        """Give a text as it is: a program of a skill is told no secret."""
        return text

    @property
    def _stderr(self) -> bytes:
        if self._ending is not None:
            return self._ending.stderr
        return b"" if self._session is None else self._session.stderr

    @asynccontextmanager
    async def _streams(
        self,
    ) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[Received], MemoryObjectSendStream[SessionMessage]]]:
        session = await self._sandbox.open(self._command)
        to_session, heard = anyio.create_memory_object_stream[Received](0)
        # Without a bound: a server that does not read must not hold up who gives up on it.
        from_session, said = anyio.create_memory_object_stream[SessionMessage](math.inf)
        tasks: list[asyncio.Task[None]] = []
        is_in_peace = False
        try:
            if isinstance(session, Completed):
                self._ending, self._is_over = session, True
                to_session.close()
            else:
                self._session = session
                tasks = [
                    asyncio.create_task(self._listen(session, to_session)),
                    asyncio.create_task(_speak(session, said)),
                ]
            yield heard, from_session
            is_in_peace = not (self._is_over or self._is_given_up)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (heard, to_session, from_session, said):
                stream.close()
            if not isinstance(session, Completed):
                try:
                    if is_in_peace:
                        await _farewell(session)
                finally:
                    self._ending = await session.aclose()

    async def _listen(self, session: Session, to_session: MemoryObjectSendStream[Received]) -> None:
        rest = b""
        with to_session, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while piece := await session.receive():
                self._n_bytes += len(piece)
                if self._n_bytes > self._command.max_output_bytes:
                    self._is_flooded = True
                    break
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    if (message := self._message(line)) is not None:
                        await to_session.send(SessionMessage(message))
            self._keep(rest)
            if not self._is_flooded:
                await self._last_breath(session)
            self._is_over = True

    async def _last_breath(self, session: Session) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_BREATH_S):
                await session.ended()
                self._has_left = True

    def _message(self, line: bytes) -> JSONRPCMessage | None:
        """Read a line; whatever stands before the message, or instead of it, is noise."""
        text, n_wrong = decoded(line)
        before, _, _ = text.partition("{")
        try:
            value = parsed_json(text[len(before) :])
            message = jsonrpc_message_adapter.validate_python(value, by_name=False)
        except (ValueError, ValidationError, RecursionError):
            self._keep(line + b"\n" if line.strip() else b"")
            return None
        self._n_wrong += n_wrong
        self._keep(before.encode(errors="replace"))
        return message

    def _keep(self, noise: bytes) -> None:
        self._noise += noise
        del self._noise[:-EXCERPT_BYTES]


async def _speak(session: Session, said: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with said:
        async for each in said:
            message = each.message.model_dump(by_alias=True, mode="python", exclude_unset=True)
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            # A lone surrogate has no UTF-8, and its backslash form is its JSON escape.
            await session.send(text.encode(errors="backslashreplace") + b"\n")


async def _farewell(session: Session) -> None:
    """Close its stdin, which asks a server to end, and give it a moment; what it says now is dropped."""
    session.end_input()
    with suppress(TimeoutError):
        async with asyncio.timeout(_GRACE_S):
            while await session.receive():
                pass
            await session.ended()


def _not_started(reason: str) -> Failure:
    kind, _, message = reason.partition(": ")
    status = _NOT_STARTED.get(kind, Status.SANDBOX_ERROR)
    return Failure(kind=kind, message=message, status=status, retryable=status is Status.SANDBOX_ERROR)


def _left(done: Completed) -> Failure:
    code = done.exit_code
    if done.limit is not None:
        resource = done.limit.replace("_", " ")
        message = f"the server reached the sandbox's limit of {resource}: {done.limit_value}"
        return Failure(kind=f"{done.limit}_limit", message=message)
    if not code:
        return Failure(kind="no_reply", message="the server ended with exit code 0 and without a reply")
    if code < 0:
        return Failure(kind="signal", message=f"the server was ended by {_signal_name(-code)}")
    return Failure(kind="exit_code", message=f"the server ended with exit code {code}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return f"signal {number}"
