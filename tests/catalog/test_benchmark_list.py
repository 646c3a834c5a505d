from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.benchmark_list import check_file, list_benchmarks, show_benchmark
from skilleval.errors import CatalogError

Writer = Callable[..., Path]

TASK = {"id": "a", "inputData": {}, "expectedOutput": {"value": 1}}
ROW = {"task_id": "t", "Question": "?", "Level": 1, "Final answer": "1", "file_name": ""}


def about(name: str, **changes: Any) -> dict[str, Any]:
    """Give a benchmark with one task."""
    whole = {"id": name, "name": name, "version": "1.0.0", "domain": "web", "scoringMethod": "mean"}
    return {**whole, "tasks": [TASK], **changes}


def brought(name: str) -> dict[str, Any]:
    """Give a benchmark whose tasks are brought."""
    return {key: value for key, value in about(name, loader="gaia").items() if key != "tasks"}


def test_benchmarks_are_listed_in_the_order_of_the_search(write_json: Writer, tmp_path: Path) -> None:
    """The first root comes first, and each knows the root and the file it was found in."""
    write_json(about("b"), "one/b/benchmark.json")
    write_json(about("a"), "two/a.json")
    listed = list_benchmarks([tmp_path / "one", tmp_path / "none", tmp_path / "two"])
    assert [(one.shown.reading.benchmark.id, one.root.name, one.file.name) for one in listed.benchmarks] == [
        ("b", "one", "benchmark.json"),
        ("a", "two", "a.json"),
    ]
    assert listed.problems == ()


def test_a_hidden_benchmark_is_listed_with_the_one_that_hides_it(write_json: Writer, tmp_path: Path) -> None:
    """Two files with one id: the second is there, and its notice names the first."""
    first = write_json(about("a"), "one/a.json")
    second = write_json(about("a", version="2.0.0"), "two/a.json")
    roots = [tmp_path / "one", tmp_path / "two", tmp_path / "one"]
    used, hidden = list_benchmarks(roots).benchmarks
    assert used.shown.reading.notices == ()
    assert hidden.shown.reading.notices == (f"{second}: is not used, {first} has the same id",)


def test_a_benchmark_without_its_data_is_listed_with_how_to_bring_it(
    write_json: Writer, tmp_path: Path
) -> None:
    """It has no tasks yet; one that names its own data has."""
    write_json(brought("a"), "root/a.json")
    write_json({**brought("b"), "data": "rows.jsonl"}, "root/b.json")
    write_json(ROW, "root/rows.jsonl")
    waiting, filled = (one.shown for one in list_benchmarks([tmp_path / "root"]).benchmarks)
    assert waiting.bring is not None
    assert "--data FILE" in waiting.bring
    assert (waiting.reading.benchmark.tasks, filled.bring) == ((), None)
    assert len(filled.reading.benchmark.tasks) == 1


def test_es24_a_broken_benchmark_hides_no_other(write_json: Writer, tmp_path: Path) -> None:
    """What cannot be read is among the problems, files of another kind are passed over."""
    write_json(about("a"), "root/a.json")
    write_json(about("b", tasks=[]), "root/b.json")
    write_json({"run_summary": {}}, "root/result.json")
    (tmp_path / "root" / "c.json").write_text("{", encoding="utf-8")
    listed = list_benchmarks([tmp_path / "root"])
    assert [one.shown.reading.benchmark.id for one in listed.benchmarks] == ["a"]
    assert [Path(problem.where).name for problem in listed.problems] == ["b.json", "c.json"]


def test_a_benchmark_is_shown_with_its_tasks_once_there_is_data(write_json: Writer, tmp_path: Path) -> None:
    """Without data it is shown as it is, with data it has its tasks."""
    write_json(brought("a"), "root/a.json")
    data = write_json(ROW, "rows.jsonl")
    roots = [tmp_path / "root"]
    assert show_benchmark("a", roots).bring is not None
    shown = show_benchmark("a", roots, data=data)
    assert (shown.bring, len(shown.reading.benchmark.tasks)) == (None, 1)
    with pytest.raises(CatalogError, match="there is no benchmark b"):
        show_benchmark("b", roots)


@pytest.mark.parametrize("value", [[TASK], about("a"), brought("a")])
def test_every_kind_of_file_can_be_checked(value: object, write_json: Writer) -> None:
    """A list of tasks, a benchmark and one that waits for its data are right."""
    checked = check_file(write_json(value, "units/benchmark.json").parent)
    assert checked.problems == ()
    assert checked.shown is not None


def test_a_check_gives_every_problem(write_json: Writer) -> None:
    """All that is wrong with a file is given at once, and nothing is shown."""
    checked = check_file(write_json(about("a", domain=3, tasks=[{**TASK, "weight": -1}])))
    assert checked.shown is None
    assert [problem.key for problem in checked.problems] == ["domain", "tasks[0].weight"]


def test_data_is_checked_by_those_that_need_it(write_json: Writer) -> None:
    """A data file given beside several benchmarks is no mistake of those with tasks of their own."""
    data = write_json([{**ROW, "Level": 9}], "rows.json")
    assert check_file(write_json(about("a"), "a.json"), data=data).problems == ()
    (problem,) = check_file(write_json(brought("b"), "b.json"), data=data).problems
    assert problem.key == "[0]: Level"
