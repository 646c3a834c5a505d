"""What a turn looks like as the body of an OpenAI request, for models old and new."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skilleval.chat.base import ChatRequest

SYSTEM_MARKER = "---USER REQUEST---"
"""Parts what the system says from what the user says, for models that know no system."""

_RESERVED = ("model", "messages", "stream", "stream_options", "n")
_REASONING = re.compile(r"o\d|gpt-5")  # these refuse `max_tokens`
_NAMES_SYSTEM = re.compile(
    r"\b(system|developer)\b.{0,60}\b(role|message|prompt|instruction)|\brole\b.{0,60}\b(system|developer)\b",
    re.IGNORECASE | re.DOTALL,
)
_NAMES_FORMAT = re.compile(r"response_?format|json_schema|structured.?output|guided", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Concessions:
    """What has to be done otherwise, because the model would not take it."""

    system_as_user: bool = False
    no_structured_output: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A request as it is sent, and what in it is otherwise than asked."""

    text: str
    has_system: bool
    has_format: bool
    notes: tuple[str, ...]

    def content(self) -> bytes:
        """Give the bytes; a lone surrogate has no UTF-8, and its backslash form is its JSON escape."""
        return self.text.encode(errors="backslashreplace")


def build_body(
    request: ChatRequest, *, model: str, sends_seed: bool = True, concessions: Concessions
) -> Body:
    """Write a request down; parameters that would change what an answer is are left out and noted."""
    has_system = request.system is not None and not concessions.system_as_user
    has_format = request.response_schema is not None and not concessions.no_structured_output
    values: dict[str, Any] = {"model": model, "messages": _messages(request, has_system=has_system)}
    values |= _params(request.params, model)
    if sends_seed and request.seed is not None:
        values.setdefault("seed", request.seed)
    if request.tools:
        values["tools"] = [dict(tool) for tool in request.tools]
        if request.tool_choice is not None:
            values["tool_choice"] = request.tool_choice
    if has_format:
        values["response_format"] = _response_format(request.response_schema)
    return Body(
        text=json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False),
        has_system=has_system,
        has_format=has_format,
        notes=_notes(request, has_system=has_system, has_format=has_format),
    )


def conceded(known: Concessions, sent: Body, refusal: str) -> Concessions | None:
    """Say what to do otherwise after a refusal; null where nothing of it is to blame."""
    if sent.has_format and _NAMES_FORMAT.search(refusal):
        return Concessions(system_as_user=known.system_as_user, no_structured_output=True)
    if sent.has_system and _NAMES_SYSTEM.search(refusal):
        return Concessions(system_as_user=True, no_structured_output=known.no_structured_output)
    return None


def _messages(request: ChatRequest, *, has_system: bool) -> list[dict[str, str]]:
    if request.system is None:
        return [{"role": "user", "content": request.user}]
    if has_system:
        return [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
    return [{"role": "user", "content": f"{request.system}\n\n{SYSTEM_MARKER}\n\n{request.user}"}]


def _params(params: Mapping[str, Any], model: str) -> dict[str, Any]:
    kept = {name: value for name, value in params.items() if name not in _RESERVED}
    if "max_tokens" in kept and _REASONING.match(model.rsplit("/", maxsplit=1)[-1]):
        limit = kept.pop("max_tokens")
        kept.setdefault("max_completion_tokens", limit)
    return kept


def _response_format(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}


def _notes(request: ChatRequest, *, has_system: bool, has_format: bool) -> tuple[str, ...]:
    said = {
        "system_as_user": request.system is not None and not has_system,
        "no_structured_output": request.response_schema is not None and not has_format,
    }
    ignored = tuple(f"param_ignored: {name}" for name in _RESERVED if name in request.params)
    return (*(note for note, is_true in said.items() if is_true), *ignored)
