from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from naps import Nap
from samples import skill

from skilleval.adapters.base import Call
from skilleval.adapters.http import HttpAdapter
from skilleval.adapters.http_endpoint import HttpOptions
from skilleval.adapters.subprocess_rpc import SubprocessAdapter, SubprocessOptions
from skilleval.domain.attempts import Reply
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions


@pytest.fixture
def nap() -> Iterator[Nap]:
    """Give a nap; whoever still takes it after the test fails the test."""
    nap = Nap()
    yield nap
    assert nap.wake() == []


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Call]:
    """Give what makes a call of a skill that lives in a folder of its own."""

    def made(
        entrypoint: str = "none",
        *,
        skill_id: str = "adder",
        adapter_options: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> Call:
        own = adapter_options or {}
        values: dict[str, Any] = {
            "skill": skill(skill_id, entrypoint=entrypoint, folder=tmp_path, adapter_options=own),
            "task_id": "t1",
            "input": {"a": 1},
            "repeat": 0,
            "seed": 0,
            "try_index": 0,
            "timeout_s": 20.0,
            "trial_id": "0" * 32,
        }
        return Call(**(values | changes))

    return made


@pytest.fixture
def invoke(call: Callable[..., Call]) -> Callable[..., Reply]:
    """Give what invokes an entrypoint for real."""

    def reply(entrypoint: str, *, max_output_bytes: int = 1_000_000, **changes: Any) -> Reply:
        options = SubprocessOptions(max_output_bytes=max_output_bytes)
        adapter = SubprocessAdapter(options, NoSandbox(NoSandboxOptions(pass_env=())))
        return asyncio.run(adapter.invoke(call(entrypoint, **changes)))

    return reply


@pytest.fixture
def invoke_printing(tmp_path: Path, invoke: Callable[..., Reply]) -> Callable[..., Reply]:
    """Give what invokes a program that writes these bytes and exits with this code."""

    def reply(stdout: bytes, *, exit_code: int = 0, **changes: Any) -> Reply:
        (tmp_path / "stdout").write_bytes(stdout)
        return invoke(f'sh -c "cat stdout; exit {exit_code}"', **changes)

    return reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as a server saw it; `peer` is the client's end of the connection."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    peer: tuple[str, int]


@dataclass
class Loopback:
    """A real HTTP server on this machine: says what it is told to say and keeps what it was asked."""

    url: str = ""
    status: int = 200
    body: bytes = b'{"sum":3}'
    headers: dict[str, str] = field(default_factory=dict)
    seen: list[Asked] = field(default_factory=list)
    later: list[tuple[int, bytes, dict[str, str]]] = field(default_factory=list)
    """What is said first, one answer a request; after that what stands above."""


def _handler(server: Loopback) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            peer = (str(self.client_address[0]), int(self.client_address[1]))
            server.seen.append(
                Asked(method=self.command, path=self.path, headers=headers, body=body, peer=peer)
            )
            waiting = server.later
            status, said, more = waiting.pop(0) if waiting else (server.status, server.body, server.headers)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(said)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    methods = ("GET", "POST", "PUT", "PATCH", "DELETE")
    return type("Handler", (Answering,), {f"do_{method}": Answering.answer for method in methods})


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    """Give a server that answers `{"sum":3}` until it is told otherwise."""
    server = Loopback()
    real = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    server.url = f"http://127.0.0.1:{real.server_address[1]}"
    thread = threading.Thread(target=real.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    real.shutdown()
    thread.join()
    real.server_close()


Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def _raw_server(answer: Answer) -> AsyncIterator[str]:
    handling: set[asyncio.Task[None]] = set()

    async def handled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await answer(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handling.add(asyncio.create_task(handled(reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()
        if handling:
            await asyncio.wait_for(asyncio.gather(*handling), timeout=60)


@pytest.fixture
def raw_server() -> Callable[[Answer], AbstractAsyncContextManager[str]]:
    """Give what opens a server that treats each connection as told; it is hung up afterwards."""
    return _raw_server


@pytest.fixture
def http_options() -> Callable[..., HttpOptions]:
    """Give what makes the options of the http adapter."""

    def made(**changes: Any) -> HttpOptions:
        values: dict[str, Any] = {
            "base_url": "",
            "method": "POST",
            "headers": {},
            "auth_type": "none",
            "auth_token_env_key": "",
            "auth_header": "",
            "skill_token_env_keys": ("SKILL_*",),
            "max_output_bytes": 100_000,
            "connect_timeout_ms": 5000.0,
            "max_redirects": 3,
            "max_retry_after_s": 60.0,
            "use_proxy_env": False,
            "start_timeout_ms": 60_000.0,
            "max_restarts": 1,
        }
        return HttpOptions(**(values | changes))

    return made


@pytest.fixture
def http_adapter(http_options: Callable[..., HttpOptions]) -> Callable[..., HttpAdapter]:
    """Give what makes an http adapter in an environment of its own."""

    def made(environ: Mapping[str, str] | None = None, **changes: Any) -> HttpAdapter:
        sandbox = NoSandbox(NoSandboxOptions(pass_env=()))
        return HttpAdapter(http_options(**changes), sandbox, environ=environ or {})

    return made


@pytest.fixture
def ask(call: Callable[..., Call], http_adapter: Callable[..., HttpAdapter]) -> Callable[..., Reply]:
    """Give what asks an entrypoint over HTTP, with options of the adapter and of the skill."""

    def reply(
        entrypoint: str,
        *,
        own: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        changes: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Reply:
        async def asked() -> Reply:
            adapter = http_adapter(environ, **options)
            made = call(entrypoint, adapter_options=own or {}, **(changes or {}))
            try:
                return await adapter.invoke(made)
            finally:
                await adapter.aclose()

        return asyncio.run(asked())

    return reply
