from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_servers import ModelServer, model_server

from skilleval.chat.base import ChatRequest, Completion, ToolCall
from skilleval.chat.openai_client import OpenAIProvider
from skilleval.domain.attempts import NO_USAGE, Status, Usage

Talk = Callable[..., Any]
Make = Callable[..., Any]
QUESTION = ChatRequest(user="Which port?", system="Be brief.", seed=7)
KEY = "sk-harbour-5f1e9c0ab2"
SUM = {"type": "function", "function": {"name": "sum_column", "parameters": {"type": "object"}}}
NO_SYSTEM = {"error": {"message": "Invalid value: 'system'. This model does not support the system role."}}
NO_FORMAT = {"error": {"message": "'response_format' of type 'json_schema' is not supported"}}


def _asked(server: ModelServer, make_options: Make, fault: str, **changes: Any) -> Completion:
    timeout_s = changes.pop("timeout_s", 10.0)

    async def asked() -> Completion:
        made = make_options(base_url=server.base_url, name=fault)
        provider = OpenAIProvider(made, environ={})
        done = await provider.complete(QUESTION, timeout_s=timeout_s)
        await provider.aclose()
        return done

    return asyncio.run(asked())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Give the scripted model server, a program of its own."""
    with model_server(tmp_path_factory.mktemp("server")) as server:
        yield server


def test_a_turn_is_sent_as_the_protocol_says(talk: Talk, said: Make, good: Make) -> None:
    """One POST with model, messages, parameters, seed and tools; the key stands in the header, and only there."""
    request = replace(
        QUESTION, params={"temperature": 0, "max_tokens": 9}, tools=(SUM,), tool_choice="required"
    )
    done = talk(
        said(body=good()),
        requests=[request],
        environ={"TEA_KEY": KEY},
        api_key_env="TEA_KEY",
        headers={"X-Team": "tea"},
    )
    (seen,) = done.seen
    assert seen.line == "POST /v1/chat/completions HTTP/1.1"
    assert seen.body == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Which port?"},
        ],
        "temperature": 0,
        "max_tokens": 9,
        "seed": 7,
        "tools": [SUM],
        "tool_choice": "required",
    }
    assert (seen.headers["authorization"], seen.headers["x-team"]) == (f"Bearer {KEY}", "tea")
    assert KEY not in repr(done.only)


def test_ae27_the_request_is_kept_as_it_was_sent(talk: Talk, said: Make, good: Make) -> None:
    """What is kept is the body, byte for byte."""
    done = talk(said(body=good()), requests=[replace(QUESTION, user="Où? 🚢")])
    assert done.only.request.encode() == done.seen[0].raw


def test_a_good_answer_is_a_completion(talk: Talk, said: Make, good: Make) -> None:
    """Text, model, reason of the end, tokens and time are taken over."""
    body = good()
    body["usage"]["prompt_tokens_details"] = {"cached_tokens": 8}
    done = talk(said(body=body, delay_s=0.05)).only
    assert (done.status, done.text, done.failure_kind) == (Status.COMPLETED, "Lisbon.", None)
    assert (done.model, done.response_model, done.finish_reason) == ("scripted", "scripted-2", "stop")
    assert done.usage == Usage(input_tokens=12, output_tokens=3, total_tokens=15, cached_tokens=8)
    assert 50 <= done.latency_ms < 20_000
    assert done.notes == ()


def test_without_a_key_none_is_sent(talk: Talk, said: Make, good: Make) -> None:
    """A local server needs no key, and is told none, nor who one is elsewhere."""
    seen = talk(said(body=good())).seen[0]
    assert not {"authorization", "openai-organization", "openai-project"} & seen.headers.keys()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, NO_USAGE),
        ({"prompt_tokens": -1, "completion_tokens": "3", "total_tokens": True}, NO_USAGE),
        (
            {"prompt_tokens": 4, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 5}},
            Usage(input_tokens=4, output_tokens=0),
        ),
    ],
)
def test_usage_that_is_not_told_is_null(
    usage: Any, expected: Usage, talk: Talk, said: Make, good: Make
) -> None:
    """Unknown counts are null and never 0; more cached tokens than tokens are none that can be believed."""
    assert talk(said(body=good(usage=usage))).only.usage == expected


def test_tool_calls_need_no_text(talk: Talk, said: Make, good: Make) -> None:
    """A model that only calls tools has answered; its arguments are kept as it wrote them."""
    calls = [
        {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"'}},
        {"id": "2", "type": "function", "function": {"name": "ask", "arguments": {"who": "me"}}},
    ]
    body = good(None, message={"tool_calls": calls}, choice={"finish_reason": "tool_calls"})
    done = talk(said(body=body)).only
    assert (done.status, done.text) == (Status.COMPLETED, "")
    assert done.tool_calls == (
        ToolCall(id="1", name="look", arguments='{"at": "sky"'),
        ToolCall(id="2", name="ask", arguments='{"who": "me"}'),
    )


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_cut_short_is_noted(reason: str, talk: Talk, said: Make, good: Make) -> None:
    """The trial is completed, and its row says why it ends where it ends."""
    done = talk(said(body=good("Lis", choice={"finish_reason": reason}))).only
    assert (done.status, done.text, done.notes) == (Status.COMPLETED, "Lis", (reason,))


@pytest.mark.parametrize(
    ("message", "text", "notes"),
    [
        ({"content": [{"type": "text", "text": "Lis"}, {"type": "x"}, {"text": "bon"}]}, "Lisbon", ()),
        ({"content": None, "refusal": "I will not."}, "I will not.", ("refusal",)),
        ({"content": ""}, "", ()),
    ],
)
def test_what_a_model_says_may_stand_elsewhere(  # noqa: PLR0913, PLR0917 - a table and three fixtures
    message: Any, text: str, notes: Any, talk: Talk, said: Make, good: Make
) -> None:
    """Pieces are joined, and a refusal is what the model said."""
    done = talk(said(body=good(message=message))).only
    assert (done.status, done.text, done.notes) == (Status.COMPLETED, text, notes)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "http_4xx", False),
        (401, "not_authorised", False),
        (403, "not_authorised", False),
        (404, "http_4xx", False),
        (408, "unavailable", True),
        (429, "rate_limited", True),
        (500, "http_5xx", True),
        (503, "unavailable", True),
        (529, "unavailable", True),
    ],
)
def test_an_error_of_the_provider_is_no_answer(
    status: int, kind: str, retryable: bool, talk: Talk, said: Make
) -> None:
    """AE-02, C60: an error has no text to grade; whether it may pass and what was said is kept, but no key."""
    body = {"error": {"message": f"no, {KEY} will not do", "code": "x"}}
    done = talk(said(status=status, body=body), environ={"K": KEY}, api_key_env="K").only
    assert (done.status, done.text) == (Status.PROVIDER_ERROR, None)
    assert (done.failure_kind, done.retryable) == (kind, retryable)
    assert "no, *** will not do" in done.message
    assert str(status) in done.message


def test_a_quota_that_is_spent_is_not_waited_for(talk: Talk, said: Make) -> None:
    """Some providers answer 429 where only money helps."""
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    done = talk(said(status=429, body=body)).only
    assert (done.failure_kind, done.retryable) == ("insufficient_quota", False)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "7", "retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "3600"}, 60.0),
        (
            {"Date": "Tue, 06 May 2025 08:00:00 GMT", "Retry-After": "Tue, 06 May 2025 08:00:09 GMT"},
            9.0,
        ),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_every_form_of_retry_after_is_heard(
    headers: dict[str, str], seconds: float | None, talk: Talk, said: Make
) -> None:
    """Seconds, milliseconds and dates by the server's clock, up to the limit of the options."""
    done = talk(said(status=429, body={}, headers=headers)).only
    assert done.retry_after_s == seconds


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>It works!</html>",
        b'{"choices": [{"mess',
        b"[]",
        {"weather": "fine"},
        {"choices": []},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"tool_calls": [{"function": {}}]}}]},
        {"error": {"message": "upstream"}},
    ],
)
def test_a_body_that_is_no_completion_is_malformed(body: Any, talk: Talk, said: Make) -> None:
    """Whatever cannot be read is an error of the provider, which may pass."""
    done = talk(said(body=body)).only
    assert (done.status, done.failure_kind, done.text) == (Status.PROVIDER_ERROR, "malformed_reply", None)
    assert done.retryable
    assert done.message


def test_an_error_inside_a_good_answer_is_one(talk: Talk, said: Make) -> None:
    """Some routers answer 200 and put the error of whoever is behind them into the body."""
    done = talk(said(body={"error": {"message": "busy", "code": 429}})).only
    assert (done.status, done.failure_kind, done.retryable) == (Status.PROVIDER_ERROR, "rate_limited", True)


def test_an_answer_beyond_the_limit_is_not_read(talk: Talk, said: Make, good: Make) -> None:
    """More bytes than allowed are an error; the connection goes, the next call gets a new one."""
    answers = (said(body=good("x" * 300_000)), said(body=good("short")))
    done = talk(*answers, requests=[QUESTION, QUESTION], max_output_bytes=1000).completions
    assert (done[0].status, done[0].failure_kind) == (Status.PROVIDER_ERROR, "output_limit")
    assert done[1].text == "short"


def test_of_a_long_error_the_beginning_is_kept(talk: Talk, said: Make) -> None:
    """An error stays what it is, however long its page."""
    done = talk(said(status=502, body=b"y" * 300_000), max_output_bytes=100_000).only
    assert (done.failure_kind, done.retryable) == ("http_5xx", True)
    assert len(done.message) == 16_384


def test_an_encoding_that_was_not_asked_for_is_refused(talk: Talk, said: Make, good: Make) -> None:
    """What is packed could be of any size once unpacked."""
    done = talk(said(body=good(), headers={"Content-Encoding": "gzip"}))
    assert done.only.failure_kind == "malformed_reply"
    assert done.seen[0].headers["accept-encoding"] == "identity"


def test_a_redirect_is_not_followed(talk: Talk, said: Make) -> None:
    """The key goes where it was meant to go."""
    done = talk(said(status=307, headers={"Location": "http://127.0.0.1:1/v1"}))
    assert (done.only.failure_kind, done.only.retryable) == ("redirect", False)
    assert len(done.seen) == 1


def test_cookies_of_one_call_are_unknown_to_the_next(talk: Talk, said: Make, good: Make) -> None:
    """Each call stands alone."""
    done = talk(said(body=good(), headers={"Set-Cookie": "a=b; Path=/"}), requests=[QUESTION, QUESTION])
    assert "cookie" not in done.seen[1].headers


def test_a_lone_surrogate_is_sent_as_its_escape(talk: Talk, said: Make, good: Make) -> None:
    """A text that UTF-8 cannot hold reaches the model all the same."""
    done = talk(said(body=good()), requests=[ChatRequest(user="a\ud800b")])
    assert done.seen[0].body["messages"][0]["content"] == "a\ud800b"
    assert done.only.status is Status.COMPLETED


def test_a_refused_system_message_goes_to_the_user(talk: Talk, said: Make, good: Make) -> None:
    """It is noted and remembered, and the time of the refused call is not the model's."""
    answers = (said(status=400, body=NO_SYSTEM, delay_s=0.4), said(body=good()))
    began = time.perf_counter()
    done = talk(*answers, requests=[QUESTION, QUESTION])
    took_ms = (time.perf_counter() - began) * 1000
    texts = ["Be brief.\n\n---USER REQUEST---\n\nWhich port?"] * 2
    assert [seen.body["messages"][0]["role"] for seen in done.seen] == ["system", "user", "user"]
    assert [seen.body["messages"][0]["content"] for seen in done.seen[1:]] == texts
    assert [(one.status, one.notes) for one in done.completions] == [
        (Status.COMPLETED, ("system_as_user",))
    ] * 2
    assert done.completions[0].latency_ms <= took_ms - 400
    assert json.loads(done.completions[0].request) == done.seen[1].body


@pytest.mark.parametrize(
    "words",
    [
        "System role not supported",
        "Developer instruction is not enabled for models/small",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    ],
)
def test_a_refusal_of_system_messages_has_many_wordings(
    words: str, talk: Talk, said: Make, good: Make
) -> None:
    """Whatever names the role of the system in a 400 is one."""
    done = talk(said(status=400, body={"error": {"message": words}}), said(body=good()))
    assert done.only.notes == ("system_as_user",)


@pytest.mark.parametrize(
    ("options", "request_", "n_calls"),
    [
        ({"system_role": "system"}, QUESTION, 1),
        ({}, ChatRequest(user="Which port?"), 1),
        ({"system_role": "user"}, QUESTION, 1),
    ],
)
def test_only_a_system_message_is_given_up(
    options: Any, request_: ChatRequest, n_calls: int, talk: Talk, said: Make
) -> None:
    """Where there is none to move, or it may not be moved, the refusal is the outcome."""
    done = talk(said(status=400, body=NO_SYSTEM), requests=[request_], **options)
    assert (done.only.failure_kind, len(done.seen)) == ("http_4xx", n_calls)


def test_a_system_message_can_be_the_users_from_the_start(talk: Talk, said: Make, good: Make) -> None:
    """`system_role: user` needs no refusal first."""
    done = talk(said(body=good()), system_role="user")
    assert [message["role"] for message in done.seen[0].body["messages"]] == ["user"]
    assert done.only.notes == ("system_as_user",)


def test_a_refused_schema_is_left_out(talk: Talk, said: Make, good: Make) -> None:
    """It is noted and remembered; the prompt has to do."""
    schema = {"type": "object"}
    request = replace(QUESTION, response_schema=schema)
    answers = (said(status=400, body=NO_FORMAT), said(body=good()))
    done = talk(*answers, requests=[request, request])
    assert done.seen[0].body["response_format"]["json_schema"]["schema"] == schema
    assert ["response_format" in seen.body for seen in done.seen] == [True, False, False]
    assert [one.notes for one in done.completions] == [("no_structured_output",)] * 2


def test_both_can_be_refused_one_after_the_other(talk: Talk, said: Make, good: Make) -> None:
    """A small model may know neither."""
    answers = (said(status=400, body=NO_SYSTEM), said(status=400, body=NO_FORMAT), said(body=good()))
    done = talk(*answers, requests=[replace(QUESTION, response_schema={})])
    assert done.only.notes == ("system_as_user", "no_structured_output")


@pytest.mark.parametrize("fault", ["fault-hang", "fault-drip"])
def test_ae25_a_deadline_holds_for_the_whole_call(fault: str, server: Any, make_options: Make) -> None:
    """Neither silence nor a slow drip lasts longer than the limit."""
    started = time.monotonic()
    done = _asked(server, make_options, fault, timeout_s=0.4)
    assert time.monotonic() - started < 30
    assert (done.status, done.failure_kind, done.text) == (Status.TIMEOUT, "timeout", None)
    assert 400 <= done.latency_ms < 30_000  # type: ignore[operator] # it was measured


@pytest.mark.parametrize(
    ("fault", "kind", "retryable"),
    [
        ("fault-reset", "connection_lost", True),
        ("fault-malformed", "malformed_reply", True),
        ("fault-garbage-json", "malformed_reply", True),
        ("fault-no-choices", "malformed_reply", True),
        ("fault-404", "http_4xx", False),
        ("fault-429", "rate_limited", True),
        ("fault-503", "unavailable", True),
    ],
)
def test_each_fault_of_the_scripted_server_has_its_name(
    fault: str, kind: str, retryable: bool, server: Any, make_options: Make
) -> None:
    """A second server, a program of its own, agrees on what failures mean."""
    done = _asked(server, make_options, fault)
    assert (done.status, done.failure_kind, done.retryable) == (Status.PROVIDER_ERROR, kind, retryable)


@pytest.mark.parametrize(
    ("fault", "notes"),
    [("fault-refuse-system", ("system_as_user",)), ("fault-empty", ()), ("fault-no-usage", ())],
)
def test_what_the_scripted_server_merely_dislikes_is_completed(
    fault: str, notes: tuple[str, ...], server: Any, make_options: Make
) -> None:
    """The trial goes on, and says what was done otherwise."""
    done = _asked(server, make_options, fault)
    assert (done.status, done.notes) == (Status.COMPLETED, notes)


def test_nobody_there_is_unreachable_and_took_no_time(make_options: Make) -> None:
    """An address where nobody listens is an outage, not a slow model."""
    provider = OpenAIProvider(make_options(base_url="http://127.0.0.1:9/v1"), environ={})
    done = asyncio.run(provider.complete(QUESTION, timeout_s=5))
    assert (done.status, done.failure_kind, done.retryable) == (Status.PROVIDER_ERROR, "unreachable", True)
    assert done.latency_ms is None


def test_cancelling_closes_the_connection(
    open_endpoint: Make, said: Make, good: Make, make_options: Make
) -> None:
    """Nobody goes on paying for an answer that nobody waits for."""

    async def cancelled() -> None:
        async with open_endpoint(said(body=good(), delay_s=30)) as endpoint:
            provider = OpenAIProvider(make_options(base_url=endpoint.url), environ={})
            task = asyncio.create_task(provider.complete(QUESTION, timeout_s=60))
            await asyncio.wait_for(endpoint.was_asked.wait(), timeout=60)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(endpoint.was_left.wait(), timeout=60)
            await provider.aclose()

    asyncio.run(cancelled())


def test_sixty_four_calls_run_at_once(
    open_endpoint: Make, said: Make, good: Make, make_options: Make
) -> None:
    """No call waits for a connection of another one."""

    async def crowd() -> int:
        async with open_endpoint(said(body=good(), delay_s=0.5)) as endpoint:
            provider = OpenAIProvider(make_options(base_url=endpoint.url), environ={})
            provider.check()
            done = await asyncio.gather(*(provider.complete(QUESTION, timeout_s=20) for _ in range(64)))
            await provider.aclose()
            assert {one.status for one in done} == {Status.COMPLETED}
            return int(endpoint.most_in_flight)

    assert asyncio.run(crowd()) == 64


def test_a_provider_can_be_closed_twice(make_options: Make) -> None:
    """Subject and judge may be the same."""
    provider = OpenAIProvider(make_options(base_url="http://127.0.0.1:9/v1"), environ={})
    provider.check()

    async def closed() -> None:
        await provider.aclose()
        await provider.aclose()

    asyncio.run(closed())


def test_proxies_of_the_environment_are_asked_only_when_told_so(
    tmp_path: Path, server: Any, make_options: Make
) -> None:
    """A proxy that does not exist does no harm, unless the options want the environment's."""
    program = (
        "import asyncio, json, sys\n"
        "from skilleval.chat.base import ChatRequest\n"
        "from skilleval.chat.openai_client import OpenAIProvider\n"
        "from skilleval.chat.openai_options import OpenAIOptions\n"
        "options = json.loads(sys.argv[1])\n"
        "async def main():\n"
        "    provider = OpenAIProvider(OpenAIOptions.parse(options, where='test'), environ={})\n"
        "    done = await provider.complete(ChatRequest(user='x'), timeout_s=10)\n"
        "    await provider.aclose()\n"
        "    print(done.failure_kind)\n"
        "asyncio.run(main())\n"
    )
    environ = {**os.environ, "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "", "no_proxy": ""}
    for use_proxy_env, expected in ((False, "None"), (True, "unreachable")):
        options = make_options(base_url=server.base_url, use_proxy_env=use_proxy_env).model_dump(mode="json")
        ran = subprocess.run(
            [sys.executable, "-c", program, json.dumps(options)],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert ran.stdout.strip() == expected
