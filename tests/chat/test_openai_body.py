from __future__ import annotations

import json
from typing import Any

import pytest

from skilleval.chat.base import ChatRequest
from skilleval.chat.openai_body import Body, Concessions, build_body, conceded

NONE = Concessions()


def _built(model: str = "small", concessions: Concessions = NONE, **changes: Any) -> Body:
    return build_body(ChatRequest(user="Where?", **changes), model=model, concessions=concessions)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("o1", "max_completion_tokens"),
        ("openai/o3-mini", "max_completion_tokens"),
        ("gpt-5", "max_completion_tokens"),
        ("router/openai/gpt-5-nano", "max_completion_tokens"),
        ("gpt-4o-mini", "max_tokens"),
        ("olmo-7b", "max_tokens"),
        ("o1/small", "max_tokens"),
        ("my-gpt-5", "max_tokens"),
    ],
)
def test_the_limit_of_tokens_is_named_as_the_model_wants_it(model: str, name: str) -> None:
    """Models whose name after its last slash is `o` and a digit, or begins with `gpt-5`, refuse `max_tokens`."""
    sent = json.loads(_built(model, params={"max_tokens": 9}).text)
    assert {key: sent[key] for key in ("max_tokens", "max_completion_tokens") if key in sent} == {name: 9}


def test_a_limit_in_both_spellings_is_sent_once() -> None:
    """The newer spelling wins where a model knows no other."""
    sent = json.loads(_built("o1", params={"max_tokens": 9, "max_completion_tokens": 5}).text)
    assert sent["max_completion_tokens"] == 5
    assert "max_tokens" not in sent


def test_parameters_cannot_change_what_an_answer_is() -> None:
    """Model, messages, streams and further choices are ours; what is left out is noted."""
    body = _built(params={"model": "other", "stream": True, "n": 3, "top_p": 0.5})
    assert json.loads(body.text) == {
        "model": "small",
        "messages": [{"role": "user", "content": "Where?"}],
        "top_p": 0.5,
    }
    assert body.notes == ("param_ignored: model", "param_ignored: stream", "param_ignored: n")


@pytest.mark.parametrize(
    ("params", "sends_seed", "seed"),
    [({}, True, 7), ({}, False, None), ({"seed": 3}, True, 3), ({"seed": 3}, False, 3)],
)
def test_a_seed_that_was_chosen_wins(params: Any, sends_seed: bool, seed: int | None) -> None:
    """The seed of the trial is sent unless the parameters name one, or the model takes none."""
    request = ChatRequest(user="Where?", params=params, seed=7)
    sent = json.loads(build_body(request, model="m", sends_seed=sends_seed, concessions=NONE).text)
    assert sent.get("seed") == seed


def test_a_choice_without_tools_is_not_sent() -> None:
    """Servers refuse `tool_choice` where there is nothing to choose."""
    assert "tool_choice" not in json.loads(_built(tool_choice="auto").text)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("the system role is unknown", Concessions(system_as_user=True)),
        ("response_format is unknown", Concessions(no_structured_output=True)),
        ("the context is too long", None),
        ("temperature must be at most 2", None),
        ("the file system is full", None),
    ],
)
def test_only_what_a_refusal_names_is_given_up(words: str, expected: Concessions | None) -> None:
    """Any other refusal is the outcome."""
    assert conceded(NONE, _built(system="Be brief.", response_schema={}), words) == expected


def test_what_was_not_sent_cannot_be_given_up() -> None:
    """A refusal of something else is not asked around for ever."""
    assert conceded(NONE, _built(), "no system role, no response_format") is None
