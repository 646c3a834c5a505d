"""The scripted model: what becomes of a request for a completion, whatever carries it."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TextIO

from scripted_answers import UNKNOWN, Answer, Rule, answer_of
from scripted_faults import fault_of, judge_text, refusal, status_of
from scripted_judge import assertions_in, is_rubric, rubric_reply, verdicts
from scripted_request import Asked, PrefixCache, RefusedRequestError, cut_to, read_request, tokens


@dataclass(slots=True, kw_only=True)
class Exchange:
    """What came of a request: what goes back, and what the log says about it."""

    status: int
    body: bytes
    log: dict[str, Any]
    fault: str = ""


class ScriptedModel:
    """Answers requests; keeps what the same prompts had before, and writes the log."""

    def __init__(self, rules: tuple[Rule, ...], *, latency_s: float, log: TextIO | None) -> None:
        self._rules = rules
        self._latency_s = latency_s
        self._log = log
        self._cache = PrefixCache()
        self._calls: Counter[str] = Counter()
        self._in_flight = 0
        self.n_requests = 0

    async def completion(self, raw: bytes, header: str) -> Exchange:
        """Answer one request for a completion, after the time a model takes."""
        started = time.monotonic()
        self.n_requests += 1
        self._in_flight += 1
        in_flight = self._in_flight
        try:
            await asyncio.sleep(self._latency_s)
            exchange = self._exchange(raw, header)
        finally:
            self._in_flight -= 1
        exchange.log |= {"in_flight": in_flight, "duration_s": round(time.monotonic() - started, 4)}
        if self._log is not None:
            self._log.write(json.dumps({"at": time.time(), "status": exchange.status, **exchange.log}) + "\n")
        return exchange

    def _exchange(self, raw: bytes, header: str) -> Exchange:
        try:
            asked = read_request(json.loads(raw))
        except (ValueError, RefusedRequestError) as error:
            return failed(HTTPStatus.BAD_REQUEST, str(error))
        judged = assertions_in(asked)
        judges = bool(judged) or is_rubric(asked)
        fault = fault_of(asked, header, judges=judges)
        log = {
            "purpose": "judge" if judges else "subject",
            "model": asked.model,
            "fault": fault,
            "seed": asked.seed,
            "has_system": asked.has_system,
            "digest": asked.digest,
        }
        self._calls[asked.digest] += 1
        if refused := self._refused(fault, asked):
            return failed(*refused, log, fault)
        return self._answered(asked, self._answer(asked, fault, has_assertions=bool(judged)), fault, log)

    def _refused(self, fault: str, asked: Asked) -> tuple[int, str] | None:
        """Give status and words where a request gets no answer."""
        if asked.streams:
            return HTTPStatus.BAD_REQUEST, "this server does not stream"
        if words := refusal(fault, asked):
            return HTTPStatus.BAD_REQUEST, words
        status = status_of(fault)
        if fault == "fault-flaky-503" and self._calls[asked.digest] % 2:
            status = 503
        return (status, f"the fault that was asked for: {status}") if status else None

    def _answer(self, asked: Asked, fault: str, *, has_assertions: bool) -> Answer:
        if fault == "fault-empty":
            return Answer(text="")
        if has_assertions:
            return Answer(text=judge_text(fault, verdicts(asked)))
        if is_rubric(asked):
            said = "It is rather good." if fault == "fault-judge-garbage" else rubric_reply(asked)
            return answer_of(self._rules, asked, judge=True) or Answer(text=said)
        return answer_of(self._rules, asked) or Answer(text=UNKNOWN)

    def _answered(self, asked: Asked, answer: Answer, fault: str, log: dict[str, Any]) -> Exchange:
        text = cut_to(answer.text, asked.max_tokens)
        finish = "length" if text != answer.text else "tool_calls" if answer.tool_calls else "stop"
        message: dict[str, Any] = {
            "role": "assistant",
            "content": text or (None if answer.tool_calls else ""),
        }
        if answer.tool_calls:
            message["tool_calls"] = _tool_calls(asked, answer)
        usage = self._usage(asked, text, answer)
        document: dict[str, Any] = {
            "id": f"chatcmpl-{asked.digest}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": asked.model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": usage,
        }
        log |= {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
        return Exchange(status=200, body=_spoilt(document, fault), log=log, fault=fault)

    def _usage(self, asked: Asked, text: str, answer: Answer) -> dict[str, Any]:
        prompt = asked.prompt_tokens
        said = len(tokens(text)) + sum(len(tokens(name + arguments)) for name, arguments in answer.tool_calls)
        return {
            "prompt_tokens": len(prompt),
            "completion_tokens": said,
            "total_tokens": len(prompt) + said,
            "prompt_tokens_details": {"cached_tokens": self._cache.cached_tokens(prompt)},
        }


def _tool_calls(asked: Asked, answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{asked.digest}_{i}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for i, (name, arguments) in enumerate(answer.tool_calls)
    ]


def _spoilt(document: dict[str, Any], fault: str) -> bytes:
    """Write a completion as the fault says; without one, as it is."""
    if fault == "fault-no-usage":
        del document["usage"]
    if fault == "fault-no-choices":
        document["choices"] = []
    if fault == "fault-garbage-json":
        document = {"weather": "fine", "wind": [3, 4]}
    body = json.dumps(document, ensure_ascii=False).encode()
    return body[: len(body) // 2] if fault == "fault-malformed" else body


def failed(status: int, message: str, log: dict[str, Any] | None = None, fault: str = "") -> Exchange:
    """Give an answer that is an error, in the form of the protocol."""
    kind = "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        kind = "rate_limit_exceeded"
    body = {"error": {"message": message, "type": kind, "param": None, "code": kind}}
    return Exchange(status=status, body=json.dumps(body).encode(), log=log or {}, fault=fault)
