"""What an HTTP answer means: output to score, a fault of the skill, or trouble on the way to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Protocol

from skilleval.adapters.text import MESSAGE_CHARACTERS, compact_json, decoded, excerpt, parsed_json, storable
from skilleval.adapters.usage import reported_usage
from skilleval.chat.retry_after import http_date, retry_after_s
from skilleval.domain.attempts import Reply, Status, Usage

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_USAGE_KINDS = ("input", "output", "total")
_COUNT = re.compile(r"[0-9]{1,19}")

# 401, 403, 407: what the evaluator holds is not accepted, which says nothing about the skill.
_NOT_AUTHORISED = frozenset({401, 403, 407})
# 408, 425, 429, 503: the server does not want to work now.
_BUSY = {408: "unavailable", 425: "unavailable", 429: "rate_limited", 503: "unavailable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An HTTP response as plain values. `n_bytes` counts the body also beyond what was kept of it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    n_bytes: int
    reason: str = ""

    @property
    def is_cut(self) -> bool:
        """Was the body longer than what is kept?"""
        return self.n_bytes > len(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no output to use."""

    kind: str
    message: str
    status: Status = Status.SKILL_ERROR
    retryable: bool = True
    retry_after_s: float | None = None

    def reply(self, evidence: Reply | None = None) -> Reply:
        """Give the reply that says so."""
        known = evidence or Reply(status=self.status)
        return Reply(
            status=self.status,
            failure_kind=self.kind,
            message=storable(self.message[:MESSAGE_CHARACTERS])[0],
            latency_ms=known.latency_ms,
            stdout=known.stdout,
            stderr=known.stderr,
            output_bytes=known.output_bytes,
            output_encoding_errors=known.output_encoding_errors,
            usage=known.usage,
            retryable=self.retryable,
            retry_after_s=self.retry_after_s,
        )


class Redaction(Protocol):
    """Takes the token out of a text, also where a cut left only a part of it."""

    def __call__(self, text: str, *, is_cut_before: bool = False, is_cut: bool = False) -> str:
        """Give the text without it."""


def nothing_redacted(text: str, *, is_cut_before: bool = False, is_cut: bool = False) -> str:  # noqa: ARG001 - a Redaction
    """Give a text as it is: there is no token."""
    return text


def read_answer(
    answer: Answer,
    *,
    latency_ms: float,
    max_retry_after_s: float,
    redacted: Redaction = nothing_redacted,
) -> Reply:
    """Turn an answer into a reply; `redacted` takes the token out of whatever is kept."""
    text, n_wrong = decoded(answer.body, is_cut=answer.is_cut)
    text = redacted(text.removeprefix("\ufeff"), is_cut=answer.is_cut)
    evidence = Reply(
        status=Status.COMPLETED,
        latency_ms=latency_ms,
        stdout=excerpt(text.encode()),
        output_bytes=answer.n_bytes,
        output_encoding_errors=n_wrong,
        usage=_usage(answer.headers),
    )
    failure = _refused(answer, _words(answer, text), max_retry_after_s) or _unusable(answer)
    if failure is not None:
        return replace(failure, message=redacted(failure.message)).reply(evidence)
    return _completed(text, evidence, redacted)


def _completed(text: str, evidence: Reply, redacted: Redaction) -> Reply:
    try:
        output, n_replaced = compact_json(parsed_json(text))
    except RecursionError:
        return Failure(kind="unreadable_reply", message="the body is nested too deeply").reply(evidence)
    except ValueError as error:
        return Failure(kind="no_reply", message=f"the body is not JSON: {error}").reply(evidence)
    return Reply(
        status=Status.COMPLETED,
        output=redacted(output),
        latency_ms=evidence.latency_ms,
        output_bytes=evidence.output_bytes,
        output_encoding_errors=evidence.output_encoding_errors + n_replaced,
        usage=evidence.usage,
    )


def _refused(answer: Answer, message: str, max_retry_after_s: float) -> Failure | None:
    status = answer.status
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return None
    if status < HTTPStatus.BAD_REQUEST:
        return Failure(kind="redirect", message=message, retryable=False)
    if status in _NOT_AUTHORISED:
        return Failure(kind="not_authorised", message=message, status=Status.PROVIDER_ERROR, retryable=False)
    if status in _BUSY:
        return Failure(
            kind=_BUSY[status],
            message=message,
            status=Status.PROVIDER_ERROR,
            retry_after_s=_pause_s(answer.headers, max_retry_after_s),
        )
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return Failure(kind="http_4xx", message=message, retryable=False)
    return Failure(
        kind="http_5xx", message=message, retry_after_s=_pause_s(answer.headers, max_retry_after_s)
    )


def _unusable(answer: Answer) -> Failure | None:
    if answer.is_cut:
        message = f"sent at least {answer.n_bytes} bytes, the limit is {len(answer.body)}"
        return Failure(kind="output_limit", message=message)
    encoding = answer.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        message = f"the body is encoded as {encoding}, which was not asked for"
        return Failure(kind="unreadable_reply", message=message, retryable=False)
    return None


def _words(answer: Answer, text: str) -> str:
    """Give status, reason and what is worth saying of the rest."""
    line = f"HTTP {answer.status} {answer.reason or _PHRASES.get(answer.status, '')}".rstrip()
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
        target = answer.headers.get("location")
        if target is None:
            return f"{line}: neither an output nor an address where there is one"
        return f"{line}: leads to {target}, which is not followed"
    said = " ".join(text.split())
    return f"{line}: {said}" if said else line


def _pause_s(headers: Mapping[str, str], cap_s: float) -> float | None:
    now = http_date(headers.get("date")) or datetime.now(tz=UTC)
    return retry_after_s(headers.get("retry-after"), now=now, cap_s=cap_s)


def _usage(headers: Mapping[str, str]) -> Usage:
    said = {f"{kind}_tokens": headers.get(f"x-usage-{kind}-tokens", "") for kind in _USAGE_KINDS}
    return reported_usage({name: int(count) for name, count in said.items() if _COUNT.fullmatch(count)})
