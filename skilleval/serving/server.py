"""A server of the local page: it listens on loopback and nowhere else, until it is stopped."""

from __future__ import annotations

import errno
import logging
import socket
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from skilleval.errors import Problem, UsageError
from skilleval.serving.guard import Guard
from skilleval.serving.pages import application

LOOPBACK = ("127.0.0.1", "::1")
_WAITING = 64
_AT_ONCE = 64
_LAST_ANSWERS_S = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that has its port; `run` answers until it is stopped."""

    address: str
    port: int
    server: uvicorn.Server
    listener: socket.socket

    def run(self) -> None:
        """Answer until Ctrl-C or a signal to end; the signal is passed on afterwards."""
        with self.listener:
            self.server.run(sockets=[self.listener])


def listening(root: Path, *, host: str, port: int) -> Served:
    """Take a port of loopback, 0 for any that is free, and make ready to serve the runs below a folder.

    Raises:
        ResultsError: there is no such folder.
        UsageError: the host is not loopback, or the port cannot be had.
    """
    if host not in LOOPBACK:
        problem = Problem(where="--host", expected=f"one of {', '.join(LOOPBACK)}", found=host)
        raise UsageError("runs are shown to this machine alone", problems=(problem,))
    app = Guard(application(root))
    listener = _bound(host, port)
    taken: int = listener.getsockname()[1]
    named = f"[{host}]" if ":" in host else host
    return Served(
        address=f"http://{named}:{taken}/", port=taken, server=uvicorn.Server(_config(app)), listener=listener
    )


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise _unbound(host, port, error) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_WAITING)
    except OSError as error:
        listener.close()
        raise _unbound(host, port, error) from None
    return listener


def _unbound(host: str, port: int, error: OSError) -> UsageError:
    if error.errno == errno.EADDRINUSE:
        hint = "stop what uses it, or choose another: --port 0 takes any that is free"
        return UsageError(f"port {port} of {host} is in use", hint=hint)
    return UsageError(
        f"port {port} of {host} cannot be had: {error.strerror}", hint="choose another with --port"
    )


def _config(app: Guard) -> uvicorn.Config:
    # Its own log would tell tracebacks; what went wrong is told by our pages and our log.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)
    return uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_AT_ONCE,
        timeout_graceful_shutdown=_LAST_ANSWERS_S,
    )
