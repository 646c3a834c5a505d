"""What can be wrong with an endpoint, on demand: by name of the model, by header, or by a mark in the prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from scripted_judge import Verdict
from scripted_request import Asked

# How a well-formed exchange goes wrong, by name; `fault-NNN` is any HTTP status from 400 on.
FAULTS = {
    "fault-hang": "never answers",
    "fault-drip": "sends the right answer one byte at a time",
    "fault-reset": "closes the connection without an answer",
    "fault-malformed": "sends JSON that ends in the middle",
    "fault-garbage-json": "sends JSON that is no completion",
    "fault-no-choices": "sends a completion without choices",
    "fault-no-usage": "does not say what it used",
    "fault-refuse-system": "refuses system messages",
    "fault-refuse-schema": "refuses response_format",
    "fault-empty": "says nothing",
    "fault-flaky-503": "fails at the first, third, … call with the same messages",
    "fault-judge-shuffled": "gives verdicts in reverse order",
    "fault-judge-missing": "leaves the last verdict out",
    "fault-judge-fenced": "puts the verdicts into a Markdown fence",
    "fault-judge-prose": "says something before and after the verdicts",
    "fault-judge-strings": "writes truth values as texts",
    "fault-judge-unknown-id": "gives a verdict on something nobody asked about",
    "fault-judge-garbage": "gives no verdicts, but prose",
}


def is_fault(name: str) -> bool:
    """Say whether there is a fault of that name."""
    return name in FAULTS or status_of(name) is not None


def status_of(name: str) -> int | None:
    """Give the HTTP status that a fault answers with, where it is one of those."""
    code = name.removeprefix("fault-")
    return int(code) if re.fullmatch(r"[45]\d\d", code) else None


def reason_of(status: int) -> str:
    """Give the words beside a status."""
    known = {each.value: each.phrase for each in HTTPStatus}
    return known.get(status, "Error")


def fault_of(asked: Asked, header: str, *, judges: bool) -> str:
    """Name the fault of a request; empty: none.

    A judge is shown the prompt of the subject, so a mark in it counts for the one or for the other.
    """
    marked = [name for name in asked.marked_faults if name.startswith("fault-judge-") == judges]
    return next((name for name in (header, asked.model, *marked) if is_fault(name)), "")


def refusal(fault: str, asked: Asked) -> str:
    """Give the words of a 400 for what a model does not support; empty: it takes the request."""
    if fault == "fault-refuse-system" and asked.has_system:
        return "Invalid value: 'system'. This model does not support the system role in messages."
    if fault == "fault-refuse-schema" and asked.has_schema:
        return "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
    return ""


def judge_text(fault: str, verdicts: list[Verdict]) -> str:
    """Write the verdicts as a good judge does, or as the fault says."""
    return _JUDGES.get(fault, _plain)(verdicts)


def _plain(verdicts: list[Verdict]) -> str:
    return json.dumps({"assertion_results": verdicts}, ensure_ascii=False)


def _strings(verdicts: list[Verdict]) -> str:
    return _plain([{**verdict, "passed": str(verdict["passed"]).lower()} for verdict in verdicts])


def _stranger(verdicts: list[Verdict]) -> str:
    stranger: dict[str, Any] = {"id": "nobody-asked", "passed": True, "evidence": "-"}
    return _plain([*verdicts, stranger])


_JUDGES: dict[str, Callable[[list[Verdict]], str]] = {
    "fault-judge-shuffled": lambda verdicts: _plain(verdicts[::-1]),
    "fault-judge-missing": lambda verdicts: _plain(verdicts[:-1]),
    "fault-judge-fenced": lambda verdicts: f"```json\n{_plain(verdicts)}\n```",
    "fault-judge-prose": lambda verdicts: (
        f"Here is what I found.\n\n{_plain(verdicts)}\n\nI hope that this helps."
    ),
    "fault-judge-strings": _strings,
    "fault-judge-unknown-id": _stranger,
    "fault-judge-garbage": lambda verdicts: f"It all looks rather good to me, {len(verdicts)} times.",
}
