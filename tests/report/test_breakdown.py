from __future__ import annotations

from reports import CALCULATOR, FLAKY, WRONG, cell, report_of, slice_of

from skilleval.report.breakdown import by_tag, disagreements, scorers

EXACT, CONTAINS = (CALCULATOR | {"scorer": name} for name in ("exact", "contains"))


def test_a_tag_has_a_cell_for_each_row_of_the_summary() -> None:
    """Tags come by name; a skill that has no task of a tag has a dash, one without an interval only its rate."""
    slices = [slice_of(FLAKY, "b", 3, ci_low=0.1, ci_high=0.9), slice_of(CALCULATOR, "a", 3, n_tasks=1)]
    rows = by_tag(report_of(CALCULATOR, FLAKY, slices=slices))
    assert [(row.tag, row.n_tasks, [str(one) for one in row.cells]) for row in rows] == [
        ("a", 1, ["1 (3/3)", "–"]),
        ("b", 2, ["–", "0.5 [0.1, 0.9] (3/6)"]),
    ]


def test_a_tag_without_a_verdict_is_not_known() -> None:
    """Where nothing was graded there is a dash, not a zero."""
    ungraded = slice_of(CALCULATOR, "a", 0, n_tasks=1, completion_rate=None, n_graded=0)
    (row,) = by_tag(report_of(CALCULATOR, slices=[ungraded]))
    assert str(row.cells[0]) == "–"


def test_without_tags_there_is_no_table() -> None:
    """A report that was built without slices has no rows by tag."""
    assert by_tag(report_of(CALCULATOR)) == ()


def test_scorers_disagree_on_a_task_that_passed_more_often_for_one() -> None:
    """Only tasks that both scorers graded and judged differently are listed."""
    graded = {"n_graded": 0, "rate": None}
    matrix = [
        *(cell(row, "same", 2) for row in (EXACT, CONTAINS)),
        *(cell(row, "odd", n) for row, n in ((EXACT, 0), (CONTAINS, 3))),
        cell(EXACT, "lost", 3),
        cell(CONTAINS, "lost", 0) | graded,
    ]
    report = report_of(EXACT, CONTAINS, matrix=matrix)
    (found,) = disagreements(report)
    assert scorers(report) == ("contains", "exact")
    assert (found.skill, found.task_id) == ("calculator", "odd")
    assert [one.n_passed for one in found.cells if one is not None] == [3, 0]


def test_a_third_scorer_without_a_verdict_has_no_cell() -> None:
    """A scorer that graded nothing of a disputed task says nothing about it."""
    third = CALCULATOR | {"scorer": "judge"}
    matrix = [cell(EXACT, "t", 0), cell(CONTAINS, "t", 3), cell(third, "t", 0) | {"n_graded": 0}]
    report = report_of(EXACT, CONTAINS, third, matrix=matrix)
    (found,) = disagreements(report)
    assert dict(zip(scorers(report), found.cells, strict=True))["judge"] is None


def test_one_scorer_has_nobody_to_disagree_with() -> None:
    """Two skills under one scorer are not compared."""
    assert (
        disagreements(report_of(CALCULATOR, WRONG, matrix=[cell(CALCULATOR, "t", 3), cell(WRONG, "t", 0)]))
        == ()
    )


def test_disputed_tasks_come_in_the_order_of_the_skills() -> None:
    """The best skill comes first, whatever the order of the matrix."""
    wrong = [WRONG | {"scorer": name} for name in ("exact", "contains")]
    matrix = [cell(row, "t", n) for row, n in zip([*wrong, EXACT, CONTAINS], (0, 1, 3, 2), strict=True)]
    found = disagreements(report_of(EXACT, CONTAINS, *wrong, matrix=matrix))
    assert [one.skill for one in found] == ["calculator", "wrong-calculator"]
