"""Reads what a skill says about its own consumption, in the spellings that are common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilleval.domain.attempts import NO_USAGE, Usage

_MAX_COUNT = 2**63 - 1  # what a column of the results can hold

_INPUT = ("input_tokens", "inputTokens", "prompt_tokens", "promptTokens")
_OUTPUT = ("output_tokens", "outputTokens", "completion_tokens", "completionTokens")
_TOTAL = ("total_tokens", "totalTokens")


def reported_usage(said: object) -> Usage:
    """Give the token counts of an object; what is absent or no count stays null, and a lone total is kept."""
    if not isinstance(said, Mapping):
        return NO_USAGE
    return Usage(
        input_tokens=_count(said, _INPUT),
        output_tokens=_count(said, _OUTPUT),
        total_tokens=_count(said, _TOTAL),
    )


def _count(said: Mapping[Any, Any], names: tuple[str, ...]) -> int | None:
    values = (said[name] for name in names if name in said)
    return next((value for value in values if type(value) is int and 0 <= value <= _MAX_COUNT), None)
