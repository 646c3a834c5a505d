"""JSON-RPC 2.0 as callable skills speak it: the request, and the reply found among whatever else they print."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from skilleval.adapters.text import parsed_json

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # colours and cursor moves
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # titles and links
    r"|[@-Z\\^_]"  # two-character sequences
    r")"
)
_TOKEN = re.compile(r'[{}]|"(?:[^"\\\n]++|\\.)*+"?')  # a JSON string never holds a raw line break
_MARK = '"jsonrpc"'
_BUDGET = 8  # spans are read at most this many times the length of the text, however they are nested
ONLY_ID = 1
"""The id of the request of a program that gets one request only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcReply:
    """A valid reply: its members as they came."""

    members: Mapping[str, Any]

    @property
    def error(self) -> object | None:
        """The error; null where the call succeeded. A null `error` beside a result is no error."""
        return self.members.get("error")

    @property
    def result(self) -> object:
        """The result of a call that succeeded; it may be null."""
        return self.members.get("result")


def request(
    params: Mapping[str, Any], *, request_id: int = ONLY_ID, trial: Mapping[str, int] | None = None
) -> bytes:
    """Give the line that asks a skill to work on an input.

    A program that serves many trials is told by `trial` what its environment cannot say any more; it stands in the
    member `skilleval`, beside the input and not in it.
    """
    message = {"jsonrpc": "2.0", "method": "invoke", "params": params, "id": request_id}
    if trial is not None:
        message["skilleval"] = trial
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate has no UTF-8, and its backslash form is its JSON escape.
    return text.encode(errors="backslashreplace") + b"\n"


def find_reply(text: str, ids: Collection[int] = (ONLY_ID,)) -> RpcReply | None:
    """Give the last valid reply in what a skill printed: one with an id of `ids`, or with none.

    Log lines, colours, carriage returns and line breaks inside the reply do not matter; an object inside another
    JSON object is not a reply. The work grows with the length of the text only, whatever it holds.

    Raises:
        RecursionError: the candidate nearest the end is nested too deeply to be read.
    """
    text = _ESCAPE_SEQUENCE.sub("", text) if "\x1b" in text else text
    if (alone := whole_reply(text, ids)) is not None:
        return alone
    budget, floor = _BUDGET * len(text), len(text)
    for start, end in reversed(list(_candidates(text))):
        if start >= floor:
            continue  # inside an object that was read
        budget -= end - start
        if budget < 0:
            break
        try:
            value = parsed_json(text[start:end])
        except ValueError:
            continue
        if _is_reply(value, ids):
            return RpcReply(members=value)
        floor = start
    return None


def whole_reply(text: str, ids: Collection[int] = (ONLY_ID,)) -> RpcReply | None:
    """Give the reply that a text is, from its first brace to its last; null where it is none, or more than that.

    Raises:
        RecursionError: it is nested too deeply to be read.
    """
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = parsed_json(text)
    except ValueError:
        return None
    return RpcReply(members=value) if _is_reply(value, ids) else None


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    """Give the spans of balanced braces that mention JSON-RPC, inner ones before those that hold them."""
    position = text.find("{")
    while position >= 0:
        position = yield from _spans(text, position)
        position = text.find("{", position)


def _spans(text: str, position: int) -> Generator[tuple[int, int], None, int]:
    """Give the spans from one opening brace until it is balanced, and return where that is.

    Quotes count only within braces: outside, an inch sign must not hide the reply that follows it.
    """
    opened: list[tuple[int, int]] = []
    n_marks = 0
    for token in _TOKEN.finditer(text, position):
        match token.group():
            case "{":
                opened.append((token.start(), n_marks))
            case "}":
                start, n_before = opened.pop()
                if n_marks > n_before:
                    yield start, token.end()
                if not opened:
                    return token.end()
            case word:
                n_marks += word == _MARK
    return len(text)


def _is_reply(value: object, ids: Collection[int]) -> TypeGuard[dict[str, Any]]:
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return False
    is_ours = value.get("id") is None or reply_id(value, ids) is not None
    return is_ours and ("result" in value or value.get("error") is not None)


def reply_id(members: Mapping[str, Any], ids: Collection[int]) -> int | None:
    """Say which of the ids a reply carries, as a number or as text."""
    said = members.get("id")
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return None
    return next((one for one in ids if said in (one, str(one))), None)
