from __future__ import annotations

import json
from typing import Any

import pytest

from skilleval.chat.base import Completion
from skilleval.chat.contract import sound
from skilleval.domain.attempts import Status, Usage


def _given(**more: Any) -> Completion:
    return Completion(**{"status": Status.COMPLETED, "model": "m", "request": "{}", "text": "Yes.", **more})


def test_what_keeps_the_contract_is_not_touched() -> None:
    """A sound completion is given on as it is."""
    given = _given(usage=Usage(input_tokens=5, cached_tokens=5, cost_usd=0.0), latency_ms=0.5)
    assert sound(given, model="m") is given


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("input_tokens", -1),
        ("output_tokens", 2.5),
        ("total_tokens", True),
        ("total_tokens", 2**63),
        ("cost_usd", float("nan")),
        ("cost_usd", -0.1),
    ],
)
def test_a_number_that_means_nothing_is_unknown(name: str, value: Any) -> None:
    """The answer that was paid for stays, its number does not, and a note says which."""
    told = sound(_given(usage=Usage(**{name: value})), model="m")
    assert (told.text, getattr(told.usage, name)) == ("Yes.", None)
    assert told.notes[0].startswith(f"provider: {name} is ")


def test_more_tokens_from_the_cache_than_came_in_are_unknown() -> None:
    """Otherwise a cached price would make the rest of the input cost less than nothing."""
    told = sound(_given(usage=Usage(input_tokens=5, output_tokens=3, cached_tokens=500)), model="m")
    assert told.usage == Usage(input_tokens=5, output_tokens=3, cached_tokens=None)


def test_times_that_mean_nothing_are_unknown() -> None:
    """Neither an endless pause nor a negative latency is believed."""
    told = sound(_given(latency_ms=-1.0, retry_after_s=float("inf")), model="m")
    assert (told.latency_ms, told.retry_after_s) == (None, None)


@pytest.mark.parametrize("request_text", ["plain text", "", "{", "[" * 100_000])
def test_a_request_that_is_no_json_is_kept_as_a_text(request_text: str) -> None:
    """Rows hold requests as JSON, so that keys can be taken out of them; no run ends because of one that is none."""
    assert json.loads(sound(_given(request=request_text), model="m").request) == request_text


@pytest.mark.parametrize("given", [None, "Yes.", {"text": "Yes."}])
def test_what_is_no_completion_is_an_error_of_the_provider(given: object) -> None:
    """The message says what came instead."""
    told = sound(given, model="m")
    assert (told.status, told.failure_kind) == (Status.PROVIDER_ERROR, "broken_provider")
    assert type(given).__name__ in (told.message or "")
