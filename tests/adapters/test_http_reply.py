from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from skilleval.adapters.http_reply import Answer, Failure, read_answer
from skilleval.adapters.token import Token
from skilleval.domain.attempts import NO_USAGE, Reply, Status, Usage


def _read(
    body: bytes = b"{}",
    status: int = 200,
    *,
    cut: int = 0,
    headers: Mapping[str, str] | None = None,
    **more: str,
) -> Reply:
    named = {name.replace("_", "-"): value for name, value in {**(headers or {}), **more}.items()}
    answer = Answer(status=status, headers=named, body=body, n_bytes=len(body) + cut)
    return read_answer(answer, latency_ms=5.0, max_retry_after_s=60.0)


@pytest.mark.parametrize("status", [200, 201, 202, 299])
@pytest.mark.parametrize(
    ("body", "output"),
    [
        (b'{"result": 3}', '{"result":3}'),
        (b'{"error": "no"}', '{"error":"no"}'),
        (b"null", "null"),
        (b' "text" \n', '"text"'),
        (b"[1, 2.0]", "[1,2.0]"),
        (b"\xef\xbb\xbf3", "3"),
        ('"ü"'.encode(), '"ü"'),
    ],
)
def test_any_json_of_a_2xx_is_the_output(status: int, body: bytes, output: str) -> None:
    """Whatever JSON a successful answer holds is the output, an object with `error` too."""
    reply = _read(body, status)
    assert (reply.status, reply.output, reply.failure_kind) == (Status.COMPLETED, output, None)
    assert (reply.latency_ms, reply.output_bytes, reply.stdout) == (5.0, len(body), None)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (b"", "no_reply", "the body is not JSON: "),
        (b"<html>", "no_reply", "the body is not JSON: "),
        (b'{"a":', "no_reply", "the body is not JSON: "),
        (b"NaN", "no_reply", "the body is not JSON: NaN is not JSON"),
        (b"[" * 200_000, "unreadable_reply", "the body is nested too deeply"),
    ],
)
def test_a_2xx_without_json_is_no_answer(body: bytes, kind: str, message: str) -> None:
    """A success that says nothing usable is the skill's error, with the body as evidence."""
    reply = _read(body)
    assert (reply.status, reply.failure_kind, reply.output) == (Status.SKILL_ERROR, kind, None)
    assert reply.message is not None
    assert reply.message.startswith(message)
    assert reply.stdout is not None
    assert reply.stdout.endswith(body[-100:].decode())


@pytest.mark.parametrize(
    ("status", "expected", "kind", "retryable"),
    [
        (301, Status.SKILL_ERROR, "redirect", False),
        (304, Status.SKILL_ERROR, "redirect", False),
        (400, Status.SKILL_ERROR, "http_4xx", False),
        (401, Status.PROVIDER_ERROR, "not_authorised", False),
        (403, Status.PROVIDER_ERROR, "not_authorised", False),
        (404, Status.SKILL_ERROR, "http_4xx", False),
        (407, Status.PROVIDER_ERROR, "not_authorised", False),
        (408, Status.PROVIDER_ERROR, "unavailable", True),
        (422, Status.SKILL_ERROR, "http_4xx", False),
        (425, Status.PROVIDER_ERROR, "unavailable", True),
        (429, Status.PROVIDER_ERROR, "rate_limited", True),
        (500, Status.SKILL_ERROR, "http_5xx", True),
        (502, Status.SKILL_ERROR, "http_5xx", True),
        (503, Status.PROVIDER_ERROR, "unavailable", True),
        (599, Status.SKILL_ERROR, "http_5xx", True),
        (700, Status.SKILL_ERROR, "http_5xx", True),
    ],
)
def test_es20_every_refusal_has_its_status(
    status: int, expected: Status, kind: str, *, retryable: bool
) -> None:
    """A refusal is an error whatever JSON comes with it; only what may pass is tried again."""
    reply = _read(b'{"result": "busy"}', status)
    assert (reply.status, reply.failure_kind, reply.retryable) == (expected, kind, retryable)
    assert (reply.output, reply.stdout) == (None, '{"result": "busy"}')
    assert (reply.message or "").startswith(f"HTTP {status}")


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_es20_retry_after_is_heard(status: int) -> None:
    """The pause a server asks for goes with the reply, up to the longest one."""
    assert _read(status=status, retry_after="7").retry_after_s == 7.0
    assert _read(status=status, retry_after="3600").retry_after_s == 60.0
    assert _read(status=status, retry_after="soon").retry_after_s is None
    assert _read(status=status).retry_after_s is None


def test_es20_a_date_is_read_by_the_clock_that_wrote_it() -> None:
    """A server whose clock is years off still gets the pause it means."""
    said = {"retry_after": "Sat, 01 Nov 2036 08:00:12 GMT", "date": "Sat, 01 Nov 2036 08:00:00 GMT"}
    assert _read(status=429, headers=said).retry_after_s == 12.0


def test_a_message_says_status_reason_and_body() -> None:
    """The first words of the body are part of the sentence, on one line; a redirect says where it leads."""
    assert _read(b"no such\n  task", 404).message == "HTTP 404 Not Found: no such task"
    assert _read(b"", 599).message == "HTTP 599"
    away = _read(b"", 302, location="http://other.example/x").message
    assert away == "HTTP 302 Found: leads to http://other.example/x, which is not followed"
    nowhere = "HTTP 304 Not Modified: neither an output nor an address where there is one"
    assert _read(b"", 304).message == nowhere


def test_c30_more_than_the_cap_is_an_error() -> None:
    """An answer that was cut is none, and its size is known."""
    reply = _read(b"[1,2", cut=1)
    assert (reply.status, reply.failure_kind, reply.output_bytes) == (Status.SKILL_ERROR, "output_limit", 5)
    assert reply.message == "sent at least 5 bytes, the limit is 4"


def test_an_encoding_nobody_asked_for_is_an_error() -> None:
    """A compressed body is not unpacked: it could be of any size."""
    reply = _read(b"\x1f\x8b", content_encoding="gzip")
    assert (reply.failure_kind, reply.retryable) == ("unreadable_reply", False)
    assert _read(b"3", content_encoding="identity").output == "3"


@pytest.mark.parametrize(
    ("body", "output", "n_errors"),
    [
        (b'"\xff\xfe"', '"\ufffd\ufffd"', 1),
        (b'"\\ud800"', '"\ufffd"', 1),
        (b'"\xff\\ud800"', '"\ufffd\ufffd"', 2),
    ],
)
def test_c27_output_can_always_be_stored(body: bytes, output: str, n_errors: int) -> None:
    """Places that are not UTF-8 are replaced and counted."""
    reply = _read(body)
    assert (reply.output, reply.output_encoding_errors) == (output, n_errors)


@pytest.mark.parametrize(
    ("headers", "usage"),
    [
        ({}, NO_USAGE),
        ({"x_usage_total_tokens": "9"}, Usage(total_tokens=9)),
        (
            {"x_usage_input_tokens": "5", "x_usage_output_tokens": "4", "x_usage_total_tokens": "9"},
            Usage(input_tokens=5, output_tokens=4, total_tokens=9),
        ),
        ({"x_usage_input_tokens": "many", "x_usage_output_tokens": "-4"}, NO_USAGE),
        ({"x_usage_input_tokens": "9" * 5000, "x_usage_output_tokens": "9" * 19}, NO_USAGE),
        ({"x_usage_input_tokens": "0"}, Usage(input_tokens=0)),
    ],
)
def test_usage_is_read_from_headers(headers: dict[str, str], usage: Usage) -> None:
    """Counts come from the usage headers; a lone total is kept, and what is no count is not known."""
    assert _read(headers=headers).usage == usage
    assert _read(status=500, headers=headers).usage == usage


def test_nothing_secret_is_kept() -> None:
    """Output, message and excerpt go through the redaction, also what only JSON's escapes spell out."""

    def redacted(text: str, *, is_cut_before: bool = False, is_cut: bool = False) -> str:
        return Token("sesame").redacted(text, is_cut_before=is_cut_before, is_cut=is_cut)

    def read(**values: Any) -> Reply:
        answer = Answer(**{"status": 200, "headers": {}, "n_bytes": len(values["body"]), **values})
        return read_answer(answer, latency_ms=1.0, max_retry_after_s=1.0, redacted=redacted)

    assert read(body=b'["sesame", "ses\\u0061me"]').output == '["***","***"]'
    refused = read(body=b"sesame", status=400)
    assert (refused.message, refused.stdout) == ("HTTP 400 Bad Request: ***", "***")


def test_a_failure_keeps_what_was_seen() -> None:
    """Time, usage and evidence go over into the reply of a failure; an output does not."""
    seen = Reply(status=Status.COMPLETED, output="3", latency_ms=4.0, stdout="3", usage=Usage(total_tokens=1))
    reply = Failure(kind="k", message="m", retry_after_s=2.0).reply(seen)
    assert (reply.latency_ms, reply.stdout, reply.usage) == (4.0, "3", Usage(total_tokens=1))
    assert (reply.output, reply.failure_kind, reply.message, reply.retry_after_s) == (None, "k", "m", 2.0)
