from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from skilleval.catalog.rules import misspelt, said, schema, violations

ROOT = Path(__file__).parents[2]
SHIPPED = [
    *(("skill", path) for path in sorted(ROOT.glob("examples/skills/*/skill.json"))),
    *(
        ("benchmark", path)
        for path in sorted(ROOT.glob("benchmarks/*/benchmark.json"))
        if "loader" not in json.loads(path.read_text(encoding="utf-8"))
    ),
]
SCHEMAS = ["skill", "benchmark", "strategy", "adapter"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_valid(name: str) -> None:
    """The shipped schemas are themselves JSON Schemas of draft 2020-12."""
    assert schema(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(dict(schema(name)))


def test_there_is_something_shipped() -> None:
    """The rule below would hold for an empty folder too."""
    assert {name for name, _ in SHIPPED} == {"skill", "benchmark"}


@pytest.mark.parametrize(("name", "path"), SHIPPED, ids=lambda value: getattr(value, "parent", value))
def test_the_schemas_accept_what_is_shipped(name: str, path: Path) -> None:
    """Every shipped skill and benchmark keeps its schema."""
    assert violations(json.loads(path.read_text(encoding="utf-8")), name=name, where=str(path)) == ()


def rules_of(node: Any) -> Iterator[dict[str, Any]]:
    """Give every subschema that can refuse a value by itself."""
    if isinstance(node, dict):
        if "type" in node or "enum" in node:
            yield node
        for key, item in node.items():
            for inner in item.values() if key in {"properties", "$defs"} else [item]:
                yield from rules_of(inner)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_rule_says_what_it_expects(name: str) -> None:
    """Each rule carries the words that a message quotes as what was expected."""
    rules = list(rules_of(schema(name)))
    assert len(rules) > 10
    assert [rule for rule in rules if not rule.get("description")] == []


@pytest.mark.parametrize(
    ("strategy", "key"),
    [
        ({"filters": {"minCompletionRate": 0.8, "requiredTags": ["length"]}, "topK": 3}, None),
        ({}, None),
        ({"filter": {}}, "filter"),
        ({"filters": {"minCompletion": 0.8}}, "filters.minCompletion"),
        ({"filters": {"maxErrorRate": 1.1}}, "filters.maxErrorRate"),
        ({"filters": {"maxLatencyP95Ms": 0}}, "filters.maxLatencyP95Ms"),
        ({"filters": {"adapterTypes": "http"}}, "filters.adapterTypes"),
        ({"sortBy": "speed"}, "sortBy"),
        ({"order": "up"}, "order"),
        ({"topK": -1}, "topK"),
        ({"topK": 1.5}, "topK"),
    ],
)
def test_each_rule_of_a_strategy_is_applied(strategy: dict[str, Any], key: str | None) -> None:
    """A strategy is an object of known keys; each wrong one is one problem at its key."""
    problems = violations(strategy, name="strategy", where="s.json")
    assert [problem.key for problem in problems] == ([] if key is None else [key])


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("timeout", "timeoutMs"),
        ("TIMEOUT_MS", "timeoutMs"),
        ("weigth", "weight"),
        ("meta", None),
        ("colour", None),
        ("", None),
    ],
)
def test_a_misspelt_key_is_told_from_another_word(key: str, meant: str | None) -> None:
    """Case and underscores do not count, a letter off is a slip, a short stem is a word of its own."""
    assert misspelt(key, ["timeoutMs", "weight", "metadata"]) == meant


def test_long_values_are_shortened_in_messages() -> None:
    """A message shows at most eighty characters of a value."""
    assert said({"a": "é"}) == '{"a": "é"}'
    assert len(said("x" * 1000)) == 80
