from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports import CALCULATOR, WRONG, cell, report_of

from skilleval.report.document import Report
from skilleval.report.task_changes import change_lines, with_tasks

NAMES = ("skill_version", "skill_digest", "benchmark_version")


def paired(row: dict[str, Any], **after: Any) -> dict[str, Any]:
    """Give a compared row as `deltas` gives it, as far as the tasks depend on it."""
    shared = ("skill_id", "scorer", "adapter", "model", "sandbox", "mode", "benchmark_id")
    sides = {"before": row, "after": row | after}
    return {key: row.get(key) for key in shared} | {
        f"{name}_{side}": values[name] for side, values in sides.items() for name in NAMES
    }


def report(row: Mapping[str, Any], **passed: int) -> Report:
    """Give a report with three trials of each task."""
    return report_of(row, matrix=[cell(row, task, n) for task, n in passed.items()])


def test_tasks_that_broke_and_were_mended_are_listed() -> None:
    """What changed most comes first; what stayed as it was is not listed."""
    before, after = report(CALCULATOR, a=3, b=3, c=0, d=2), report(CALCULATOR, a=2, b=0, c=1, d=2)
    (row,) = with_tasks([paired(CALCULATOR)], before, after)
    counts = {"n_passed_before": 3, "n_graded_before": 3, "n_passed_after": 0, "n_graded_after": 3}
    assert row["broke"][0] == {"task_id": "b", **counts}
    assert [task["task_id"] for task in row["broke"]] == ["b", "a"]
    assert [task["task_id"] for task in row["mended"]] == ["c"]
    assert list(change_lines(row, 1)) == [
        "broke (2 tasks): b 3/3 → 0/3, 1 more",
        "mended (1 task): c 0/3 → 1/3",
    ]


def test_each_row_has_the_tasks_of_its_own_skill_and_version() -> None:
    """Another skill, another scorer and another version are other rows, each with its own tasks."""
    new = CALCULATOR | {"skill_version": "2.0.0", "skill_digest": "n", "condition_id": "c-new"}
    before = report_of(CALCULATOR, WRONG, matrix=[cell(CALCULATOR, "t", 3), cell(WRONG, "t", 0)])
    after = report_of(new, WRONG, matrix=[cell(new, "t", 0), cell(WRONG, "t", 3)])
    rows = [paired(CALCULATOR, skill_version="2.0.0", skill_digest="n"), paired(WRONG)]
    assert [(len(row["broke"]), len(row["mended"])) for row in with_tasks(rows, before, after)] == [
        (1, 0),
        (0, 1),
    ]


def test_a_task_without_a_verdict_neither_broke_nor_was_mended() -> None:
    """What was not graded, or not asked, on one side is not compared."""
    lost = cell(CALCULATOR, "t", 0) | {"n_graded": 0, "rate": None}
    before = report_of(CALCULATOR, matrix=[cell(CALCULATOR, "t", 3), cell(CALCULATOR, "old", 3)])
    after = report_of(CALCULATOR, matrix=[lost, cell(CALCULATOR, "new", 0)])
    (row,) = with_tasks([paired(CALCULATOR)], before, after)
    assert (row["broke"], row["mended"], list(change_lines(row, 9))) == ([], [], [])


def test_a_row_that_one_side_lacks_has_no_tasks() -> None:
    """New and removed rows have nothing to be compared with."""
    row = paired(CALCULATOR) | {f"{name}_after": None for name in NAMES}
    (found,) = with_tasks([row], report(CALCULATOR, t=3), report(CALCULATOR, t=0))
    assert (found["broke"], found["mended"]) == ([], [])
