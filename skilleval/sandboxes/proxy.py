"""The one way out of a network-less sandbox: an HTTP proxy on a unix socket that lets named hosts through."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

_PORTS = (80, 443)
_MAX_HEAD_BYTES = 65536
_HEAD_S = 10.0
_CONNECT_S = 10.0
_CHUNK = 65536
_MAX_CONNECTIONS = 256
_HOP = ("proxy-", "connection:", "keep-alive:")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Target:
    """A host, in lower case and without a final dot, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        """Write as in an address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(slots=True, kw_only=True)
class Passage:
    """What programs asked of one target: how often, whether it was let through, and the bytes both ways."""

    target: Target
    allowed: bool
    n_connections: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0


@runtime_checkable
class Passing(Protocol):
    """A sandbox with a way out, which knows what was asked of it."""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What programs asked of the way out, by target."""


def targets(entry: str) -> tuple[Target, ...]:
    """Read an entry of the allow-list: `host:port`, or `host` for the ports 80 and 443.

    Raises:
        ValueError: it is neither.
    """
    parts = urlsplit(f"//{entry}")
    if not parts.hostname or parts.path or parts.query or parts.fragment or "@" in entry or "*" in entry:
        msg = f"host or host:port, e.g. api.example.com:443, not {entry!r}"
        raise ValueError(msg)
    ports = _PORTS if parts.port is None else (parts.port,)
    return tuple(_target(parts.hostname, port) for port in ports)


class EgressProxy:
    """Listens on a unix socket in a folder of its own; asks the name service of this machine, not of the program."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = frozenset(target for entry in allowed for target in targets(entry))
        self._folder = tempfile.TemporaryDirectory(prefix="skilleval-proxy-", ignore_cleanup_errors=True)
        self._passages: dict[Target, Passage] = {}
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.socket = Path(self._folder.name) / "socket"

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What was asked of it, by target."""
        return tuple(sorted(self._passages.values(), key=lambda one: str(one.target)))

    async def start(self) -> None:
        """Listen; asked again, do nothing."""
        if self._server is None:
            self._server = await asyncio.start_unix_server(
                self._met, path=self.socket, limit=_MAX_HEAD_BYTES, backlog=_MAX_CONNECTIONS
            )

    async def aclose(self) -> None:
        """End all connections and take the socket away."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        self._folder.cleanup()

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._open) >= _MAX_CONNECTIONS:
            writer.close()
            return
        self._open.add(task)
        try:
            await self._served(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a connection that breaks says nothing to anybody but the program
        finally:
            self._open.discard(task)
            writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_S):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        asked = _asked(head)
        if asked is None:
            _refuse(
                writer, "400 Bad Request", "this is a proxy: CONNECT host:port or an absolute http address"
            )
            return
        passage = self._passage(asked)
        if not passage.allowed:
            _refuse(writer, "403 Forbidden", f"{asked} is not in sandbox.allow_hosts")
            return
        try:
            async with asyncio.timeout(_CONNECT_S):
                far_reader, far_writer = await asyncio.open_connection(asked.host, asked.port)
        except (OSError, TimeoutError) as error:
            _refuse(writer, "502 Bad Gateway", f"{asked} cannot be reached: {error or 'it does not answer'}")
            return
        if head.startswith("CONNECT "):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            far_writer.write(_forwarded(head))
        try:
            await asyncio.gather(
                _pump(reader, far_writer, passage, "sent_bytes"),
                _pump(far_reader, writer, passage, "received_bytes"),
            )
        finally:
            far_writer.close()

    def _passage(self, asked: Target) -> Passage:
        passage = self._passages.get(asked)
        if passage is None:
            passage = self._passages[asked] = Passage(target=asked, allowed=asked in self._allowed)
            if passage.allowed:
                _log.info("a program in the sandbox reaches %s", asked)
            else:
                _log.warning(
                    "a program in the sandbox tried to reach %s, which sandbox.allow_hosts does not name",
                    asked,
                )
        passage.n_connections += 1
        return passage


def _target(host: str, port: int) -> Target:
    return Target(host.lower().removesuffix("."), port)


def _asked(head: str) -> Target | None:
    words = head.split("\r\n", 1)[0].split(" ")
    if len(words) != 3:  # noqa: PLR2004 - method, target, version
        return None
    method, address, _ = words
    try:
        parts = urlsplit(f"//{address}" if method == "CONNECT" else address)
        port = parts.port or (80 if parts.scheme == "http" else None)
    except ValueError:
        return None
    if not parts.hostname or port is None or (method != "CONNECT" and parts.scheme != "http"):
        return None
    return _target(parts.hostname, port)


def _forwarded(head: str) -> bytes:
    """Write the request as its server expects it: the path alone, nothing meant for us, one request a connection."""
    first, *fields = head.removesuffix("\r\n\r\n").split("\r\n")
    method, address, version = first.split(" ")
    parts = urlsplit(address)
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    kept = [field for field in fields if not field.lower().startswith(_HOP)]
    return "\r\n".join([f"{method} {path} {version}", *kept, "Connection: close", "", ""]).encode("latin-1")


def _refuse(writer: asyncio.StreamWriter, status: str, reason: str) -> None:
    body = f"skilleval: {reason}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + body)


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passage: Passage, count: str
) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(_CHUNK):
            setattr(passage, count, getattr(passage, count) + len(data))
            writer.write(data)
            await writer.drain()
    if writer.can_write_eof():
        with contextlib.suppress(OSError):
            writer.write_eof()
