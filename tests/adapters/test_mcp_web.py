from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from adapters.conftest import Loopback
from free_ports import free_port
from mcp_servers import WITH_SDK, mcp_call, replies_of

from skilleval.adapters.base import Call
from skilleval.domain.attempts import Status

JSON = {"content-type": "application/json"}
WORD = "sesame-0123456789"
OPTIONS: dict[str, Any] = {"auth_type": "bearer", "auth_token_env_key": "SKILL_TOKEN"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server that was made with the SDK and answers on a port."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "server.py").write_text(WITH_SDK, encoding="utf-8")
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "server.py", str(port)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not _answers(port):
        assert time.monotonic() < deadline, "the server under test did not start"
        assert server.poll() is None, "the server under test ended"
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}/mcp"
    server.kill()
    server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def at(tmp_path: Path) -> Callable[..., Call]:
    """Give what makes a call of the server at an address."""

    def made(url: str, tool: str | None = None, **changes: Any) -> Call:
        return mcp_call(tmp_path, url, tool=tool, **changes)

    return made


def test_a_server_behind_an_address_is_called(address: str, at: Callable[..., Call]) -> None:
    """Each trial has a session of its own; nothing is started, so there is no time for it."""
    calls = [at(address, "add", input={"a": 1, "b": number}) for number in (2, 3)]
    replies = replies_of(calls)
    assert [reply.output for reply in replies] == ['{"result":3}', '{"result":4}']
    assert [(reply.status, reply.spawn_ms) for reply in replies] == [(Status.COMPLETED, None)] * 2
    assert all(reply.latency_ms for reply in replies)


def test_a_session_serves_many_trials_and_is_replaced_after_a_time_out(
    address: str, at: Callable[..., Call]
) -> None:
    """The limit is kept to the call, and what was given up disturbs nobody later."""
    calls = [
        at(address, "echo", input={"words": "one"}),
        at(address, "slow", input={"seconds": 30.0}, timeout_s=0.3),
        at(address, "echo", input={"words": "[2]"}),
    ]
    first, slow, last = replies_of(calls, worker_trials=100)
    assert (first.output, last.output) == ('"one"', "[2]")
    assert (slow.status, slow.failure_kind) == (Status.TIMEOUT, "timeout")
    assert slow.latency_ms is not None
    assert 300 <= slow.latency_ms < 25_000


def test_an_error_of_a_tool_over_http_is_a_failure(address: str, at: Callable[..., Call]) -> None:
    """As it is over stdin and stdout."""
    (reply,) = replies_of([at(address, "add", input={"a": "x", "b": 1})])
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "tool_error")


def test_more_than_allowed_is_not_read(address: str, at: Callable[..., Call]) -> None:
    """The cap holds over HTTP too."""
    (reply,) = replies_of([at(address, "echo", input={"words": "x" * 90_000})], max_output_bytes=50_000)
    assert (reply.status, reply.failure_kind, reply.output) == (Status.SKILL_ERROR, "output_limit", None)


def test_nobody_at_the_address_says_nothing_about_the_skill(at: Callable[..., Call]) -> None:
    """It was never reached."""
    (reply,) = replies_of([at("http://127.0.0.1:9/mcp")])
    assert (reply.status, reply.failure_kind) == (Status.PROVIDER_ERROR, "unreachable")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, (Status.PROVIDER_ERROR, "not_authorised", False)),
        (404, (Status.SKILL_ERROR, "http_4xx", False)),
        (429, (Status.PROVIDER_ERROR, "rate_limited", True)),
        (500, (Status.SKILL_ERROR, "http_5xx", True)),
    ],
)
def test_what_http_refuses_is_judged_as_for_http_skills(
    status: int, expected: tuple[Status, str, bool], loopback: Loopback, at: Callable[..., Call]
) -> None:
    """The SDK tells none of these apart."""
    loopback.status, loopback.body, loopback.headers = status, b"go away", {"Retry-After": "7"}
    (reply,) = replies_of([at(loopback.url)])
    assert (reply.status, reply.failure_kind, reply.retryable) == expected
    assert "go away" in (reply.message or "")
    assert reply.retry_after_s == (7.0 if reply.retryable else None)


def _scripted(*calls: Any) -> list[tuple[int, bytes, dict[str, str]]]:
    """Give the answers of a server without sessions to a handshake, to the question for tools, and to calls."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "a", "version": "1"}}
    tools = {"tools": [{"name": "work", "inputSchema": {"type": "object"}}]}
    said = [{"id": 1, "result": about}, None, {"id": 2, "result": tools}]
    said += [{"id": number, **one} for number, one in enumerate(calls, start=3)]
    return [
        (202, b"", {}) if one is None else (200, json.dumps({"jsonrpc": "2.0", **one}).encode(), JSON)
        for one in said
    ]


def _text(words: str) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": words}]}}


def test_the_token_is_sent_and_kept_nowhere(loopback: Loopback, at: Callable[..., Call]) -> None:
    """A config names a variable; what echoes its value is starred out."""
    error = {"error": {"code": -32000, "message": f"bad {WORD}"}}
    loopback.later = [*_scripted(_text(f"you sent {WORD}")), *_scripted(error)]
    environ = {"SKILL_TOKEN": WORD}
    completed, failed = replies_of([at(loopback.url)] * 2, environ=environ, **OPTIONS)
    assert {one.headers.get("authorization") for one in loopback.seen} == {f"Bearer {WORD}"}
    assert completed.output == '"you sent ***"'
    assert failed.message == "work failed: JSON-RPC error -32000: bad ***"


def test_a_session_that_the_server_has_forgotten_is_opened_again(
    loopback: Loopback, at: Callable[..., Call]
) -> None:
    """A 404 in a session that served before says nothing about the trial; a second one does."""
    gone: tuple[int, bytes, dict[str, str]] = (404, b"no such session", {})
    loopback.later = [*_scripted(_text("1")), gone, *_scripted(_text("2")), gone, *_scripted(), gone]
    replies = replies_of([at(loopback.url)] * 3, worker_trials=100)
    assert [(reply.output, reply.failure_kind) for reply in replies] == [
        ("1", None),
        ("2", None),
        (None, "http_4xx"),
    ]


def test_a_server_that_only_listens_is_given_up(at: Callable[..., Call]) -> None:
    """Taking the connection is no handshake."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/"
        (reply,) = replies_of([at(url)], start_timeout_ms=300.0)
    assert (reply.status, reply.failure_kind) == (Status.TIMEOUT, "start_timeout")


def test_an_answer_that_breaks_off_is_a_failure(loopback: Loopback, at: Callable[..., Call]) -> None:
    """Who took the call and hung up has failed."""
    loopback.later = _scripted()
    loopback.headers = {**JSON, "Content-Length": "100", "Connection": "close"}
    (reply,) = replies_of([at(loopback.url, timeout_s=5.0)])
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "connection_lost")


def test_a_body_that_was_squeezed_is_not_unpacked(loopback: Loopback, at: Callable[..., Call]) -> None:
    """A few bytes could be gigabytes."""
    loopback.later = _scripted()
    loopback.body, loopback.headers = b"squeezed", {**JSON, "Content-Encoding": "gzip"}
    (reply,) = replies_of([at(loopback.url)])
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "unreadable_reply")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((200, b"<html>log in</html>", {"content-type": "text/html"}), "Unexpected content type: text/html"),
        ((200, b"not JSON", JSON), "Failed to parse JSON response"),
        ((202, b"", {}), "server answered a request with 202 Accepted"),
    ],
)
def test_an_answer_that_is_no_message_is_no_error_of_the_server_s(
    answer: tuple[int, bytes, dict[str, str]], told: str, loopback: Loopback, at: Callable[..., Call]
) -> None:
    """The library tells of it as of an error reply, which the server never sent."""
    loopback.later = [*_scripted(), answer]
    (reply,) = replies_of([at(loopback.url)])
    assert (reply.failure_kind, reply.message) == (
        "unreadable_reply",
        f"work failed: the answer breaks the protocol: {told}",
    )


def test_an_error_of_the_protocol_is_told_whatever_its_http_status(
    loopback: Loopback, at: Callable[..., Call]
) -> None:
    """Servers may refuse a call with 400 and say in the body why."""
    error = {"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "a is missing"}}
    loopback.later = [*_scripted(), (400, json.dumps(error).encode(), JSON)]
    (reply,) = replies_of([at(loopback.url)])
    assert (reply.failure_kind, reply.message) == (
        "rpc_error",
        "work failed: JSON-RPC error -32602: a is missing",
    )


def test_a_text_that_http_cannot_carry_is_not_judged(loopback: Loopback, at: Callable[..., Call]) -> None:
    """A lone surrogate has no UTF-8: the skill never saw it."""
    loopback.later = _scripted(_text("1"))
    (reply,) = replies_of([at(loopback.url, input={"a": "\ud800"})])
    assert (reply.status, reply.failure_kind) == (Status.UNSUPPORTED, "unsendable")


def test_a_redirect_on_the_same_origin_is_followed_and_no_other(
    loopback: Loopback, at: Callable[..., Call]
) -> None:
    """What goes to an address is meant for it."""
    there = (307, b"", {"Location": "/mcp/"})
    elsewhere = (307, b"", {"Location": "http://127.0.0.1:9/mcp"})
    loopback.later = [there, *_scripted(_text("1")), elsewhere]
    followed, refused = replies_of([at(f"{loopback.url}/mcp")] * 2)
    assert (followed.output, loopback.seen[1].path) == ("1", "/mcp/")
    assert (refused.status, refused.failure_kind) == (Status.SKILL_ERROR, "redirect")
    assert "http://127.0.0.1:9/mcp, which is not followed" in (refused.message or "")
