from __future__ import annotations

from arm_frames import arm_report
from reports import CALCULATOR, WRONG, cell, demo_report, report_of

from skilleval.report.tables import disagreement_table, report_tables, skill_table, tag_table, task_table


def test_each_table_is_a_rectangle() -> None:
    """A row has a cell a column, and each column a side to stand on."""
    for table in (*report_tables(demo_report()), *report_tables(arm_report())):
        assert {len(row) for row in table.rows} <= {len(table.header)}
        assert len(table.numeric) == len(table.header)


def test_tables_come_in_reading_order_and_only_with_rows() -> None:
    """What the skills add comes before the skills, then where they fail; parts the run lacks are left out."""
    names = [table.name for table in report_tables(arm_report())]
    assert names.index("uplift") < names.index("skills")
    assert [table.name for table in report_tables(demo_report())] == ["skills", "tasks", "tags"]


def test_the_row_of_a_skill_holds_each_metric_with_its_interval() -> None:
    """Name, amount, then a cell a metric, then the remarks."""
    table = skill_table(report_of(CALCULATOR))
    assert table is not None
    told = dict(zip(table.header, table.rows[0], strict=True))
    assert told["skill"] == "calculator"
    assert told["tasks × repeats"] == "20 × 3"
    assert told["completion"].startswith("1 [0.")


def test_only_troubled_tasks_have_a_row() -> None:
    """Tasks that all skills always passed are counted in the note instead."""
    matrix = [cell(WRONG, "fine", 3), cell(WRONG, "bad", 0)]
    table = task_table(report_of(WRONG, matrix=matrix))
    assert table is not None
    assert [row[0] for row in table.rows] == ["bad"]
    assert table.note.endswith("always passed: 1.")


def test_a_run_without_skills_tags_or_a_second_scorer_has_no_such_table() -> None:
    """Nothing is given where there is nothing to show."""
    assert skill_table(report_of()) is None
    assert tag_table(report_of(WRONG)) is None
    assert disagreement_table(report_of(WRONG)) is None
