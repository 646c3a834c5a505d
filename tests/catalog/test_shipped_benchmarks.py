"""The benchmarks that come with skilleval: what they are made of, and how they judge."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.benchmark_list import list_benchmarks
from skilleval.catalog.benchmarks import read_benchmark
from skilleval.catalog.read import read_catalog

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
SKILLS = ROOT / "examples" / "skills"

Judge = Callable[[object, dict[str, Any], object], dict[str, Any]]


def judge_of(benchmark: str) -> Judge:
    """Give the function that judges the answers of a benchmark."""
    spec = importlib.util.spec_from_file_location("judge", BENCHMARKS / benchmark / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Judge = module.score
    return found


def test_the_shipped_benchmarks_are_those_promised() -> None:
    """Five benchmarks, two of which wait for their data; none has a problem or a notice."""
    listed = list_benchmarks([BENCHMARKS])
    assert listed.problems == ()
    found = {one.shown.reading.benchmark.id: one.shown for one in listed.benchmarks}
    assert {name: len(shown.reading.benchmark.tasks) for name, shown in found.items()} == {
        "coding-easy": 20,
        "gaia-v1": 0,
        "skill-quality": 5,
        "toolbench-lite": 0,
        "web-search-basic": 8,
    }
    assert {name for name, shown in found.items() if shown.bring} == {"gaia-v1", "toolbench-lite"}
    assert all(shown.reading.notices == () for shown in found.values())


@pytest.mark.parametrize("name", ["coding-easy", "skill-quality", "web-search-basic"])
def test_every_task_says_how_it_is_judged(name: str) -> None:
    """Each task has an evaluator, a limit, a tag and a description of its own."""
    tasks = read_benchmark(BENCHMARKS / name).benchmark.tasks
    assert all(task.evaluator and task.timeout_ms and task.tags and task.description for task in tasks)


def test_web_search_asks_seven_facts_and_one_form() -> None:
    """No keyword that is expected stands in the query: an echo of the query earns nothing."""
    tasks = read_benchmark(BENCHMARKS / "web-search-basic").benchmark.tasks
    kinds = [task.evaluator.kind for task in tasks if task.evaluator]
    assert (kinds.count("contains"), kinds.count("json_schema")) == (7, 1)
    for task in tasks:
        keywords = [str(keyword).lower() for keyword in task.expected.get("keywords", [])]
        assert not any(keyword in task.input["query"].lower() for keyword in keywords)


def test_the_schemas_of_skill_quality_are_real() -> None:
    """What each task checks can fail: an empty answer fits none of its schemas."""
    from jsonschema import Draft202012Validator

    tasks = read_benchmark(BENCHMARKS / "skill-quality").benchmark.tasks
    for task in tasks:
        schema = task.expected["schema"]
        Draft202012Validator.check_schema(schema)
        nothing: tuple[object, ...] = ({}, [], "", None)
        assert not any(Draft202012Validator(schema).is_valid(answer) for answer in nothing)


@pytest.mark.parametrize("name", ["quality-card", "search-notes"])
def test_the_skills_that_answer_them_can_be_read(name: str) -> None:
    """Each is a subprocess skill without a problem or a notice."""
    catalog = read_catalog([SKILLS / name])
    assert (catalog.problems, catalog.notices) == ((), ())
    assert [(skill.id, skill.adapter) for skill in catalog.skills] == [(name, "subprocess")]


@pytest.mark.parametrize(
    ("output", "expected", "passed"),
    [
        ("85", "85", True),
        (85, "85", True),
        (85.0, "85", True),
        ("$1,250.50", "1250.5", True),
        ("12%", "12", True),
        ("85 minutes", "85", False),
        ("", "85", False),
        ("nan", "85", False),
        ({"answer": "85"}, "85", True),
        ({"result": 86, "answer": 85}, "85", False),
        ("Cobalt, Ochre, Umber", "Cobalt, Ochre, Umber", True),
        ("cobalt,ochre;UMBER", "Cobalt, Ochre, Umber", True),
        (["Cobalt", "Ochre", "Umber"], "Cobalt, Ochre, Umber", True),
        ("Ochre, Cobalt, Umber", "Cobalt, Ochre, Umber", False),
        ("Cobalt, Ochre", "Cobalt, Ochre, Umber", False),
        ("3, $1.50", "3; 1.5", True),
        ("a.b, c", "ab, c", False),
        ("St. Petersburg!", "st petersburg", True),
        ("Saint Petersburg", "st petersburg", False),
        (None, "none of them", False),
    ],
)
def test_gaia_is_judged_by_its_published_rule(output: object, expected: str, *, passed: bool) -> None:
    """Numbers by value without units, lists part by part, texts by letters and digits."""
    judgement = judge_of("gaia-v1")(output, {"value": expected}, {})
    assert (judgement["passed"], judgement["score"]) == (passed, float(passed))


@pytest.mark.parametrize(
    ("output", "passed", "score"),
    [
        ([["T", "a"], ["T", "b"]], True, 1.0),
        ([["T", "b"], ["T", "a"], ["T", "a"]], True, 1.0),
        ({"result": [{"tool_name": " t", "api_name": "A "}, ["T", "b"]]}, True, 1.0),
        ([["T", "a"]], False, 2 / 3),
        ([["T", "a"], ["T", "b"], ["U", "c"]], False, 0.8),
        ([["a", "T"]], False, 0.0),
        ([], False, 0.0),
        ("T.a", False, 0.0),
        ([["T", "a"], "T.b"], False, 0.0),
        ({"apis": [["T", "a"]]}, False, 0.0),
    ],
)
def test_toolbench_is_judged_by_the_choice_of_apis(output: object, score: float, *, passed: bool) -> None:
    """The score is the F1 of the chosen APIs; only the very same choice passes."""
    judgement = judge_of("toolbench-lite")(output, {"value": [["T", "a"], ["T", "b"]]}, {})
    assert judgement["passed"] is passed
    assert judgement["score"] == pytest.approx(score)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("gaia-v1", {"task_id": "t", "Question": "?", "Level": 1, "Final answer": "85", "file_name": ""}),
        (
            "toolbench-lite",
            {
                "query_id": 1,
                "query": "?",
                "api_list": [{"tool_name": "T", "api_name": "a"}],
                "relevant APIs": [["T", "a"]],
            },
        ),
    ],
)
def test_loaded_tasks_are_judged_by_the_program_beside_the_benchmark(
    name: str, row: dict[str, Any], tmp_path: Path
) -> None:
    """The evaluator of each task names a file that is there, from the benchmark's folder."""
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(row))
    read = read_benchmark(BENCHMARKS / name, data=data).benchmark
    (task,) = read.tasks
    assert task.evaluator is not None
    assert task.evaluator.kind == "custom"
    assert (read.source.parent / task.evaluator.options["custom_scorer_path"]).is_file()
    assert judge_of(name)(task.expected["value"], dict(task.expected), task.input)["passed"] is True
