"""What was said between a harness and a model, as turns: from the request as it was sent and the calls it led to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skilleval.report.details import Turn
from skilleval.report.excerpt import Excerpt

TOOL_CALL = "tool call"
_REQUEST = "request"
_MAX_TURN = 4000


def transcript(request: Excerpt | None, calls: Excerpt | None) -> tuple[Turn, ...]:
    """Give the turns; a request that is cut, or is no list of messages, is one turn as it stands."""
    return (*_asked(request), *_called(calls))


def _asked(request: Excerpt | None) -> Iterator[Turn]:
    if request is None:
        return
    messages = _field(_value(request), "messages")
    if isinstance(messages, list) and all(isinstance(message, Mapping) for message in messages):
        for message in messages:
            yield from _said(message)
    else:
        yield Turn(role=_REQUEST, text=Excerpt(text=request.text[:_MAX_TURN], length=request.length))


def _said(message: Mapping[str, Any]) -> Iterator[Turn]:
    """Give what a message says, then the calls it makes."""
    content, calls = message.get("content"), message.get("tool_calls")
    if content is not None or not calls:
        yield Turn(
            role=str(message.get("role", "")), text=_excerpt(content), name=str(message.get("name") or "")
        )
    yield from _calls(calls)


def _called(calls: Excerpt | None) -> Iterator[Turn]:
    if calls is None:
        return
    found = _value(calls)
    if isinstance(found, list):
        yield from _calls(found)
    else:
        yield Turn(role=TOOL_CALL, text=calls)


def _calls(calls: Any) -> Iterator[Turn]:
    for call in calls if isinstance(calls, Iterable) and not isinstance(calls, str) else ():
        function = _field(call, "function")
        told = function if isinstance(function, Mapping) else call
        arguments = _field(told, "arguments")
        yield Turn(
            role=TOOL_CALL,
            text=_excerpt(call if arguments is None else arguments),
            name=str(_field(told, "name") or ""),
        )


def _field(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _value(text: Excerpt) -> Any:
    """Give the value of a JSON text; null where it is cut or is none."""
    if len(text.text) < text.length:
        return None
    try:
        return json.loads(text.text)
    except (ValueError, RecursionError):
        return None


def _excerpt(value: Any) -> Excerpt:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return Excerpt(text=text[:_MAX_TURN], length=len(text))
