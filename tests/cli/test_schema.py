"""`skilleval schema` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import ROOT, Run
from jsonschema import Draft202012Validator


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    """Make a validator of a schema that is itself right."""
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        (
            "skill",
            ROOT / "examples" / "skills" / "calculator" / "skill.json",
            {"id": "A", "name": "a", "version": "1", "adapterType": "subprocess", "entrypoint": "x"},
        ),
        ("benchmark", ROOT / "benchmarks" / "coding-easy" / "benchmark.json", {"id": "a", "tasks": []}),
        ("strategy", {"filters": {"maxErrorRate": 0.05}, "order": "desc"}, {"filters": {"maxErrorRate": 5}}),
        ("adapter", {"type": "http", "timeoutMs": 1000}, {"type": "telnet"}),
        ("config", {"runner": {"repeats": 3}}, {"runner": {"repeats": 0}}),
    ],
)
def test_each_schema_tells_right_from_wrong(run: Run, name: str, right: object, wrong: object) -> None:
    """What is printed is a JSON Schema that accepts a right file and refuses a wrong one."""
    printed = run("schema", name)
    assert (printed.code, printed.err) == (0, "")
    held = validator(printed.document)
    value = json.loads(right.read_text(encoding="utf-8")) if isinstance(right, Path) else right
    assert held.is_valid(value)
    assert not held.is_valid(wrong)


def test_the_schema_of_settings_is_that_of_a_file(run: Run) -> None:
    """Any part of the settings will do, a part is written flat, and an unknown key is marked."""
    held = validator(run("schema", "config").document)
    right: list[object] = [
        {},
        {"report": {"title": "Ours", "formats": ["html"]}},
        {"adapter": {"kind": "replay", "path": "attempts.jsonl"}},
        {"scorers": {"exact": {"kind": "exact", "tolerance": 0.1}}},
        {"defaults": [{"override /scorer": "exact"}]},
    ]
    wrong: list[object] = [
        {"runner": {"repeat": 3}},
        {"runer": {}},
        {"analysis": {"preset": "other"}},
        {"gate": {"min_completion": 2}},
        {"adapter": {"kind": ""}},
    ]
    assert [value for value in right if not held.is_valid(value)] == []
    assert [value for value in wrong if held.is_valid(value)] == []


def test_a_schema_is_written_to_a_file(run: Run, folder: Path) -> None:
    """--output writes what would be printed; a place that cannot be written to is bad usage."""
    done = run("schema", "strategy", "--output", "strategy.schema.json")
    assert (done.code, done.out) == (0, "strategy: strategy.schema.json\n")
    written = (folder / "strategy.schema.json").read_text(encoding="utf-8")
    assert json.loads(written) == run("schema", "strategy", "--json").document
    document = run("schema", "strategy", "--output", "s.json", "--json").document
    assert document == {"name": "strategy", "file": "s.json"}
    assert run("schema", "strategy", "--output", "none/s.json").code == 2


def test_an_unknown_schema_is_bad_usage(run: Run) -> None:
    """The names there are stand in the message."""
    done = run("schema", "nothing")
    assert done.code == 2
    assert "strategy" in done.err
