from __future__ import annotations

import dataclasses

from arm_frames import arm_report
from reports import demo_report

from skilleval.report.document import MatrixCell, Row
from skilleval.report.html_view import page
from skilleval.report.matrix_columns import cell_in, matrix_columns


def cell(skill: str, condition: str, task: str) -> MatrixCell:
    """Give a cell that passed once of one trial."""
    return MatrixCell(
        skill_id=skill,
        skill_version="1",
        condition_id=condition,
        scorer="evals",
        task_id=task,
        n=1,
        n_graded=1,
        n_passed=1,
        rate=1.0,
        is_flaky=False,
    )


def row(skill: str, mode: str) -> Row:
    """Give a row of the summary."""
    return {"skill_id": skill, "condition_id": f"{skill}-{mode}", "mode": mode, "scorer": "evals"}


ROWS = tuple(row(skill, mode) for skill in ("a", "b") for mode in ("with_skill", "without_skill"))


def test_skills_with_tasks_of_their_own_share_a_column_an_arm() -> None:
    """A column a skill would be empty but for its own tasks, so that the arms are the columns."""
    cells = tuple(
        cell(one, f"{one}-{mode}", f"{one}/1") for one in "ab" for mode in ("with_skill", "without_skill")
    )
    report = dataclasses.replace(arm_report(), summary=ROWS, matrix=cells)
    columns = matrix_columns(report)
    assert [(one.name, len(one.places)) for one in columns] == [("with_skill", 2), ("without_skill", 2)]
    tried = {("b-with_skill", "evals"): cells[2]}
    assert cell_in(columns[0], tried) is cells[2]
    assert cell_in(columns[1], tried) is None


def test_skills_that_share_a_task_have_a_column_each() -> None:
    """Where two skills tried one task, they are compared beside each other."""
    cells = tuple(cell(one, f"{one}-with_skill", "shared") for one in "ab")
    report = dataclasses.replace(arm_report(), summary=ROWS, matrix=cells)
    assert [one.name for one in matrix_columns(report)] == [
        "a · with_skill",
        "a · without_skill",
        "b · with_skill",
        "b · without_skill",
    ]


def test_without_arms_there_is_a_column_a_row() -> None:
    """Each row of the summary has its column, in its order."""
    report = demo_report()
    assert [one.rows for one in matrix_columns(report)] == [(i,) for i in range(len(report.summary))]


def test_a_task_that_was_not_tried_is_an_empty_cell() -> None:
    """It is not called ungraded, and the task is neither failing nor flaky for it."""
    report = dataclasses.replace(arm_report(), summary=ROWS, matrix=(cell("a", "a-with_skill", "a/1"),))
    (found,) = page(report, ()).tasks.rows
    assert (found.task_id, found.kinds) == ("a/1", "")
    assert [one.text for one in found.cells] == ["1/1", ""]
