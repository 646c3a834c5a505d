from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skilleval.catalog.benchmarks import BenchmarkReading
from skilleval.errors import Problem

Loaded = Callable[..., BenchmarkReading]
ProblemsOf = Callable[[Callable[[], object]], tuple[Problem, ...]]

API = {"category_name": "Food Delivery", "tool_name": "Menus", "api_name": "list", "method": "GET"}


def row(**changes: Any) -> dict[str, Any]:
    """Give a query; keys given as `...` are left out."""
    whole = {
        "query_id": 7,
        "query": "What is on the menu?",
        "api_list": [API],
        "relevant APIs": [["Menus", "list"]],
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def test_a_query_becomes_a_task(loaded: Loaded) -> None:
    """The query and the APIs on offer are the input, the relevant APIs are expected, categories are tags."""
    reading = loaded("toolbench", row())
    (task,) = reading.benchmark.tasks
    assert (task.id, task.tags, reading.notices) == ("7", ("food-delivery",), ())
    assert task.input == {"query": "What is on the menu?", "api_list": [API]}
    assert task.expected == {"value": [["Menus", "list"]]}


@pytest.mark.parametrize("changes", [{"relevant APIs": ...}, {"relevant APIs": []}])
def test_a_query_without_relevant_apis_has_nothing_to_check(changes: dict[str, Any], loaded: Loaded) -> None:
    """It is going to be ungraded, and a notice says so."""
    reading = loaded("toolbench", row(**changes))
    assert reading.benchmark.tasks[0].expected == {}
    assert "the answer is not public" in reading.notices[0]


def test_an_answer_that_nobody_can_choose_is_said(loaded: Loaded) -> None:
    """A relevant API that is not on offer is a fault of the data, and gets a notice."""
    (notice,) = loaded("toolbench", row(**{"relevant APIs": [["Menus", "order"]]})).notices
    assert "not among those on offer" in notice


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"query_id": ...}, "query_id"),
        ({"query_id": True}, "query_id"),
        ({"query": " "}, "query"),
        ({"api_list": []}, "api_list"),
        ({"api_list": [{"tool_name": "Menus"}]}, "api_list"),
        ({"relevant APIs": ["Menus"]}, "relevant APIs"),
        ({"relevant APIs": [["Menus"]]}, "relevant APIs"),
        ({"relevant APIs": "Menus"}, "relevant APIs"),
    ],
)
def test_a_query_that_cannot_be_used_is_said_with_its_line(
    changes: dict[str, Any], key: str, loaded: Loaded, problems_of: ProblemsOf
) -> None:
    """Each mistake is one problem with the line and the key."""
    (problem,) = problems_of(lambda: loaded("toolbench", row(**changes)))
    assert problem.key == f"line 1: {key}"
