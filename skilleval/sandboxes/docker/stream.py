"""Talking with a program in a container: the engine turns an HTTP connection into its stdin, stdout and stderr."""

from __future__ import annotations

import asyncio
import json
from enum import IntEnum
from typing import Any

from skilleval.sandboxes.docker.blueprint import READY
from skilleval.sandboxes.docker.engine import Engine, EngineError

_HEAD_BYTES = 8
_CHUNK = 65536
_SWITCHED = b"101"
_END_OF_HEAD = b"\r\n\r\n"
_EXCERPT = 500


class Channel(IntEnum):
    """Where a piece of output was written to."""

    STDOUT = 1
    STDERR = 2


class Stream:
    """A connection to a program. One task reads at a time; `is_over` is set when nothing comes any more."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._channel = Channel.STDOUT
        self._left = 0
        self.is_over = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether the other side still holds the connection, as far as is known."""
        return not (self._reader.at_eof() or self._writer.is_closing())

    async def ready(self) -> None:
        """Wait until the program says that it stands.

        Raises:
            EngineError: it says something else, or nothing.
        """
        said = bytearray()
        while (piece := await self.receive()) is not None:
            said += piece[1]
            if piece[0] is Channel.STDOUT and said == READY:
                return
        text = said[:_EXCERPT].decode("utf-8", "replace").strip()
        raise EngineError(f"the container did not start: {text or 'it ended at once'}")

    async def receive(self) -> tuple[Channel, bytes] | None:
        """Give the next piece of output; null once there is no more."""
        try:
            while not self._left:
                head = await self._reader.readexactly(_HEAD_BYTES)
                self._channel = Channel.STDOUT if head[0] == Channel.STDOUT else Channel.STDERR
                self._left = int.from_bytes(head[4:], "big")
            piece = await self._reader.read(min(self._left, _CHUNK))
        except (asyncio.IncompleteReadError, OSError):
            piece = b""
        if not piece:
            self.is_over.set()
            return None
        self._left -= len(piece)
        return self._channel, piece

    async def send(self, data: bytes) -> None:
        """Write to the program's stdin; returns when all is written, or it reads no more."""
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError:  # it closed its stdin or ended: what it left unread does not matter
            return

    def end_input(self) -> None:
        """Close the program's stdin; its output goes on."""
        if self._writer.can_write_eof() and not self._writer.is_closing():
            self._writer.write_eof()

    def cut(self) -> None:
        """Close the connection at once, whatever is still in it."""
        self._writer.transport.abort()
        self.is_over.set()


async def attached(engine: Engine, name: str) -> Stream:
    """Connect with the first program of a container that has not started yet."""
    return await _upgraded(engine, f"/containers/{name}/attach?stream=1&stdin=1&stdout=1&stderr=1", None)


async def run_command(engine: Engine, command_id: str) -> Stream:
    """Start a further command of a container and connect with it."""
    return await _upgraded(engine, f"/exec/{command_id}/start", {"Detach": False, "Tty": False})


async def _upgraded(engine: Engine, path: str, body: dict[str, Any] | None) -> Stream:
    # By hand: Docker's library gives a blocking socket here that is not closed with what it belongs to.
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"POST /v{engine.api_version}{path} HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    reader, writer = await asyncio.open_unix_connection(str(engine.socket))
    is_upgraded = False
    try:
        writer.write(head.encode() + content)
        await writer.drain()
        answer = await reader.readuntil(_END_OF_HEAD)
        is_upgraded = answer.split(b" ", 2)[1] == _SWITCHED
        if not is_upgraded:
            said = await reader.read(_EXCERPT)
            raise EngineError(f"the engine gives no connection: {said.decode('utf-8', 'replace').strip()}")
    except asyncio.IncompleteReadError:
        raise EngineError("the engine closed the connection") from None
    finally:
        if not is_upgraded:
            writer.transport.abort()
    return Stream(reader, writer)
