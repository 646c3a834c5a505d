from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from skilleval.sandboxes.proxy import EgressProxy, Passage, Target, targets

Ask = Callable[[EgressProxy, int], Awaitable[bytes]]


async def _far_host(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with the head of the request, as a web server that shows what reached it."""
    head = await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + head)
    await writer.drain()
    writer.close()


async def _asked(proxy: EgressProxy, request: str) -> bytes:
    reader, writer = await asyncio.open_unix_connection(proxy.socket)
    writer.write(request.encode())
    answer = await reader.read()
    writer.close()
    return answer


def _with_host(allowed: str, request: str) -> tuple[bytes, tuple[Passage, ...], int]:
    """Ask through a proxy; `{port}` in both texts is that of a web server on this machine."""

    async def asked() -> tuple[bytes, tuple[Passage, ...], int]:
        server = await asyncio.start_server(_far_host, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        proxy = EgressProxy([allowed.format(port=port)])
        try:
            await proxy.start()
            answer = await asyncio.wait_for(_asked(proxy, request.format(port=port)), 20)
            return answer, proxy.passages, port
        finally:
            await proxy.aclose()
            server.close()

    return asyncio.run(asked())


GET = (
    "GET http://127.0.0.1:{port}/a?b=c HTTP/1.1\r\nHost: x\r\n"
    "Proxy-Authorization: secret\r\nConnection: keep-alive\r\n\r\n"
)
TUNNEL = "CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nGET /inner HTTP/1.1\r\n\r\n"


def test_a_request_to_an_allowed_host_arrives_without_what_was_meant_for_the_proxy() -> None:
    """The server sees the path alone, no proxy fields, and one request a connection."""
    answer, _, _ = _with_host("127.0.0.1:{port}", GET)
    assert answer.endswith(b"GET /a?b=c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")


def test_a_tunnel_to_an_allowed_host_carries_bytes_as_they_are() -> None:
    """After CONNECT the proxy only passes on, and counts."""
    answer, (passage,), port = _with_host("127.0.0.1:{port}", TUNNEL)
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\n")
    assert answer.endswith(b"GET /inner HTTP/1.1\r\n\r\n")
    assert (passage.target, passage.allowed, passage.n_connections) == (Target("127.0.0.1", port), True, 1)
    assert passage.sent_bytes == len("GET /inner HTTP/1.1\r\n\r\n")
    assert passage.received_bytes > passage.sent_bytes


@pytest.mark.parametrize("request_text", [GET, TUNNEL])
@pytest.mark.parametrize("allowed", ["127.0.0.1:1", "localhost:{port}", "127.0.0.1"])
def test_any_other_host_or_port_is_refused_and_recorded(allowed: str, request_text: str) -> None:
    """Names are compared as they were asked for: another port or name is another target."""
    answer, (passage,), port = _with_host(allowed, request_text)
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert f"127.0.0.1:{port} is not in sandbox.allow_hosts".encode() in answer
    assert (passage.allowed, passage.sent_bytes, passage.received_bytes) == (False, 0, 0)


@pytest.mark.parametrize(
    "request_text",
    [
        "GET / HTTP/1.1\r\n\r\n",
        "GET ftp://a/ HTTP/1.1\r\n\r\n",
        "CONNECT a HTTP/1.1\r\n\r\n",
        "nonsense\r\n\r\n",
        "CONNECT a:99999 HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_request_to_a_proxy_is_answered_as_such(request_text: str) -> None:
    """Nothing is reached, nothing is recorded."""
    answer, passages, _ = _with_host("127.0.0.1:{port}", request_text)
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert passages == ()


def test_a_host_that_does_not_answer_is_said() -> None:
    """An allowed host that refuses the connection is a bad gateway, not a forbidden one."""
    answer, (passage,), _ = _with_host("127.0.0.1:1", "CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert passage.allowed


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("API.example.com.:8443", [("api.example.com", 8443)]),
        ("example.com", [("example.com", 80), ("example.com", 443)]),
        ("[::1]:9", [("::1", 9)]),
    ],
)
def test_an_entry_names_a_host_and_its_ports(entry: str, expected: list[tuple[str, int]]) -> None:
    """Without a port those of the web are meant."""
    assert [(one.host, one.port) for one in targets(entry)] == expected


@pytest.mark.parametrize("entry", ["", "http://a", "a/b", "*.example.com", "u@h:1", "a:port", "a:99999"])
def test_an_entry_that_is_more_than_host_and_port_is_refused(entry: str) -> None:
    """A pattern or an address would let through something else than it seems to."""
    with pytest.raises(ValueError, match=r"."):
        targets(entry)


def test_a_proxy_leaves_nothing_behind() -> None:
    """Socket and folder are gone when it is closed."""

    async def life() -> EgressProxy:
        proxy = EgressProxy([])
        await proxy.start()
        await proxy.start()
        assert proxy.socket.is_socket()
        await proxy.aclose()
        return proxy

    assert not asyncio.run(life()).socket.parent.exists()
