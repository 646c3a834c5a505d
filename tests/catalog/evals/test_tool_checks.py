from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skilleval.domain.tasks import Task
from skilleval.errors import Problem

CaseReader = Callable[..., Task]
Finder = Callable[..., tuple[Problem, ...]]
TOOL = {"type": "function", "function": {"name": "sum_column", "parameters": {"type": "object"}}}
CHOICE = {"type": "function", "function": {"name": "sum_column"}}


def test_tools_of_a_case_replace_the_default_ones(read_case: CaseReader) -> None:
    """They and the choice go to the model as they are written."""
    other = {"type": "function", "function": {"name": "other"}}
    task = read_case(
        {"assertions": ["a"], "tools": [TOOL], "tool_choice": CHOICE}, defaults={"tools": [other]}
    )
    assert (task.input["tools"], task.input["tool_choice"]) == ([TOOL], CHOICE)
    assert read_case({"assertions": ["a"]}, defaults={"tools": [other]}).input["tools"] == [other]
    assert "tools" not in read_case({"assertions": ["a"], "tools": []}, defaults={"tools": [other]}).input


@pytest.mark.parametrize(
    ("case", "key"),
    [
        ({"tools": TOOL}, "tools"),
        ({"tools": [{"name": "x"}]}, "tools[0]"),
        ({"tools": [{"type": "function", "function": {"name": ""}}]}, "tools[0]"),
        ({"tools": [TOOL, TOOL]}, "tools[1]"),
        ({"tools": [TOOL], "tool_choice": "always"}, "tool_choice"),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "sum"}}}, "tool_choice"),
    ],
)
def test_tools_that_no_model_would_take_are_refused(
    case: dict[str, Any], key: str, problems_of: Finder
) -> None:
    """A tool has a name of its own, and a choice is one of the tools."""
    assert f"evals[0].{key}" in [problem.key for problem in problems_of({"assertions": ["a"], **case})]


def test_the_six_kinds_are_read(read_case: CaseReader) -> None:
    """What is asked of calls is kept as it is written, with an id each."""
    written: list[dict[str, Any]] = [
        {"type": "tool-called", "name": "x"},
        {"type": "tool-not-called", "name": "y", "description": "never y"},
        {"type": "tool-arg-equals", "name": "x", "path": "a[0].b", "value": None},
        {"type": "tool-arg-contains", "name": "x", "path": "a", "value": "v"},
        {"type": "tool-arg-matches", "name": "x", "path": "a", "pattern": "^(?<year>\\d{4})$", "flags": "i"},
        {"type": "tool-call-count", "min": 1, "max": 1, "weight": 2, "id": "count"},
    ]
    read = read_case({"tool_assertions": written}).expected["tool_assertions"]
    assert [one["id"] for one in read] == ["t1", "t2", "t3", "t4", "t5", "count"]
    kept = [{key: value for key, value in one.items() if key != "id"} for one in written]
    assert [{key: value for key, value in one.items() if key != "id"} for one in read] == kept


@pytest.mark.parametrize(
    ("assertion", "key", "expected"),
    [
        ({"type": "tool-call", "name": "x"}, "type", "one of tool-called"),
        ({"name": "x"}, "type", "one of tool-called"),
        ({"type": "tool-called"}, "name", "name, which tool-called needs"),
        ({"type": "tool-called", "name": ""}, "name", "a text"),
        (
            {"type": "tool-arg-equals", "name": "x", "path": "a"},
            "value",
            "value, which tool-arg-equals needs",
        ),
        ({"type": "tool-arg-contains", "name": "x", "path": "a", "value": 1}, "value", "a text"),
        (
            {"type": "tool-arg-matches", "name": "x", "path": "a", "pattern": "(a"},
            "pattern",
            "a regular expression",
        ),
        (
            {"type": "tool-arg-matches", "name": "x", "path": "a", "pattern": "a", "flags": "x"},
            "flags",
            "each of",
        ),
        ({"type": "tool-call-count"}, "min", "min or max"),
        ({"type": "tool-call-count", "min": 2, "max": 1}, "min", "min not above max"),
        ({"type": "tool-call-count", "max": 1.5}, "max", "a whole number from 0"),
        ({"type": "tool-call-count", "max": 1, "name": 3}, "name", "a text"),
    ],
)
def test_ae26_what_a_tool_assertion_needs_is_asked_for(
    assertion: dict[str, Any], key: str, expected: str, problems_of: Finder
) -> None:
    """A missing value never passes by being missing on both sides: it is refused."""
    (problem,) = problems_of({"tool_assertions": [assertion]})
    assert problem.key == f"evals[0].tool_assertions[0].{key}"
    assert problem.expected.startswith(expected)
