"""What a provider gave, made fit for the results: a provider of somebody else's may not keep to what it promised."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from skilleval.chat.base import Completion
from skilleval.domain.attempts import Status, Usage

_MAX_COUNT = 2**63 - 1  # what a column of the results can hold
_COUNTS = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens")


def sound(given: object, *, model: str) -> Completion:
    """Give a completion that can be stored; an answer is never lost because something beside it is wrong.

    Numbers that mean nothing become unknown, a request that is no JSON becomes a JSON text, and notes say so. What is
    no completion at all is an error of the provider.
    """
    if not isinstance(given, Completion):
        return Completion(
            status=Status.PROVIDER_ERROR,
            model=model,
            request="null",
            failure_kind="broken_provider",
            message=f"the provider gave {type(given).__name__}, expected a Completion",
        )
    wrong = dict(_wrong(given))
    if not wrong:
        return given
    unknown = dict.fromkeys(wrong.keys() & {*_COUNTS, "cost_usd"})
    return replace(
        given,
        usage=replace(given.usage, **unknown),
        request=json.dumps(str(given.request)) if "request" in wrong else given.request,
        latency_ms=None if "latency_ms" in wrong else given.latency_ms,
        retry_after_s=None if "retry_after_s" in wrong else given.retry_after_s,
        notes=(*given.notes, *(f"provider: {name} is {value}" for name, value in wrong.items())),
    )


def _wrong(given: Completion) -> Iterator[tuple[str, str]]:
    """Name what cannot be stored, each with what is wrong with it."""
    for name in _COUNTS:
        value = getattr(given.usage, name)
        if value is not None and not _is_count(value):
            yield name, f"{value!r:.60}, no count"
    if _is_more_than_all(given.usage):
        yield "cached_tokens", f"{given.usage.cached_tokens}, more than came in"
    amounts = {"cost_usd": given.usage.cost_usd, "latency_ms": given.latency_ms}
    for name, value in {**amounts, "retry_after_s": given.retry_after_s}.items():
        if value is not None and not _is_amount(value):
            yield name, f"{value!r:.60}, no amount"
    if not _is_json(given.request):
        yield "request", "no JSON"


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT


def _is_more_than_all(usage: Usage) -> bool:
    cached, all_in = usage.cached_tokens, usage.input_tokens
    return _is_count(cached) and _is_count(all_in) and (cached or 0) > (all_in or 0)


def _is_amount(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def _is_json(text: object) -> bool:
    if not isinstance(text, str):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
