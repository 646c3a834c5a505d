from __future__ import annotations

from arm_frames import arm_report
from papers import group, paper
from reports import demo_report

from skilleval.report.columns import interval_text, row_names, value_text
from skilleval.report.paper.tables import quality_table, slice_table, slugs, tables


def test_cells_are_those_of_the_report() -> None:
    """Value and interval of completion are written as the report writes them."""
    report = demo_report()
    table = quality_table(group(report))
    assert table is not None
    column = report.columns[0]
    at = table.header.index(column.label)
    for name, row, cells in zip(row_names(report.summary), report.summary, table.rows, strict=True):
        assert cells[0] == name
        assert cells[at].replace("† ", "") == f"{value_text(column, row)} {interval_text(column, row)}"


def test_only_what_is_shown_is_marked() -> None:
    """The mark needs the adjusted p and the interval; the caption names both, and the correction."""
    table = quality_table(group())
    assert table is not None
    marked = [row[0] for row in table.rows if any("†" in cell for cell in row)]
    assert marked == ["wrong-calculator"]
    assert "adjusted after Holm for 2 comparisons is at most 0.05" in table.note
    assert "sign flips, exact" in table.note


def test_the_reference_is_named() -> None:
    """The row that others are held against says so in place of a difference."""
    table = quality_table(group())
    assert table is not None
    assert [row[-2] for row in table.rows] == ["reference", "−0.283 [−0.6, +0.034]", "−1"]


def test_a_reference_that_the_rows_chose_is_told() -> None:
    """The best of the same data looks better than it is, so the caption warns."""
    table = quality_table(group(is_chosen=True))
    assert table is not None
    assert "chosen by these very data" in table.note


def test_nothing_is_compared_without_a_partner() -> None:
    """A single condition has no column of differences and no mark."""
    table = quality_table(group(compared=(), references={}))
    assert table is not None
    assert "Δ completion" not in table.header
    assert "†" not in table.note


def test_arms_have_a_table_of_uplift() -> None:
    """A run with arms brings the tables of what its skills add."""
    assert "uplift" in [one.stem for one in tables(paper(group(arm_report(), compared=())))]


def test_each_benchmark_has_tables_of_its_own() -> None:
    """Files are named after benchmarks where there are several, and no file is written twice."""
    stems = [one.stem for one in tables(paper(group(name="A b!"), group(name="a B?")))]
    assert stems[0] == "a-b-skills"
    assert "a-b-2-skills" in stems
    assert len(set(stems)) == len(stems)


def test_names_of_files_are_plain() -> None:
    """No name of a benchmark can lead to another folder."""
    assert slugs(["../../etc", "", "x" * 90]) == ["etc", "benchmark", "x" * 40]


def test_slices_of_few_skills_stand_beside_each_other() -> None:
    """Up to four skills have a column each."""
    table = slice_table(demo_report())
    assert table is not None
    assert table.header == ("tag", "tasks", "calculator", "flaky-calculator", "wrong-calculator")
