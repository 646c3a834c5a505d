"""What the scripted model is asked: a request of the chat completions protocol, reduced to what decides the answer."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SYSTEM_AS_USER = "\n\n---USER REQUEST---\n\n"  # how clients part the two for a model without a system role
_MARKER = re.compile(r"\[\[(fault-[a-z0-9-]+)\]\]")


class RefusedRequestError(Exception):
    """A request that the protocol does not allow."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request. `user` is the last message of the user, `pieces` are all messages, each as one text.

    `system` is what the system says, also where that stands at the beginning of the user's message; `has_system` is
    true only where it has a message of its own.
    """

    model: str
    system: str
    user: str
    has_system: bool
    pieces: tuple[str, ...]
    seed: int
    max_tokens: int | None
    tool_names: frozenset[str]
    has_schema: bool
    streams: bool

    @property
    def marked_faults(self) -> list[str]:
        """The faults that the user's text asks for, e.g. `[[fault-500]]`."""
        return _MARKER.findall(self.user)

    @cached_property
    def digest(self) -> str:
        """Eight digits that stand for model, messages and seed."""
        text = "\0".join([self.model, *self.pieces, str(self.seed)])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]

    @property
    def prompt_tokens(self) -> list[str]:
        """All that was said, as tokens."""
        return [token for piece in self.pieces for token in tokens(piece)]


def read_request(body: Any) -> Asked:
    """Read the body of a request.

    Raises:
        RefusedRequestError: It is no request of the protocol.
    """
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list) or not body["messages"]:
        raise RefusedRequestError("a request is an object with a list `messages`")
    messages = [_message(message) for message in body["messages"]]
    users = [text for role, text in messages if role == "user"]
    if not users:
        raise RefusedRequestError("no message of the user")
    systems = [text for role, text in messages if role in {"system", "developer"}]
    moved, marker, rest = users[-1].partition(_SYSTEM_AS_USER)
    return Asked(
        model=str(body.get("model", "")),
        system="\n".join([*systems, moved] if marker else systems),
        user=rest if marker else users[-1],
        has_system=bool(systems),
        pieces=tuple(f"{role}: {text}" for role, text in messages),
        seed=int(body.get("seed") or 0),
        max_tokens=body.get("max_completion_tokens", body.get("max_tokens")),
        tool_names=_tool_names(body),
        has_schema="response_format" in body,
        streams=bool(body.get("stream")),
    )


def _message(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise RefusedRequestError("a message is an object with a text `role`")
    content = message.get("content")
    parts: Sequence[Any] = content if isinstance(content, list) else [{"text": content or ""}]
    return message["role"], "\n".join(str(part.get("text", "")) for part in parts)


def _tool_names(body: Mapping[str, Any]) -> frozenset[str]:
    if body.get("tool_choice") == "none":
        return frozenset()
    return frozenset(str(tool["function"]["name"]) for tool in body.get("tools") or ())


@lru_cache(maxsize=64)
def tokens(text: str) -> tuple[str, ...]:
    """Split a text into what this model calls tokens: words and single signs."""
    return tuple(_TOKEN.findall(text))


def cut_to(text: str, max_tokens: int | None) -> str:
    """Give the beginning of a text that has so many tokens."""
    if max_tokens is None:
        return text
    ends = [found.end() for found in _TOKEN.finditer(text)]
    return text if len(ends) <= max_tokens else text[: ends[max_tokens - 1] if max_tokens > 0 else 0]


class PrefixCache:
    """Which beginnings of prompts were seen before, in blocks of tokens, as providers count them."""

    BLOCK = 64

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def cached_tokens(self, prompt: Sequence[str]) -> int:
        """Give how many leading tokens were seen before, and remember all of them."""
        cached, key = 0, 0
        for start in range(0, len(prompt) - self.BLOCK + 1, self.BLOCK):
            key = hash((key, *prompt[start : start + self.BLOCK]))
            if key in self._seen:
                cached = start + self.BLOCK
            self._seen.add(key)
        return cached
