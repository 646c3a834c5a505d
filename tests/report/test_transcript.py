from __future__ import annotations

import json
from typing import Any

from details import excerpt

from skilleval.report.transcript import transcript


def turns(request: Any, calls: Any = None) -> list[tuple[str, str, str]]:
    """Give the turns of a request, as role, name and text."""
    asked = None if request is None else excerpt(json.dumps(request))
    called = None if calls is None else excerpt(json.dumps(calls))
    return [(turn.role, turn.name, turn.text.text) for turn in transcript(asked, called)]


def test_messages_and_calls_become_turns_in_order() -> None:
    """What was sent comes first, then the calls that the model made; a message that only calls has no text turn."""
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "name": "add", "content": "3"},
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
    ]
    called = [{"id": "2", "name": "sub", "arguments": '{"b":2}'}]
    assert turns({"model": "m", "messages": messages}, called) == [
        ("system", "", "be brief"),
        ("tool call", "add", '{"a":1}'),
        ("tool", "add", "3"),
        ("user", "", '[{"type": "text", "text": "go"}]'),
        ("tool call", "sub", '{"b":2}'),
    ]


def test_what_is_no_list_of_messages_is_shown_as_it_stands() -> None:
    """A request of another shape, or one that is cut, is one turn with its whole length."""
    assert turns({"prompt": "x"}) == [("request", "", '{"prompt": "x"}')]
    (turn,) = transcript(excerpt('{"messages": [', 90_000), None)
    assert (turn.role, turn.text.length) == ("request", 90_000)


def test_strange_calls_are_shown_and_never_break() -> None:
    """Calls are foreign data: null, numbers and objects without a name stay readable."""
    assert turns(None, [7, {"x": 1}]) == [("tool call", "", "7"), ("tool call", "", '{"x": 1}')]
    assert turns(None, {"name": "f"}) == [("tool call", "", '{"name": "f"}')]
    assert turns({"messages": [{"role": "user", "content": "a", "tool_calls": "no list"}]}) == [
        ("user", "", "a")
    ]
    assert turns(None, None) == []


def test_a_long_turn_is_cut_with_its_length() -> None:
    """A turn holds at most 4 000 characters and says how many there were."""
    (turn,) = transcript(excerpt(json.dumps({"messages": [{"role": "user", "content": "x" * 5000}]})), None)
    assert (len(turn.text.text), turn.text.length) == (4000, 5000)
