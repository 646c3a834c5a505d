from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from typing import Any

import pytest
from free_ports import free_port
from samples import planned, skill, trials

from skilleval.adapters.base import Call
from skilleval.adapters.http import HttpAdapter
from skilleval.clock import Clock
from skilleval.domain.attempts import Reply, Status, Usage
from skilleval.domain.records import TrialRecord
from skilleval.errors import AdapterError
from skilleval.runner import Runner, RunnerOptions
from skilleval.scorers.panel import Panel

Ask = Callable[..., Reply]
SESAME = "sesame-open"


@pytest.fixture
def ask_raw(
    raw_server: Callable[..., AbstractAsyncContextManager[str]],
    call: Callable[..., Call],
    http_adapter: Callable[..., HttpAdapter],
) -> Callable[..., Reply]:
    """Give what asks a server that treats the connection as it is told."""

    def reply(answer: Callable[..., Awaitable[None]], *, timeout_s: float = 5.0, **options: Any) -> Reply:
        async def asked() -> Reply:
            async with raw_server(answer) as url:
                adapter = http_adapter(**options)
                reply = await adapter.invoke(call(url, timeout_s=timeout_s))
                await adapter.aclose()
                return reply

        return asyncio.run(asked())

    return reply


def test_a_skill_is_sent_its_input(ask: Ask, loopback: Any) -> None:
    """A POST with id, version and input; version of skilleval, seed and repeat stand in headers."""
    changes = {"input": {"b": "ü", "a": [1]}, "seed": 77, "repeat": 2}
    reply = ask(f"{loopback.url}/invoke?x=1", changes=changes)
    assert (reply.status, reply.output, reply.failure_kind) == (Status.COMPLETED, '{"sum":3}', None)
    (asked,) = loopback.seen
    assert (asked.method, asked.path) == ("POST", "/invoke?x=1")
    assert json.loads(asked.body) == {"skillId": "adder", "version": "1.0.0", "input": {"b": "ü", "a": [1]}}
    expected = {
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "identity",
        "x-skilleval-version": version("skilleval"),
        "x-skilleval-seed": "77",
        "x-skilleval-repeat": "2",
    }
    assert {name: asked.headers[name] for name in expected} == expected
    assert "authorization" not in asked.headers


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_other_methods_with_a_body_send_the_same(method: str, ask: Ask, loopback: Any) -> None:
    """The skill's own method takes effect."""
    ask(f"{loopback.url}/", own={"method": method})
    assert (loopback.seen[0].method, json.loads(loopback.seen[0].body)["input"]) == (method, {"a": 1})


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_methods_without_a_body_put_the_input_into_the_query(method: str, ask: Ask, loopback: Any) -> None:
    """Texts stand as they are and other values as JSON, beside what the address says already."""
    ask(f"{loopback.url}/?k=v", own={"method": method}, changes={"input": {"q": "a b", "n": 3, "l": [1]}})
    asked = loopback.seen[0]
    assert (asked.method, asked.path, asked.body) == (method, "/?k=v&q=a+b&n=3&l=%5B1%5D", b"")


def test_a_query_that_is_too_long_is_nobodys_fault(ask: Ask, loopback: Any) -> None:
    """An input that fits into no address is unsupported, and nothing is sent."""
    reply = ask(f"{loopback.url}/", own={"method": "GET"}, changes={"input": {"q": "x" * 70_000}})
    assert (reply.status, reply.failure_kind, loopback.seen) == (Status.UNSUPPORTED, "unsendable", [])


def test_c27_lone_surrogates_travel_as_escapes(ask: Ask, loopback: Any) -> None:
    """What has no UTF-8 is sent the way JSON writes it."""
    ask(f"{loopback.url}/", changes={"input": {"t": "\ud800"}})
    assert b'"\\ud800"' in loopback.seen[0].body


def test_es20_a_429_with_json_is_an_error_with_its_pause(ask: Ask, loopback: Any) -> None:
    """A body that looks like an answer does not make one, and the asked pause goes with the reply."""
    loopback.status, loopback.body, loopback.headers = 429, b'{"result": "3"}', {"Retry-After": "7"}
    reply = ask(f"{loopback.url}/")
    assert (reply.status, reply.failure_kind, reply.output) == (Status.PROVIDER_ERROR, "rate_limited", None)
    assert (reply.retryable, reply.retry_after_s) == (True, 7.0)
    assert reply.message == 'HTTP 429 Too Many Requests: {"result": "3"}'


def test_es20_a_500_with_json_can_be_tried_again(ask: Ask, loopback: Any) -> None:
    """A server error is the skill's, with its latency and body kept."""
    loopback.status, loopback.body = 500, b'{"detail": "division by zero"}'
    reply = ask(f"{loopback.url}/")
    assert (reply.status, reply.failure_kind, reply.retryable) == (Status.SKILL_ERROR, "http_5xx", True)
    assert reply.stdout == '{"detail": "division by zero"}'
    assert reply.latency_ms is not None


def test_usage_headers_are_read(ask: Ask, loopback: Any) -> None:
    """What a skill says about its tokens comes with the reply."""
    loopback.headers = {"X-Usage-Input-Tokens": "5", "x-usage-total-tokens": "9"}
    assert ask(f"{loopback.url}/").usage == Usage(input_tokens=5, total_tokens=9)


def test_es07_a_slow_answer_is_a_timeout(ask_raw: Ask) -> None:
    """The limit covers the whole exchange: a server that drips its body is cut off in time."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" ")
            await asyncio.sleep(0.02)

    reply = ask_raw(drip, timeout_s=0.3)
    said = "not done within 0.3 s"
    assert (reply.status, reply.failure_kind, reply.message) == (Status.TIMEOUT, "timeout", said)
    assert reply.retryable
    assert reply.latency_ms is not None
    assert 290 <= reply.latency_ms < 30_000


def test_nobody_at_the_address_is_not_the_skills_fault(ask: Ask) -> None:
    """A refused connection is infrastructure, can be tried again, and took the skill no time."""
    reply = ask(f"http://127.0.0.1:{free_port()}/")
    assert (reply.status, reply.failure_kind) == (Status.PROVIDER_ERROR, "unreachable")
    assert (reply.retryable, reply.latency_ms, reply.output) == (True, None, None)
    assert reply.message


def test_a_name_without_address_is_not_the_skills_fault(ask: Ask) -> None:
    """A name that cannot be looked up is infrastructure."""
    reply = ask("http://surely-no-such-host.invalid/", changes={"timeout_s": 10.0})
    assert (reply.status, reply.failure_kind) == (Status.PROVIDER_ERROR, "unreachable")


def test_a_failed_handshake_is_not_the_skills_fault(ask: Ask, loopback: Any) -> None:
    """TLS with a server that speaks none is infrastructure."""
    reply = ask(f"{loopback.url.replace('http:', 'https:')}/")
    assert (reply.status, reply.failure_kind, reply.retryable) == (Status.PROVIDER_ERROR, "unreachable", True)


@pytest.mark.parametrize(
    "said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}"]
)
def test_a_lost_connection_is_the_skills_fault(said: bytes, ask_raw: Ask) -> None:
    """Who takes a request and hangs up, talks nonsense or stops midway has not answered."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)

    reply = ask_raw(answer)
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "connection_lost")
    assert (reply.retryable, reply.output) == (True, None)
    assert reply.latency_ms is not None


@pytest.mark.parametrize(("spare", "kind"), [(0, None), (-1, "output_limit")])
def test_c30_an_answer_of_exactly_the_cap_is_read(
    spare: int, kind: str | None, ask: Ask, loopback: Any
) -> None:
    """The cap is allowed, one byte less is not enough."""
    loopback.body = b'"' + b"x" * 500 + b'"'
    reply = ask(f"{loopback.url}/", max_output_bytes=502 + spare)
    assert (reply.failure_kind, reply.output_bytes) == (kind, 502)


def test_c30_endless_output_ends_at_the_cap(ask_raw: Ask) -> None:
    """A body without end is cut off at its size, long before the time limit."""

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    reply = ask_raw(flood, max_output_bytes=1_000_000)
    assert (reply.failure_kind, reply.stdout) == ("output_limit", "…" + "x" * 65_536)


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_on_the_same_host_is_followed(status: int, ask: Ask, loopback: Any) -> None:
    """The request goes to its new place with its body; the time of both is the skill's."""
    loopback.later = [(status, b"", {"Location": "/new"})]
    reply = ask(f"{loopback.url}/old")
    assert reply.output == '{"sum":3}'
    assert [(asked.method, asked.path) for asked in loopback.seen] == [("POST", "/old"), ("POST", "/new")]
    assert loopback.seen[1].body == loopback.seen[0].body


@pytest.mark.parametrize("location", ["http://localhost:{port}/", "http://127.0.0.1:1/", "ftp://127.0.0.1/"])
def test_a_redirect_to_another_host_is_not_followed(location: str, ask: Ask, loopback: Any) -> None:
    """Neither input nor token goes to a place that nobody named."""
    target = location.replace("{port}", loopback.url.rpartition(":")[2])
    loopback.later = [(307, b"", {"Location": target})]
    reply = ask(f"{loopback.url}/")
    assert (reply.status, reply.failure_kind, reply.retryable) == (Status.SKILL_ERROR, "redirect", False)
    assert reply.message == f"HTTP 307 Temporary Redirect: leads to {target}, which is not followed"
    assert len(loopback.seen) == 1


@pytest.mark.parametrize("location", ["http://[::bad", "http://127.0.0.1:99999999/", "http://a b/\x7f"])
def test_a_redirect_to_what_is_no_address_is_a_redirect(location: str, ask: Ask, loopback: Any) -> None:
    """The server answered: no connection was lost, and asking again would change nothing."""
    loopback.later = [(302, b"", {"Location": location})]
    reply = ask(f"{loopback.url}/")
    assert (reply.status, reply.failure_kind, reply.retryable) == (Status.SKILL_ERROR, "redirect", False)
    assert reply.message == f"HTTP 302 Found: leads to {location}, which is not followed"


def test_redirects_in_a_circle_end(ask: Ask, loopback: Any) -> None:
    """After the allowed number the last redirect is the answer."""
    loopback.status, loopback.headers = 307, {"Location": "/"}
    reply = ask(f"{loopback.url}/", max_redirects=2)
    assert (reply.failure_kind, len(loopback.seen)) == ("redirect", 3)


@pytest.mark.parametrize(
    ("own", "header", "value"),
    [
        ({"auth_type": "bearer"}, "authorization", f"Bearer {SESAME}"),
        ({"auth_type": "api_key"}, "x-api-key", SESAME),
        ({"auth_type": "header", "auth_header": "X-Pass"}, "x-pass", SESAME),
    ],
)
def test_es32_the_token_is_sent_and_never_kept(
    own: dict[str, str], header: str, value: str, ask: Ask, loopback: Any
) -> None:
    """A server that tells everything back still leaves no token in the reply."""
    loopback.body = json.dumps({"you sent": value}).encode()
    named = {**own, "auth_token_env_key": "SKILL_KEY"}
    reply = ask(f"{loopback.url}/", own=named, environ={"SKILL_KEY": SESAME})
    assert loopback.seen[0].headers[header] == value
    assert reply.output == json.dumps({"you sent": value.replace(SESAME, "***")}, separators=(",", ":"))
    loopback.status = 400
    refused = ask(f"{loopback.url}/", own=named, environ={"SKILL_KEY": SESAME})
    assert SESAME not in repr(refused)


@pytest.mark.parametrize("spare", range(1, 16))
def test_a_body_that_is_cut_within_the_token_keeps_nothing_of_it(spare: int, ask: Ask, loopback: Any) -> None:
    """What the cap on the body leaves of the token goes too."""
    token, named = "0123456789abcdef", {"auth_type": "bearer", "auth_token_env_key": "SKILL_KEY"}
    loopback.body = b"z" * 500 + token.encode()
    reply = ask(f"{loopback.url}/", own=named, environ={"SKILL_KEY": token}, max_output_bytes=500 + spare)
    assert (reply.failure_kind, reply.stdout) == ("output_limit", "z" * 500 + "***")


@pytest.mark.parametrize("line", [b"HTTP/1.1 %s\r\n\r\n", b"HTTP/1.1 200 OK\r\n%s\r\n\r\n{}", b"%s\r\n\r\n"])
def test_a_token_with_a_backslash_is_not_kept_by_a_broken_answer(
    line: bytes,
    raw_server: Callable[..., AbstractAsyncContextManager[str]],
    call: Callable[..., Call],
    http_adapter: Callable[..., HttpAdapter],
) -> None:
    """The client tells of nonsense by a `repr` of the bytes, which doubles every backslash."""
    token = b"pass\\word'and\"more"
    own = {"auth_type": "bearer", "auth_token_env_key": "SKILL_KEY"}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert token in await reader.readuntil(b"\r\n\r\n")
        writer.write(line % token)

    async def asked() -> Reply:
        async with raw_server(answer) as url:
            adapter = http_adapter({"SKILL_KEY": token.decode()})
            reply = await adapter.invoke(call(url, adapter_options=own))
            await adapter.aclose()
            return reply

    reply = asyncio.run(asked())
    assert reply.failure_kind == "connection_lost"
    assert "word" not in repr(reply)
    assert "***" in (reply.message or "")


def test_headers_of_run_and_skill_are_sent(ask: Ask, loopback: Any) -> None:
    """The skill's own win over those of the run; a content type that is given replaces ours."""
    own = {"headers": {"X-B": "2", "Content-Type": "application/json; charset=utf-8"}}
    ask(f"{loopback.url}/", own=own, headers={"X-A": "1", "X-B": "1"})
    headers = loopback.seen[0].headers
    assert (headers["x-a"], headers["x-b"]) == ("1", "2")
    assert headers["content-type"] == "application/json; charset=utf-8"


def test_a_cookie_does_not_outlive_its_trial(
    loopback: Any, call: Callable[..., Call], http_adapter: Callable[..., HttpAdapter]
) -> None:
    """One trial must not know what happened in another; the connection is used again all the same."""
    loopback.headers = {"Set-Cookie": "seen=1; Path=/"}

    async def asked() -> None:
        adapter = http_adapter()
        for _ in range(3):
            assert (await adapter.invoke(call(f"{loopback.url}/"))).status is Status.COMPLETED
        await adapter.aclose()

    asyncio.run(asked())
    assert [asked.headers.get("cookie") for asked in loopback.seen] == [None, None, None]
    assert len({asked.peer for asked in loopback.seen}) == 1


def test_calls_at_once_do_not_share_a_connection(
    raw_server: Callable[..., AbstractAsyncContextManager[str]],
    call: Callable[..., Call],
    http_adapter: Callable[..., HttpAdapter],
) -> None:
    """Eight calls at once are eight connections at once; eight later ones need no further connection."""
    connections: list[object] = []
    all_here = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        if len(connections) == 8:
            all_here.set()
        while head := await reader.read(65536):
            assert head.startswith(b"POST")
            await all_here.wait()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3")

    async def asked() -> list[Reply]:
        async with raw_server(answer) as url:
            adapter, one, replies = http_adapter(), call(url, timeout_s=5.0), []
            for _ in range(2):
                replies += await asyncio.gather(*(adapter.invoke(one) for _ in range(8)))
            await adapter.aclose()
            return replies

    assert [reply.output for reply in asyncio.run(asked())] == ["3"] * 16
    assert len(connections) == 8


def test_a_cancelled_call_leaves_nothing_behind(
    raw_server: Callable[..., AbstractAsyncContextManager[str]],
    call: Callable[..., Call],
    http_adapter: Callable[..., HttpAdapter],
) -> None:
    """When a run is stopped, the connection of the call is closed with it."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def wait(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            asked.set()
        gone.set()

    async def cancelled() -> bool:
        async with raw_server(wait) as url:
            task = asyncio.create_task(http_adapter().invoke(call(url)))
            await asyncio.wait_for(asked.wait(), timeout=60)
            task.cancel()
            await asyncio.wait({task})
            await asyncio.wait_for(gone.wait(), timeout=60)
            return task.cancelled()

    assert asyncio.run(cancelled())


def test_a_skill_without_address_is_unsupported(ask: Ask) -> None:
    """Whoever did not check before the run gets a reply that says what to do."""
    reply = ask("/invoke")
    assert (reply.status, reply.failure_kind) == (Status.UNSUPPORTED, "not_configured")
    assert "adapter.http.base_url" in (reply.message or "")


def test_check_finds_mistakes_before_the_first_trial(http_adapter: Callable[..., HttpAdapter]) -> None:
    """What would spoil every call is raised at once, and what is right is not."""
    adapter = http_adapter({"SKILL_KEY": SESAME})
    own = {"auth_type": "bearer", "auth_token_env_key": "SKILL_KEY"}
    adapter.check(skill(entrypoint="http://h.example/", adapter_options=own))
    with pytest.raises(AdapterError):
        adapter.check(skill("other", entrypoint="/invoke", source="b"))


def test_es20_retries_are_rows_and_keep_the_asked_pause(
    loopback: Any, http_adapter: Callable[..., HttpAdapter]
) -> None:
    """Every attempt at a server that is busy at first is recorded, with the pause it asked for before the next."""
    busy = b'{"error": "busy"}'
    loopback.later = [(429, busy, {"Retry-After": "0.2"}), (503, busy, {"Retry-After": "soon"})]
    one = skill(entrypoint=f"{loopback.url}/", adapter="http")
    records: list[TrialRecord] = []

    class Kept:
        def write(self, record: TrialRecord) -> None:
            records.append(record)

    async def ran() -> None:
        adapter = http_adapter()
        runner = Runner(
            adapters={"http": adapter},
            judge=Panel({}),
            sink=Kept(),
            options=RunnerOptions(
                concurrency=1, retries=5, backoff_base_s=0.01, backoff_factor=1, backoff_max_s=0.01, jitter=0
            ),
            clock=Clock(),
            observe=lambda record: None,
        )
        await runner.run(trials(skills=(planned(one),)))
        await adapter.aclose()

    asyncio.run(ran())
    (record,) = records
    assert [one.reply.failure_kind for one in record.tries] == ["rate_limited", "unavailable", None]
    assert [round(one.backoff_ms) for one in record.tries] == [0, 200, 10]
    assert record.attempt.output == '{"sum":3}'
    assert len(loopback.seen) == 3
