"""The tables of a report as cells of text, in the order they are read; foreign text in them is not escaped yet."""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.report.agreement_tables import document_tables
from skilleval.report.breakdown import by_tag, disagreements, scorers
from skilleval.report.columns import interval_text, row_names, value_text, words
from skilleval.report.document import MatrixCell, MetricColumn, Report, Row
from skilleval.report.flags import SHAPES, Kind, cell_kind
from skilleval.report.gate_table import gate_text_table
from skilleval.report.matrix_columns import cell_in, matrix_columns
from skilleval.report.numbers import DASH, count
from skilleval.report.text_table import TextTable, text_table
from skilleval.report.uplift import remarks
from skilleval.report.uplift_tables import assertion_table, case_table, judge_table, uplift_table

_SELF_EXPLAINED = {"share", "score", "time"}
"""Units that the numbers show by themselves."""
_SEVERAL = 2


def report_tables(report: Report) -> tuple[TextTable, ...]:
    """Give all tables that the report has rows for."""
    found = (
        gate_text_table(report),
        uplift_table(report),
        case_table(report),
        assertion_table(report),
        skill_table(report),
        task_table(report),
        *document_tables(report.agreement),
        disagreement_table(report),
        tag_table(report),
        judge_table(report),
    )
    return tuple(table for table in found if table is not None)


def skill_table(report: Report) -> TextTable | None:
    """Give a row a condition × scorer; nothing where no skill was evaluated."""
    names = row_names(report.summary)
    header = ("skill", "tasks × repeats", *map(heading, report.columns), "remarks")
    return text_table(
        "skills",
        title="Skills",
        note="",
        header=header,
        rows=[_skill_row(report, name, row) for name, row in zip(names, report.summary, strict=True)],
        texts={0, len(header) - 1},
    )


def heading(column: MetricColumn) -> str:
    """Name a metric, with the unit where its numbers do not show it."""
    shown = column.unit in _SELF_EXPLAINED or column.unit == column.label
    return column.label if shown else f"{column.label} ({column.unit})"


def _skill_row(report: Report, name: str, row: Row) -> tuple[str, ...]:
    values = [f"{value_text(column, row)} {interval_text(column, row)}".strip() for column in report.columns]
    told = [f"{flag.shape} {flag.text}" for flag in remarks(report, row)]
    return name, _amount(row), *values, ", ".join(told)


def _amount(row: Row) -> str:
    if not (row.get("n_tasks") or row.get("n_repeats")):
        return DASH
    return f"{words(row, 'n_tasks') or DASH} × {words(row, 'n_repeats') or DASH}"


def task_table(report: Report) -> TextTable | None:
    """Give a row a task that somebody did not pass always; nothing where no task was tried."""
    tasks: dict[str, dict[tuple[str, str], MatrixCell]] = {}
    troubled = set()
    for cell in report.matrix:
        tasks.setdefault(cell.task_id, {})[cell.condition_id, cell.scorer] = cell
        if cell_kind(cell) is not Kind.FINE:
            troubled.add(cell.task_id)
    if not tasks:
        return None
    columns = matrix_columns(report)
    rows = [
        (task, *(_shape(cell_in(column, cells)) for column in columns))
        for task, cells in tasks.items()
        if task in troubled
    ]
    fine = count(len(tasks) - len(rows))
    return TextTable(
        name="tasks",
        title="Where it fails",
        note=f"Trials passed of trials graded. Tasks that every skill always passed: {fine}.",
        header=("task", *(column.name for column in columns)),
        numeric=_no_numbers(columns),
        rows=tuple(rows),
    )


def _no_numbers(columns: Sequence[object]) -> tuple[bool, ...]:
    return (False,) * (len(columns) + 1)


def _shape(cell: MatrixCell | None) -> str:
    return DASH if cell is None else f"{SHAPES[cell_kind(cell)]} {cell.n_passed}/{cell.n_graded}"


def disagreement_table(report: Report) -> TextTable | None:
    """Give a row a task that the scorers of one run judge differently; nothing for fewer than two scorers."""
    names = scorers(report)
    if len(names) < _SEVERAL:
        return None
    rows = tuple((one.skill, one.task_id, *map(_shape, one.cells)) for one in disagreements(report))
    return TextTable(
        name="disagreements",
        title="Where the scorers disagree",
        note="" if rows else "On no task: each passed as often for one scorer as for another.",
        header=("skill", "task", *names),
        numeric=(False, *_no_numbers(names)),
        rows=rows,
    )


def tag_table(report: Report) -> TextTable | None:
    """Give a row a tag; nothing where no task has one."""
    return text_table(
        "tags",
        title="By tag",
        note="Completion of the tasks that have the tag, with its interval and (trials passed/graded).",
        header=("tag", "tasks", *row_names(report.summary)),
        rows=[(row.tag, count(row.n_tasks), *map(str, row.cells)) for row in by_tag(report)],
        texts={0},
    )
