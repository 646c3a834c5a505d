from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases import case_input

from skilleval.catalog.benchmarks import find_benchmark, read_benchmark, read_tasks
from skilleval.errors import CatalogError, Problem

Writer = Callable[..., Path]

TASK = {
    "id": "u1",
    "inputData": {"value": 3},
    "expectedOutput": {"type": "exact", "value": "3000"},
    "evaluator": {"type": "exact"},
}


def benchmark(**changes: Any) -> dict[str, Any]:
    """Give a benchmark as it stands in a file; keys given as null are left out."""
    whole = {
        "id": "units-mini",
        "name": "Units",
        "version": "1.0.0",
        "domain": "reasoning",
        "scoringMethod": "mean",
        "tasks": [TASK],
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not None}


def problems_of(read: Callable[[], object]) -> tuple[Problem, ...]:
    """Give the problems of a reading."""
    with pytest.raises(CatalogError) as caught:
        read()
    return caught.value.problems


def test_the_example_of_the_format_is_read_whole(write_json: Writer) -> None:
    """A benchmark of three kinds of tasks keeps its method, weights, limits and metadata."""
    tasks = [
        {**TASK, "weight": 2, "timeoutMs": 5000, "tags": ["length"]},
        {
            "id": "u2",
            "description": "names both units",
            "inputData": {"value": 1, "from": "mi", "to": "km"},
            "expectedOutput": {"type": "contains", "keywords": ["mile", "kilometre"]},
            "evaluator": {"type": "contains"},
        },
        {
            "id": "u3",
            "inputData": {"value": 1, "from": "kg", "to": "m"},
            "expectedOutput": {"type": "schema", "schema": {"type": "object", "required": ["error"]}},
            "evaluator": {"type": "schema"},
        },
    ]
    path = write_json(
        benchmark(scoringMethod="weighted_mean", maxLatencyMs=1000, metadata={"source": "own"}, tasks=tasks)
    )
    read = read_benchmark(path).benchmark
    assert (read.id, read.name, read.version, read.domain) == ("units-mini", "Units", "1.0.0", "reasoning")
    assert (read.scoring_method, read.k, read.max_latency_ms) == ("weighted_mean", 1, 1000.0)
    assert read.metadata == {"source": "own"}
    assert [task.weight for task in read.tasks] == [2.0, 1.0, 1.0]
    assert [task.evaluator.kind for task in read.tasks if task.evaluator] == [
        "exact",
        "contains",
        "json_schema",
    ]
    assert read.source == path.resolve()
    assert read.digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_file_and_folder_give_the_same_benchmark(write_json: Writer) -> None:
    """A folder stands for its benchmark.json."""
    path = write_json(benchmark(), "units/benchmark.json")
    assert read_benchmark(path) == read_benchmark(path.parent)


def test_what_is_left_out_is_filled_in_and_said(write_json: Writer) -> None:
    """Name, domain and method have defaults, and a notice names each one that was used."""
    reading = read_benchmark(write_json(benchmark(name=None, domain=None, scoringMethod=None)))
    read = reading.benchmark
    assert (read.name, read.domain, read.scoring_method) == ("units-mini", "general", "mean")
    assert read.max_latency_ms is None
    assert [notice.split("benchmark.json: ")[1] for notice in reading.notices] == [
        "name: filled in: units-mini",
        "domain: filled in: general",
        "scoringMethod: filled in: mean",
    ]


def test_a_complete_benchmark_needs_no_notice(write_json: Writer) -> None:
    """Nothing is said where nothing was changed."""
    assert read_benchmark(write_json(benchmark())).notices == ()


def test_es13_k_is_a_setting_of_pass_at_k(write_json: Writer) -> None:
    """pass_at_k takes its k, 1 where none is given; with another method k would have no effect and is refused."""
    assert read_benchmark(write_json(benchmark(scoringMethod="pass_at_k", k=3))).benchmark.k == 3
    assert read_benchmark(write_json(benchmark(scoringMethod="pass_at_k"))).benchmark.k == 1
    path = write_json(benchmark(k=3))
    (problem,) = problems_of(lambda: read_benchmark(path))
    assert (problem.key, problem.expected) == ("k", "k only with the scoringMethod pass_at_k")


def test_the_description_is_kept(write_json: Writer) -> None:
    """The description of a benchmark is part of its metadata."""
    read = read_benchmark(write_json(benchmark(description="About units"))).benchmark
    assert read.metadata == {"description": "About units"}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"id": None}, "id"),
        ({"id": ""}, "id"),
        ({"version": None}, "version"),
        ({"version": 1.0}, "version"),
        ({"name": ""}, "name"),
        ({"domain": 3}, "domain"),
        ({"scoringMethod": "median"}, "scoringMethod"),
        ({"scoringMethod": "pass_at_k", "k": 0}, "k"),
        ({"scoringMethod": "pass_at_k", "k": 1.5}, "k"),
        ({"maxLatencyMs": 0}, "maxLatencyMs"),
        ({"metadata": "none"}, "metadata"),
        ({"tasks": []}, "tasks"),
        ({"tasks": {}}, "tasks"),
        ({"tasks": None}, "tasks"),
    ],
)
def test_each_rule_of_a_benchmark_is_applied(changes: dict[str, Any], key: str, write_json: Writer) -> None:
    """A value that breaks a rule is one problem with its key, what was expected and what was found."""
    path = write_json(benchmark(**changes))
    (problem,) = problems_of(lambda: read_benchmark(path))
    assert problem.key == key
    assert problem.expected
    assert problem.found


@pytest.mark.parametrize(
    ("wrong", "right"), [("scoring_method", "scoringMethod"), ("maxLatency", "maxLatencyMs")]
)
def test_a_misspelt_key_is_refused_and_another_noticed(wrong: str, right: str, write_json: Writer) -> None:
    """A key that nearly is a known one is refused; a key of its own is said."""
    path = write_json(benchmark(**{wrong: "mean", "licence": "MIT"}))
    (problem,) = problems_of(lambda: read_benchmark(path))
    assert (problem.key, problem.hint) == (wrong, f"did you mean {right}?")
    (notice,) = read_benchmark(write_json(benchmark(licence="MIT"))).notices
    assert "licence: unknown key" in notice


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"run_summary": {}, "runs": []}, "a result file: outcomes of a run, not tasks"),
        ([{"skillId": "a", "taskResults": []}], "a result file: outcomes of a run, not tasks"),
        ({"schema": "skilleval.report/1"}, "a result file: outcomes of a run, not tasks"),
        (
            {"version": "1", "tasks": [{"id": "a", "input": "x", "rubric": []}]},
            "a rubric of another tool: criteria for a human or a judge, no expected output",
        ),
        ({"skill_name": "a", "evals": []}, "an evals file: prompts with expectations in words"),
        ([{"query": "a", "expected_behavior": "b"}], "an evals file: prompts with expectations in words"),
        ([{"prompt": "a", "assertions": []}], "an evals file: prompts with expectations in words"),
        ({"id": "a", "adapterType": "http", "entrypoint": "x"}, "a skill manifest"),
        ({"colour": "red"}, "an object with the key colour"),
        ("text", "a text"),
    ],
)
@pytest.mark.parametrize("read", [read_benchmark, read_tasks])
def test_json_of_another_kind_is_never_taken_for_tasks(
    read: Callable[[Path], object], value: object, found: str, write_json: Writer
) -> None:
    """Results, rubrics, evals files and manifests are named as what they are, whatever the file is called."""
    path = write_json(value)
    (problem,) = problems_of(lambda: read(path))
    assert problem.found == found


def test_es33_a_bare_list_of_tasks_is_accepted(write_json: Writer) -> None:
    """A list of tasks is the benchmark custom with the method mean."""
    path = write_json([TASK], "mine.json")
    reading = read_tasks(path)
    read = reading.benchmark
    assert (read.id, read.scoring_method, read.name, len(read.tasks)) == ("custom", "mean", "mine.json", 1)
    assert read.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert reading.notices == ()


def test_es33_a_benchmark_object_is_accepted_as_tasks(write_json: Writer) -> None:
    """A benchmark object keeps its own id and method."""
    read = read_tasks(write_json(benchmark(scoringMethod="weighted_mean"), "basic.eval.json")).benchmark
    assert (read.id, read.scoring_method) == ("units-mini", "weighted_mean")


def test_an_empty_list_of_tasks_is_refused(write_json: Writer) -> None:
    """No task is nothing to evaluate."""
    path = write_json([], "tasks.json")
    (problem,) = problems_of(lambda: read_tasks(path))
    assert (problem.key, problem.expected) == ("tasks", "a list of at least one task")


def test_a_bare_list_is_no_benchmark(write_json: Writer) -> None:
    """A list has no id and no version: it is to be given as tasks."""
    path = write_json([TASK])
    (problem,) = problems_of(lambda: read_benchmark(path))
    assert problem.hint == "give a bare task list as --tasks FILE"


def test_a_benchmark_is_found_by_the_id_inside(write_json: Writer, tmp_path: Path) -> None:
    """The id in the file counts, not the name of folder or file."""
    write_json(benchmark(id="first"), "root/anything/benchmark.json")
    write_json(benchmark(id="second"), "root/other.json")
    roots = [tmp_path / "root"]
    assert find_benchmark("first", roots).benchmark.id == "first"
    assert find_benchmark("second", roots).benchmark.source == (tmp_path / "root" / "other.json").resolve()


def test_the_first_root_wins_and_the_other_is_said(write_json: Writer, tmp_path: Path) -> None:
    """Two files with one id: the earlier root counts and a notice names the file that is not used."""
    first = write_json(benchmark(name="Ours"), "project/units/benchmark.json")
    second = write_json(benchmark(name="Theirs"), "shipped/units/benchmark.json")
    reading = find_benchmark("units-mini", [tmp_path / "missing", first.parents[1], second.parents[1]])
    assert reading.benchmark.name == "Ours"
    assert reading.notices == (f"{second}: also has the id units-mini, and is not used",)


def test_one_root_given_twice_is_searched_once(write_json: Writer, tmp_path: Path) -> None:
    """The same file under two names is no second benchmark."""
    write_json(benchmark(), "root/units/benchmark.json")
    assert find_benchmark("units-mini", [tmp_path / "root", tmp_path / "root"]).notices == ()


def test_a_benchmark_is_found_by_its_path(write_json: Writer) -> None:
    """A file and a folder are accepted in place of an id."""
    path = write_json(benchmark(), "mine/benchmark.json")
    assert find_benchmark(str(path), []).benchmark.id == "units-mini"
    assert find_benchmark(str(path.parent), []).benchmark.id == "units-mini"


def test_an_unknown_id_lists_the_known_ones(write_json: Writer, tmp_path: Path) -> None:
    """A wrong id is answered with all known ids and the nearest of them."""
    write_json(benchmark(id="coding-easy"), "root/a.json")
    write_json(benchmark(id="units-mini"), "root/b.json")
    (problem,) = problems_of(lambda: find_benchmark("coding-esy", [tmp_path / "root"]))
    assert problem.expected == "one of coding-easy, units-mini, or a path"
    assert (problem.found, problem.hint) == ("coding-esy", "did you mean coding-easy?")


def test_a_missing_path_is_told_as_a_missing_file(tmp_path: Path) -> None:
    """A word that ends in .json is a path, and the path is named."""
    missing = tmp_path / "none.json"
    (problem,) = problems_of(lambda: find_benchmark(str(missing), []))
    assert problem.where == str(missing)


def test_es24_a_broken_neighbour_hides_nothing(write_json: Writer, tmp_path: Path) -> None:
    """A file that cannot be read is said, and the others are found; without a match it is among the problems."""
    write_json(benchmark(), "root/units.json")
    broken = tmp_path / "root" / "broken.json"
    broken.write_text("{", encoding="utf-8")
    reading = find_benchmark("units-mini", [tmp_path / "root"])
    assert reading.benchmark.id == "units-mini"
    assert str(broken) in reading.notices[0]
    problems = problems_of(lambda: find_benchmark("other", [tmp_path / "root"]))
    assert [problem.where for problem in problems] == ["benchmark", str(broken)]


def test_files_of_another_kind_in_a_root_are_passed_over(write_json: Writer, tmp_path: Path) -> None:
    """Results, lists and folders among the benchmarks are neither found nor in the way."""
    write_json(benchmark(), "root/units.json")
    write_json({"id": "units-mini", "run_summary": {}}, "root/a-result.json")
    write_json([TASK], "root/tasks.json")
    (tmp_path / "root" / "folder.json").mkdir()
    reading = find_benchmark("units-mini", [tmp_path / "root"])
    assert reading.benchmark.source.name == "units.json"
    assert reading.notices == ()


def test_es15_a_weight_that_is_no_number_is_refused(tmp_path: Path) -> None:
    """NaN in a benchmark is refused with its key."""
    path = tmp_path / "benchmark.json"
    path.write_text(json.dumps(benchmark(tasks=[{**TASK, "weight": float("nan")}])), encoding="utf-8")
    (problem,) = problems_of(lambda: read_benchmark(path))
    assert (problem.key, problem.found) == ("tasks[0].weight", "NaN")


@pytest.mark.parametrize("name", case_input("C50")["ids"])
def test_c50_an_id_is_found_by_what_is_written_and_never_as_a_path(
    name: str, write_json: Writer, tmp_path: Path
) -> None:
    """Ids that look like paths, options or devices are ids: found in their file, and nowhere without it."""
    write_json(benchmark(id="outside"), "etc/x/benchmark.json")
    path = write_json(benchmark(id=name, tasks=[{**TASK, "id": name}]), "a/base/any.json")
    read = find_benchmark(name, [tmp_path / "a" / "base"]).benchmark
    assert (read.id, read.source, read.tasks[0].id) == (name, path.resolve(), name)
    path.unlink()
    with pytest.raises(CatalogError, match="there is no benchmark"):
        find_benchmark(name, [tmp_path / "a" / "base"])
