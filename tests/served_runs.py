"""A local page over a folder of runs, on a free port, for tests that ask it as a browser would."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

from skilleval.serving.server import listening


@contextmanager
def served(root: Path, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve a folder; give the address, without the last slash."""
    made = listening(root, host=host, port=0)
    thread = Thread(target=made.run)
    thread.start()
    try:
        yield made.address.removesuffix("/")
    finally:
        made.server.should_exit = True
        thread.join(timeout=120)
        assert not thread.is_alive()


def raw(address: str, request: bytes) -> bytes:
    """Send bytes as they are; give all that comes back."""
    host, port = address.removeprefix("http://").rsplit(":", maxsplit=1)
    answer = b""
    with socket.create_connection((host, int(port)), timeout=120) as connection, suppress(ConnectionError):
        connection.sendall(request)  # whoever has refused the beginning may not want the rest
        while more := connection.recv(65536):
            answer += more
    return answer


def asked(
    address: str, target: str, *, host: str = "127.0.0.1", method: str = "GET", more: str = ""
) -> bytes:
    """Send one request whose target nothing normalises; give the answer."""
    lines = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"
    return raw(address, lines.encode("latin-1"))
