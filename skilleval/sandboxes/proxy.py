"""The one way out of a network-less sandbox: an HTTP proxy on a unix socket that lets named hosts through."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import select
import socket
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol, runtime_checkable
from urllib.parse import unquote, urlsplit

from skilleval.sandboxes.doors import socket_folder

_PORTS = (80, 443)
_MAX_HEAD_BYTES = 65536
_HEAD_S = 10.0
_CONNECT_S = 10.0
_CHUNK = 65536
_LINGER_S = 10.0  # what a side that sent all it had waits for the other's next bytes
_MAX_CONNECTIONS = 256  # two descriptors each, of the 1024 that a process usually has
_MAX_OF_ONE = 64
_MAX_REFUSED = 1000
_MAX_TOLD = 20
_MAX_HOST = 255
_PEER = struct.Struct("3i")
_HOP = ("host", "connection", "keep-alive")
_PART = 10  # characters of a key that stand in no name by chance
_SHORTEST_KEY = 6
_MASK = "***"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Target:
    """A host, in lower case and without a final dot, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        """Write as in an address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


OTHERS: Final = Target("others", 0)
"""Stands for all further hosts, once a thousand were refused: a program can make up as many as it likes."""


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

    def __init__(self, allowed: Sequence[str], keys: Sequence[str] = ()) -> None:
        """Let the hosts of an allow-list through; names of others are told without what they hold of the `keys`."""
        self._allowed = frozenset(target for entry in allowed for target in targets(entry))
        self._keys = tuple(key.strip().lower() for key in keys if len(key.strip()) >= _SHORTEST_KEY)
        self._folder: TemporaryDirectory[str] | None = None
        self._passages: dict[Target, Passage] = {}
        self._n_refused = 0
        self._told_full: set[int] = set()
        self._open: dict[asyncio.Task[None], int] = {}
        self._server: asyncio.Server | None = None

    @property
    def socket(self) -> Path:
        """Where it listens, once it has started."""
        assert self._folder is not None, "start() comes first"
        return Path(self._folder.name) / "socket"

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What was asked of it, by target."""
        return tuple(sorted(self._passages.values(), key=lambda one: str(one.target)))

    async def start(self) -> None:
        """Listen; asked again, do nothing.

        Raises:
            OSError: there is no place for its socket.
        """
        if self._folder is None:
            self._folder = socket_folder("skilleval-proxy-")
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
        if self._folder is not None:
            self._folder.cleanup()

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        program = _program(writer)
        try:
            if full := self._full(program):
                _refuse(writer, "503 Service Unavailable", full)
                return
            self._open[task] = program
            await self._served(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # a connection that breaks says nothing to anybody but the program
        except asyncio.CancelledError:
            pass  # only `aclose` cancels; asyncio of Python 3.11 would print a traceback for each
        finally:
            self._open.pop(task, None)
            writer.close()

    def _full(self, program: int) -> str:
        """Say why no further connection is taken; empty where there is room. The log is told once a program."""
        if Counter(self._open.values())[program] >= _MAX_OF_ONE:
            reason = f"this program has {_MAX_OF_ONE} connections through sandbox.allow_hosts already"
        elif len(self._open) >= _MAX_CONNECTIONS:
            reason = f"all programs together have {_MAX_CONNECTIONS} connections through sandbox.allow_hosts"
        else:
            return ""
        if program not in self._told_full and len(self._told_full) < _MAX_TOLD:
            self._told_full.add(program)
            _log.warning("a connection of a program in the sandbox is refused: %s", reason)
        return reason

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_S):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.LimitOverrunError:
            _refuse(writer, "431 Request Header Fields Too Large", f"at most {_MAX_HEAD_BYTES} bytes")
            return
        asked = _asked(head)
        if asked is None:
            _refuse(
                writer, "400 Bad Request", "this is a proxy: CONNECT host:port or an absolute http address"
            )
            return
        passage = self._passage(asked)
        if not passage.allowed:
            _refuse(writer, "403 Forbidden", f"{passage.target} is not in sandbox.allow_hosts")
            return
        try:
            async with asyncio.timeout(_CONNECT_S):
                far_reader, far_writer = await asyncio.open_connection(asked.host, asked.port)
        except (OSError, TimeoutError, UnicodeError) as error:
            _refuse(writer, "502 Bad Gateway", f"{asked} cannot be reached: {error or 'it does not answer'}")
            return
        try:
            if head.startswith("CONNECT "):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far_writer.write(_forwarded(head))
            there = _Flow(reader, far_writer, passage, "sent_bytes")
            back = _Flow(far_reader, writer, passage, "received_bytes")
            await _carried(there, back)
        finally:
            far_writer.close()

    def _passage(self, asked: Target) -> Passage:
        is_allowed = asked in self._allowed
        if not is_allowed:
            asked = Target(_masked(asked.host, self._keys), asked.port)
        if not is_allowed and asked not in self._passages and self._n_refused >= _MAX_REFUSED:
            asked = OTHERS
        passage = self._passages.get(asked)
        if passage is None:
            passage = self._passages[asked] = Passage(target=asked, allowed=is_allowed)
            self._n_refused += not is_allowed
            self._tell(passage)
        passage.n_connections += 1
        return passage

    def _tell(self, passage: Passage) -> None:
        if passage.allowed:
            _log.info("a program in the sandbox reaches %s", passage.target)
        elif self._n_refused <= _MAX_TOLD:
            more = "; further ones are not told here" if self._n_refused == _MAX_TOLD else ""
            _log.warning(
                "a program in the sandbox tried to reach %s, which sandbox.allow_hosts does not name%s",
                passage.target,
                more,
            )


def _program(writer: asyncio.StreamWriter) -> int:
    """Tell programs apart by the process of their relay; 0 where the system does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    door = writer.get_extra_info("socket")
    pid, _, _ = _PEER.unpack(door.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return int(pid)


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
    if not _is_speakable(parts.hostname) or port is None or (method != "CONNECT" and parts.scheme != "http"):
        return None
    return _target(parts.hostname or "", port)


def _is_speakable(host: str | None) -> bool:
    """Say whether a host may stand in logs and results as it is."""
    return host is not None and 0 < len(host) <= _MAX_HOST and host.isascii() and host.isprintable()


def _masked(host: str, keys: Sequence[str]) -> str:
    """Give a name without keys and parts of keys: what a program asks for is stored, and could carry them out."""
    plain = unquote(host).lower()
    masked = _without_keys(plain, keys)
    return host if masked == plain else masked if plain == host else _MASK


def _without_keys(host: str, keys: Sequence[str]) -> str:
    for key in keys:
        host = host.replace(key, _MASK)
    return ".".join(_MASK if _has_part(label, keys) else label for label in host.split("."))


def _has_part(label: str, keys: Sequence[str]) -> bool:
    parts = (label[start : start + _PART] for start in range(len(label) - _PART + 1))
    return any(part in key for part in parts for key in keys)


def _forwarded(head: str) -> bytes:
    """Write the request as its server expects it: the path alone, nothing meant for us, one request a connection.

    The server is told the name that was allowed, whatever the program wrote: it may serve others by other names.
    """
    first, *fields = head.removesuffix("\r\n\r\n").split("\r\n")
    method, address, version = first.split(" ")
    parts = urlsplit(address)
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    host = f"Host: {parts.netloc.rpartition('@')[2]}"
    kept = [field for field in fields if not _is_ours(field)]
    lines = [f"{method} {path} {version}", host, *kept, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _is_ours(field: str) -> bool:
    """Say whether a field is the proxy's to write or read; so is a continued line, which no program writes any more."""
    name = field.partition(":")[0].strip().lower()
    return name in _HOP or name.startswith("proxy-") or field.startswith((" ", "\t"))


def _refuse(writer: asyncio.StreamWriter, status: str, reason: str) -> None:
    body = f"skilleval: {reason}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + body)


async def _carried(there: _Flow, back: _Flow) -> None:
    """Carry bytes both ways until both sides have sent all, or one did and nothing more comes for it."""
    tasks = {asyncio.create_task(flow.run()) for flow in (there, back)}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        n_before = -1
        # A program that ended reads no answer; of one that only sent all it had, the same cannot be known.
        while there.n_bytes + back.n_bytes > n_before and not back.is_sink_gone:
            n_before = there.n_bytes + back.n_bytes
            _, running = await asyncio.wait(tasks, timeout=_LINGER_S)
            if not running:
                return
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Flow:
    """The bytes of one way; at their end the other side is told so."""

    def __init__(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, passage: Passage, count: str
    ) -> None:
        self._source = source
        self._sink = sink
        self._passage = passage
        self._count = count
        self.n_bytes = 0

    async def run(self) -> None:
        """Carry all there is."""
        with contextlib.suppress(OSError):
            while data := await self._source.read(_CHUNK):
                self.n_bytes += len(data)
                setattr(self._passage, self._count, getattr(self._passage, self._count) + len(data))
                self._sink.write(data)
                await self._sink.drain()
        if self._sink.can_write_eof():
            with contextlib.suppress(OSError):
                self._sink.write_eof()

    @property
    def is_sink_gone(self) -> bool:
        """Whether nobody is at the other end of the sink, a unix socket."""
        descriptor = self._sink.get_extra_info("socket").fileno()
        if descriptor < 0:
            return True
        ready = select.poll()
        ready.register(descriptor, 0)
        return bool(ready.poll(0))
