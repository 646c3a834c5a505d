from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.benchmarks import find_benchmark, read_benchmark, read_tasks
from skilleval.domain.tasks import Evaluator
from skilleval.errors import Problem

ProblemsOf = Callable[[Callable[[], object]], tuple[Problem, ...]]
Descriptor = Callable[..., Path]
Lines = Callable[[list[dict[str, Any]]], Path]

ROW = {"task_id": "t-1", "Question": "How many?", "Level": 1, "Final answer": "85", "file_name": ""}
HIDDEN = {**ROW, "task_id": "t-2", "Final answer": "?"}
JUDGED = {"evaluator": {"type": "contains", "caseSensitive": True}, "timeoutMs": 900, "weight": 2}


def test_what_the_benchmark_says_holds_for_every_task(descriptor: Descriptor, lines: Lines) -> None:
    """The file says how loaded tasks are judged and limited; its own words about itself are kept."""
    path = descriptor(taskDefaults=JUDGED, description="Ours", maxLatencyMs=1000)
    read = read_benchmark(path, data=lines([ROW, HIDDEN])).benchmark
    assert (read.id, read.version, read.name, read.max_latency_ms) == ("brought", "2.0.0", "Brought", 1000.0)
    assert read.metadata == {"description": "Ours"}
    evaluator = Evaluator(kind="contains", options={"case_sensitive": True})
    assert [task.evaluator for task in read.tasks] == [evaluator, Evaluator(kind="exact")]
    assert [(task.timeout_ms, task.weight) for task in read.tasks] == [(900.0, 2.0)] * 2


def test_the_source_is_the_benchmark_and_the_digest_covers_the_data(
    descriptor: Descriptor, lines: Lines
) -> None:
    """Relative paths of scorers start at the benchmark; other data is another benchmark to every reader."""
    path = descriptor()
    first = read_benchmark(path, data=lines([ROW])).benchmark
    second = read_benchmark(path, data=lines([ROW, HIDDEN])).benchmark
    third = read_benchmark(descriptor(description="Other"), data=lines([ROW])).benchmark
    assert first.source == path.resolve()
    assert len({first.digest, second.digest, third.digest}) == 3


def test_without_data_the_way_to_get_it_is_said(descriptor: Descriptor, problems_of: ProblemsOf) -> None:
    """A benchmark that waits for its data is answered with how to bring it."""
    path = descriptor()
    (problem,) = problems_of(lambda: read_benchmark(path))
    assert problem.expected == "the data file that the tasks are made of"
    assert "--data FILE" in problem.hint


def test_a_benchmark_may_name_its_own_data(descriptor: Descriptor, lines: Lines) -> None:
    """The path starts at the benchmark's folder, and data given by hand wins."""
    lines([ROW, HIDDEN])
    path = descriptor(data="../data/metadata.jsonl")
    assert len(read_benchmark(path).benchmark.tasks) == 2
    other = path.parent / "other.jsonl"
    other.write_text(json.dumps(ROW))
    assert len(read_benchmark(path, data=other).benchmark.tasks) == 1


def test_every_way_to_a_benchmark_takes_data(descriptor: Descriptor, lines: Lines) -> None:
    """By id, by folder, by file and as a file of tasks it is the same benchmark."""
    path, data = descriptor(), lines([ROW])
    expected = read_benchmark(path, data=data)
    assert find_benchmark("brought", [path.parents[1]], data=data) == expected
    assert find_benchmark(str(path.parent), [], data=data) == expected
    assert read_tasks(path, data=data) == expected


def test_data_for_a_benchmark_with_tasks_is_refused(
    descriptor: Descriptor, lines: Lines, problems_of: ProblemsOf
) -> None:
    """Data that would have no effect is not accepted."""
    task = {"id": "a", "inputData": {}, "expectedOutput": {"value": 1}}
    path, data = descriptor(loader=None, tasks=[task]), lines([ROW])
    (problem,) = problems_of(lambda: read_benchmark(path, data=data))
    assert (problem.key, problem.found) == ("data", "one with tasks of its own")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"loader": "gaja"}, "loader"),
        ({"loader": ["gaia"]}, "loader"),
        ({"tasks": []}, "tasks"),
        ({"data": 3}, "data"),
        ({"data": " "}, "data"),
        ({"version": None}, "version"),
        ({"scoring_method": "mean"}, "scoring_method"),
        ({"taskDefaults": []}, "taskDefaults"),
        ({"taskDefaults": {"tags": ["a"]}}, "taskDefaults.tags"),
        ({"taskDefaults": {"timeoutMs": 0}}, "taskDefaults.timeoutMs"),
        ({"taskDefaults": {"evaluator": {"type": "exakt"}}}, "taskDefaults.evaluator.type"),
        (
            {"taskDefaults": {"evaluator": {"type": "exact", "wholeWords": True}}},
            "taskDefaults.evaluator.wholeWords",
        ),
    ],
)
def test_each_rule_of_such_a_benchmark_is_applied(
    changes: dict[str, Any], key: str, descriptor: Descriptor, lines: Lines, problems_of: ProblemsOf
) -> None:
    """A mistake in the benchmark is one problem at its own key, however many tasks the data makes."""
    path, data = descriptor(**changes), lines([ROW, HIDDEN])
    (problem,) = problems_of(lambda: read_benchmark(path, data=data))
    assert (problem.where, problem.key) == (str(path), key)


def test_what_was_filled_in_is_said_once(descriptor: Descriptor, lines: Lines) -> None:
    """Defaults and unknown keys are said of the benchmark, not again of the data."""
    path = descriptor(name=None, domain=None, licence="MIT")
    reading = read_benchmark(path, data=lines([ROW]))
    assert (reading.benchmark.name, reading.benchmark.domain) == ("brought", "general")
    assert [notice.removeprefix(f"{path}: ") for notice in reading.notices] == [
        "licence: unknown key licence, without effect on the shipped scorers",
        "name: filled in: brought",
        "domain: filled in: general",
    ]
