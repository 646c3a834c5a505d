from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from skilleval.sandboxes import proxy as proxies
from skilleval.sandboxes.proxy import OTHERS, EgressProxy, Passage, Target, targets

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
    answer, _, port = _with_host("127.0.0.1:{port}", GET)
    assert answer.endswith(b"GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % port)


def test_the_server_is_told_the_name_that_was_allowed() -> None:
    """Another name in the fields of a request would reach another host of the same server."""
    request = "GET http://me@127.0.0.1:{port}/ HTTP/1.1\r\nA: b\r\nHOST : x\r\n y\r\nhost: z\r\n\r\n"
    answer, _, port = _with_host("127.0.0.1:{port}", request)
    head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nA: b\r\nConnection: close\r\n\r\n"
    assert answer.endswith(head % port)


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("Sk-Abc_0123456789xyz.evil.example", "***.evil.example"),
        ("to.sk-abc_0123456789xyz-and-more.example", "to.***-and-more.example"),
        ("sk-abc_01234.56789xyz.evil.example", "***.56789xyz.evil.example"),
        ("%73k-abc_0123456789xyz.example", "***"),
        ("short1.evil.example", "***.evil.example"),
        ("api.example.com", "api.example.com"),
        ("a%20b.example", "a%20b.example"),
    ],
)
def test_keys_in_names_of_refused_hosts_are_told_to_nobody(
    host: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A program could carry a key into results and logs by asking for a host that is called like it."""

    async def asked() -> tuple[bytes, tuple[Passage, ...]]:
        proxy = EgressProxy(
            ["api.example.org"], ["sk-Abc_0123456789xyz", "short1", "e", "https://api.example.com"]
        )
        await proxy.start()
        answer = await _asked(proxy, f"CONNECT {host}:80 HTTP/1.1\r\n\r\n")
        await proxy.aclose()
        return answer, proxy.passages

    answer, (passage,) = asyncio.run(asked())
    assert passage.target == Target(told, 80)
    assert f"skilleval: {told}:80 is not in".encode() in answer
    (said,) = [one.getMessage() for one in caplog.records if one.name == proxies.__name__]
    assert f"tried to reach {told}:80, which" in said


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
        f"CONNECT {'a' * 256}:80 HTTP/1.1\r\n\r\n",
        "CONNECT a\x1b[31m:80 HTTP/1.1\r\n\r\n",
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


_held: list[asyncio.StreamWriter] = []


def _beside_silent_host(use: Callable[[EgressProxy, str], Awaitable[Any]]) -> Any:
    """Use a proxy that allows a host which takes connections and never says or closes anything."""

    async def used() -> Any:
        guests: list[asyncio.StreamWriter] = []
        server = await asyncio.start_server(lambda _, writer: guests.append(writer), "127.0.0.1", 0)
        name = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        proxy = EgressProxy([name])
        await proxy.start()
        try:
            return await asyncio.wait_for(use(proxy, f"CONNECT {name} HTTP/1.1\r\n\r\n"), 30)
        finally:
            await proxy.aclose()
            for writer in (*guests, *_held):
                writer.close()
            _held.clear()
            server.close()
            await asyncio.sleep(0.1)

    return asyncio.run(used())


async def _tunnel(proxy: EgressProxy, request: str) -> tuple[bytes, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_unix_connection(proxy.socket)
    writer.write(request.encode())
    return await reader.readline(), writer


def test_connections_that_a_program_closed_are_given_back() -> None:
    """A host that never closes holds nothing for those who have gone: the next trials find room."""

    async def many(proxy: EgressProxy, request: str) -> set[bytes]:
        said = set()
        for _ in range(300):
            line, writer = await _tunnel(proxy, request)
            said.add(line)
            writer.close()
        return said

    assert _beside_silent_host(many) == {b"HTTP/1.1 200 Connection established\r\n"}


def test_a_side_that_sent_all_it_had_is_answered_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a connection stays only as long as something comes through it."""
    monkeypatch.setattr(proxies, "_LINGER_S", 0.3)

    async def half_closed(proxy: EgressProxy, request: str) -> bytes:
        reader, writer = await asyncio.open_unix_connection(proxy.socket)
        writer.write(request.encode())
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        return answer

    assert _beside_silent_host(half_closed) == b"HTTP/1.1 200 Connection established\r\n\r\n"


def test_one_program_cannot_take_all_connections(caplog: pytest.LogCaptureFixture) -> None:
    """Beyond its share it is told so, and so is the log, once."""

    async def hoarded(proxy: EgressProxy, request: str) -> list[bytes]:
        lines = []
        for _ in range(67):
            line, writer = await _tunnel(proxy, request)
            lines.append(line)
            _held.append(writer)
        return lines

    lines = _beside_silent_host(hoarded)
    assert lines[:64] == [b"HTTP/1.1 200 Connection established\r\n"] * 64
    assert lines[64:] == [b"HTTP/1.1 503 Service Unavailable\r\n"] * 3
    (told,) = [one.getMessage() for one in caplog.records if one.name == proxies.__name__]
    assert "this program has 64 connections through sandbox.allow_hosts already" in told


def test_closing_a_proxy_in_use_is_quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Ending connections is no error of the event loop."""

    async def used(proxy: EgressProxy, request: str) -> None:
        _held.extend([(await _tunnel(proxy, request))[1] for _ in range(3)])

    _beside_silent_host(used)
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_a_head_that_is_too_long_is_answered_as_such() -> None:
    """It is neither read on nor dropped without a word."""
    answer, passages, _ = _with_host(
        "127.0.0.1:{port}", f"GET http://a/ HTTP/1.1\r\nX: {'a' * 200_000}\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert passages == ()


def test_hosts_that_a_program_makes_up_fill_neither_memory_nor_log(caplog: pytest.LogCaptureFixture) -> None:
    """Each refused host is told once, up to a bound, and recorded by name up to another."""

    async def asked() -> tuple[Passage, ...]:
        proxy = EgressProxy([])
        await proxy.start()
        for number in range(1010):
            await _asked(proxy, f"CONNECT h{number}.example:80 HTTP/1.1\r\n\r\n")
            await _asked(proxy, "CONNECT h0.example:80 HTTP/1.1\r\n\r\n")
        await proxy.aclose()
        return proxy.passages

    passages = {one.target: one.n_connections for one in asyncio.run(asked())}
    assert len(passages) == 1001
    assert passages[OTHERS] == 10
    assert passages[Target("h0.example", 80)] == 1011
    told = [one.getMessage() for one in caplog.records if one.name == proxies.__name__]
    assert len(told) == 20
    assert told[-1].endswith("further ones are not told here")
