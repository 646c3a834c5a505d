"""What an answer of the OpenAI protocol means: a completion, or why there is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from skilleval.chat.base import Completion, ToolCall
from skilleval.chat.retry_after import http_date, retry_after_s
from skilleval.domain.attempts import NO_USAGE, Status, Usage

MESSAGE_CHARACTERS = 16_384
"""Kept of what was said of a failure; less is stored, once nothing in it is secret any more."""

_MAX_COUNT = 2**63 - 1  # what a column of the results can hold
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_NOTED_ENDS = frozenset({"length", "content_filter"})
_SPENT = "insufficient_quota"  # a 429 that no waiting mends
_KINDS = {
    401: "not_authorised",
    403: "not_authorised",
    407: "not_authorised",
    408: "unavailable",
    425: "unavailable",
    429: "rate_limited",
    503: "unavailable",
    529: "unavailable",
}
_PASSING = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no completion."""

    kind: str
    message: str
    status: Status = Status.PROVIDER_ERROR
    retryable: bool = True
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An answer that is an error: its code, headers and body."""

    code: int
    headers: Mapping[str, str]
    body: object

    @property
    def words(self) -> str:
        """Code, reason and what the server says."""
        line = f"HTTP {self.code} {_PHRASES.get(self.code, '')}".rstrip()
        said = " ".join(_said(self.body).split())
        return f"{line}: {said}" if said else line

    def failure(self, max_retry_after_s: float) -> Failure:
        """Say whether asking again may help, and when."""
        is_spent = isinstance(self.body, Mapping) and _SPENT in {self.body.get("code"), self.body.get("type")}
        is_passing = self.code in _PASSING or self.code >= HTTPStatus.INTERNAL_SERVER_ERROR
        return Failure(
            kind=_SPENT if is_spent else _kind(self.code),
            message=self.words,
            retryable=is_passing and not is_spent,
            retry_after_s=_pause_s(self.headers, max_retry_after_s) if is_passing else None,
        )


def failed(failure: Failure, *, model: str, request: str, latency_ms: float | None) -> Completion:
    """Give the completion that says there is none."""
    return Completion(
        status=failure.status,
        model=model,
        request=request,
        latency_ms=latency_ms,
        failure_kind=failure.kind,
        message=failure.message[:MESSAGE_CHARACTERS],
        retryable=failure.retryable,
        retry_after_s=failure.retry_after_s,
    )


def read_reply(
    content: bytes, *, model: str, request: str, latency_ms: float, redacted: Callable[[str], str]
) -> Completion | Refusal | Failure:
    """Read the body of a 2xx answer; some servers put an error of theirs into one."""
    try:
        body = json.loads(content.decode(errors="replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return _malformed(f"the body is not JSON: {type(error).__name__}: {error}")
    if not isinstance(body, Mapping):
        return _malformed("the body is no object")
    message = _message(body)
    if message is None:
        return _without_choice(body)
    choice = body["choices"][0]
    text, notes = _text(message)
    calls = _tool_calls(message, redacted)
    if calls is None:
        return _malformed("a tool call has no function with a name")
    ended = _word(choice.get("finish_reason"))
    return Completion(
        status=Status.COMPLETED,
        model=model,
        request=request,
        text=redacted(text),
        tool_calls=calls,
        usage=read_usage(body.get("usage")),
        response_model=_word(body.get("model")),
        finish_reason=ended,
        latency_ms=latency_ms,
        notes=(*notes, *([ended] if ended in _NOTED_ENDS else ())),
    )


def read_usage(said: object) -> Usage:
    """Give what was reported; what is absent or no count stays null."""
    if not isinstance(said, Mapping):
        return NO_USAGE
    details = said.get("prompt_tokens_details")
    n_input = _count(said.get("prompt_tokens"))
    cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    is_part = cached is not None and n_input is not None and cached <= n_input
    return Usage(
        input_tokens=n_input,
        output_tokens=_count(said.get("completion_tokens")),
        total_tokens=_count(said.get("total_tokens")),
        cached_tokens=cached if is_part else None,
    )


def _malformed(message: str) -> Failure:
    return Failure(kind="malformed_reply", message=message)


def _without_choice(body: Mapping[str, Any]) -> Refusal | Failure:
    error = body.get("error")
    if not error:
        return _malformed("the body has no choice with a message")
    code = error.get("code") if isinstance(error, Mapping) else None
    if type(code) is int and HTTPStatus.BAD_REQUEST <= code < 600:  # noqa: PLR2004 - codes of HTTP end there
        return Refusal(code=code, headers={}, body=error)
    return _malformed(f"the body is an error: {_said(error)}")


def _message(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, Sequence) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    return message if isinstance(message, Mapping) else None


def _text(message: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Give what was said, in one piece or several; a model that refuses says so in a place of its own."""
    content = message.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(text for text in texts if isinstance(text, str))
    if isinstance(content, str) and content:
        return content, ()
    refusal = message.get("refusal")
    return (refusal, ("refusal",)) if isinstance(refusal, str) and refusal else ("", ())


def _tool_calls(message: Mapping[str, Any], redacted: Callable[[str], str]) -> tuple[ToolCall, ...] | None:
    said = message.get("tool_calls") or ()
    calls = [_tool_call(one, redacted) for one in said] if isinstance(said, Sequence) else [None]
    known = tuple(call for call in calls if call is not None)
    return known if len(known) == len(calls) else None


def _tool_call(said: object, redacted: Callable[[str], str]) -> ToolCall | None:
    function = said.get("function") if isinstance(said, Mapping) else None
    if not isinstance(said, Mapping) or not isinstance(function, Mapping):
        return None
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str):
        return None
    if not isinstance(arguments, str):  # some servers send them as a value
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id=str(said.get("id") or ""), name=redacted(name), arguments=redacted(arguments))


def _word(said: object) -> str | None:
    return said if isinstance(said, str) and said else None


def _count(said: object) -> int | None:
    return said if isinstance(said, int) and not isinstance(said, bool) and 0 <= said <= _MAX_COUNT else None


def _kind(code: int) -> str:
    if code < HTTPStatus.BAD_REQUEST:
        return "redirect"
    return _KINDS.get(code, "http_4xx" if code < HTTPStatus.INTERNAL_SERVER_ERROR else "http_5xx")


def _said(body: object) -> str:
    """Give the sentence of an error, wherever it stands."""
    if isinstance(body, Mapping):
        message = body.get("message")
        return message if isinstance(message, str) and message else json.dumps(body, ensure_ascii=False)
    return "" if body is None else str(body)


def _pause_s(headers: Mapping[str, str], cap_s: float) -> float | None:
    """Give the pause that is asked for; milliseconds are a header of their own, and more exact."""
    try:
        milliseconds = float(headers.get("retry-after-ms", ""))
    except ValueError:
        milliseconds = -1.0
    if 0 <= milliseconds < float("inf"):
        return min(milliseconds / 1000, cap_s)
    now = http_date(headers.get("date")) or datetime.now(tz=UTC)
    return retry_after_s(headers.get("retry-after"), now=now, cap_s=cap_s)
