"""Asks a server whether it is ready, on its port or at the unix socket of a sandbox that has its own network."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
_PROBE_S = 2.0
_LISTENS_S = 0.1


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is reached: its port, or the socket that leads there."""

    port: int
    socket: Path | None = None


async def probed(address: Address, ready: str, patience_s: float) -> str:
    """Give what stands against calling the server ready; empty where nothing does.

    It is ready when it answers GET with 2xx on the path `ready`; for `tcp` when it takes a connection.
    """
    try:
        async with asyncio.timeout(min(_PROBE_S, max(patience_s, 0.0))):
            reader, writer = await _connected(address)
            try:
                return await (
                    _silence(reader, address) if ready == "tcp" else _refusal(reader, writer, ready)
                )
            finally:
                writer.close()
    except TimeoutError:
        return f"{ready} did not answer"
    except (OSError, ValueError) as error:
        return str(error) or type(error).__name__


async def _connected(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if address.socket is None:
        return await asyncio.open_connection(HOST, address.port)
    return await asyncio.open_unix_connection(address.socket)


async def _silence(reader: asyncio.StreamReader, address: Address) -> str:
    if address.socket is None:
        return ""
    # Before the server listens, its socket takes connections too, and closes them at once.
    try:
        async with asyncio.timeout(_LISTENS_S):
            return "" if await reader.read(1) else "nothing listens on its port"
    except TimeoutError:
        return ""


async def _refusal(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> str:
    head = f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode())
    line = (await reader.readline()).decode("latin-1").strip()
    words = line.split(maxsplit=2)
    if len(words) > 1 and words[0].startswith("HTTP/") and words[1].startswith("2"):
        return ""
    return f"GET {path} answered {line[:80] or 'nothing'}"
