from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.benchmarks import BenchmarkReading, read_tasks
from skilleval.domain.tasks import Evaluator
from skilleval.errors import CatalogError, Problem

Writer = Callable[..., Path]


@pytest.fixture
def read(write_json: Writer) -> Callable[..., BenchmarkReading]:
    """Read one task that expects something; `evaluator` may be given."""

    def reading(expected: dict[str, Any], **more: Any) -> BenchmarkReading:
        return read_tasks(
            write_json([{"id": "t1", "inputData": {}, "expectedOutput": expected, **more}], "t.json")
        )

    return reading


Read = Callable[..., BenchmarkReading]


def problem_of(read: Read, expected: dict[str, Any], **more: Any) -> Problem:
    """Give the one problem of a task."""
    with pytest.raises(CatalogError) as caught:
        read(expected, **more)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("expected", "kind", "key"),
    [
        ({"patterns": ["^HELLO$"]}, "regex", "patterns"),
        ({"keywords": ["hello"]}, "contains", "keywords"),
        ({"schema": {"type": "string"}}, "json_schema", "schema"),
        ({"customScorerPath": "judges:score"}, "custom", "customScorerPath"),
        ({"customScorerPath": "judges:score", "value": 3}, "custom", "customScorerPath"),
        ({"criteria": "is polite"}, "llm_judge", "criteria"),
        ({"judgePrompt": "is polite", "value": "thanks"}, "llm_judge", "judgePrompt"),
    ],
)
def test_a_key_that_only_one_rule_reads_names_the_rule(
    read: Read, expected: dict[str, Any], kind: str, key: str
) -> None:
    """Without any type the task is judged by the rule that its key can only mean, and a notice says so."""
    reading = read(expected)
    assert reading.benchmark.tasks[0].evaluator == Evaluator(kind=kind)
    assert any(f"filled in: {kind}, from expectedOutput.{key}" in notice for notice in reading.notices)


@pytest.mark.parametrize(
    ("expected", "kinds"),
    [
        ({"value": "a", "patterns": ["a"]}, "exact, numeric, regex"),
        ({"keywords": ["a"], "patterns": ["a"]}, "contains, regex"),
        ({"customScorerPath": "judges:score", "criteria": "is polite"}, "custom, llm_judge"),
    ],
)
def test_keys_that_several_rules_read_need_a_type(read: Read, expected: dict[str, Any], kinds: str) -> None:
    """Nobody guesses which of them counts; with a type the task is fine."""
    problem = problem_of(read, expected)
    assert problem.key == "tasks[0].evaluator.type"
    assert problem.expected == f"the rule that judges, one of {kinds}"
    typed = read({"value": "a", "patterns": ["a"], "type": "regex"})
    assert typed.benchmark.tasks[0].evaluator == Evaluator(kind="regex")


@pytest.mark.parametrize(
    ("expected", "evaluator", "key", "hint"),
    [
        ({"type": "exact", "keywords": ["a"]}, None, "value", "keywords is read by contains"),
        ({"patterns": ["a"]}, {"type": "numeric"}, "value", "patterns is read by regex"),
        ({"value": 3}, {"type": "json_schema"}, "schema", ""),
        ({"value": 3, "type": "schema"}, None, "schema", ""),
        ({}, {"type": "custom"}, "customScorerPath", ""),
    ],
)
def test_a_rule_that_finds_nothing_to_read_is_refused(
    read: Read, expected: dict[str, Any], evaluator: dict[str, Any] | None, key: str, hint: str
) -> None:
    """A task that would be ungraded in every run is a mistake, said before the first one."""
    problem = problem_of(read, expected, **({"evaluator": evaluator} if evaluator else {}))
    assert problem.key == f"tasks[0].expectedOutput.{key}"
    assert problem.hint.startswith(hint)
    assert bool(problem.hint) == bool(hint)


@pytest.mark.parametrize("expected", [{}, {"type": "exact"}])
def test_a_withheld_answer_is_said_and_not_refused(read: Read, expected: dict[str, Any]) -> None:
    """A task of which nobody says what is right may be run; it is ungraded."""
    assert any("nothing to check" in notice for notice in read(expected).notices)


@pytest.mark.parametrize(
    ("task", "key"),
    [
        ({"expected": {"customScorerPath": "no.py"}}, "expectedOutput"),
        ({"expected": {"type": "custom", "customScorerPath": "no.py:judge"}}, "expectedOutput"),
        ({"expected": {}, "evaluator": {"type": "custom", "customScorerPath": "no.py"}}, "evaluator"),
    ],
)
def test_the_file_of_a_custom_scorer_must_be_there(
    read: Read, tmp_path: Path, task: dict[str, Any], key: str
) -> None:
    """It is looked for beside the benchmark, before the first trial, and not where somebody happens to stand."""
    problem = problem_of(read, **task)
    assert problem.key == f"tasks[0].{key}.customScorerPath"
    assert problem.found == f"nothing at {tmp_path / 'no.py'}"
    (tmp_path / "no.py").write_text("")
    assert read(**task).benchmark.tasks[0].evaluator is not None


def test_a_custom_scorer_is_python(read: Read, tmp_path: Path) -> None:
    """A program of another language is refused, though it is there."""
    (tmp_path / "judge.js").write_text("")
    problem = problem_of(read, {"customScorerPath": "judge.js"})
    assert problem.expected == "a Python file: file.py, file.py:function or module:function"
