"""What a rule of a gate may say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.yaml_text import read_yaml
from skilleval.config.settings import GateSettings
from skilleval.errors import ConfigError

_DOCS = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
_WHOLE: dict[str, Any] = {"min_completion": 0.7, "exit_on_fail": False, "fail_on_error": False}


def gate(**rule: Any) -> GateSettings:
    """Read a gate with one rule."""
    return GateSettings.parse({**_WHOLE, "rules": [rule]}, where="test", prefix="gate")


def test_a_gate_without_rules_is_a_gate() -> None:
    """Gate files of users are older than rules."""
    assert GateSettings.parse(_WHOLE, where="test").rules == ()


def test_what_a_rule_does_not_name_limits_nothing() -> None:
    """A rule is about every skill and scorer, by what was seen, and fails on what is not known."""
    (rule,) = gate(metric="p95_ms", at_most=500).rules
    assert (rule.skill, rule.scorer, rule.tag, rule.slice) == ("*", "*", None, {})
    assert (rule.bound, rule.missing, rule.significance, rule.relative) == ("point", "fail", None, False)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({}, "either metric or regression"),
        ({"metric": "a", "regression": "a", "at_most": 1}, "either metric or regression"),
        ({"metric": "a"}, "at_least or at_most beside metric"),
        (
            {"metric": "a", "at_least": 0, "at_most": 1},
            "one of at_least and at_most; two limits are two rules",
        ),
        ({"metric": "a", "at_most": 1, "significance": 0.05}, "significance beside regression only"),
        ({"metric": "a", "at_most": 1, "relative": True}, "relative beside regression only"),
        ({"regression": "a"}, "at_most, 0 or more, beside regression"),
        ({"regression": "a", "at_most": -0.1}, "at_most, 0 or more, beside regression"),
        (
            {"regression": "a", "at_most": 1, "at_least": 0},
            "at_most beside regression: how much worse it may get",
        ),
        (
            {"regression": "a", "at_most": 1, "bound": "low"},
            "significance beside regression, and bound beside metric only",
        ),
    ],
)
def test_a_rule_is_one_thing(rule: dict[str, Any], expected: str) -> None:
    """A threshold or a regression, with the keys that belong to it."""
    with pytest.raises(ConfigError) as caught:
        gate(**rule)
    (problem,) = caught.value.problems
    assert (problem.key, problem.expected) == ("gate.rules.0", expected)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("at_most", float("nan")),
        ("at_most", "1"),
        ("significance", 1),
        ("missing", "maybe"),
        ("bound", "middle"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(key: str, value: Any) -> None:
    """The number of the rule and the key stand in the message."""
    with pytest.raises(ConfigError) as caught:
        gate(**{"regression": "a", "at_most": 1, key: value})
    assert [problem.key for problem in caught.value.problems] == [f"gate.rules.0.{key}"]


def test_the_rules_of_the_docs_are_rules(tmp_path: Path) -> None:
    """The example works as it stands there, and the table names every key."""
    (text,) = (
        block for block in re.findall(r"```yaml\n(.*?)```", _DOCS, re.DOTALL) if block.startswith("rules:")
    )
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    (fields,) = {frozenset(type(rule).model_fields) for rule in gate(metric="a", at_most=1).rules}
    rules = GateSettings.parse({**_WHOLE, **read_yaml(path)}, where="docs").rules
    assert len(rules) == 7
    assert all(f"`{field}`" in _DOCS for field in fields)


def test_the_pipelines_of_the_docs_are_yaml(tmp_path: Path) -> None:
    """Each snippet for GitHub and GitLab can be read, and runs the gate."""
    blocks = [
        block for block in re.findall(r"```yaml\n(.*?)```", _DOCS, re.DOTALL) if "skilleval gate" in block
    ]
    assert len(blocks) == 2
    for block in blocks:
        path = tmp_path / "pipeline.yaml"
        path.write_text(block)
        assert isinstance(read_yaml(path), dict)
