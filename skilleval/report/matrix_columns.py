"""The columns of the matrix of tasks: a row of the summary each, or an arm each where every skill has its own tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from skilleval.report.columns import row_names, words
from skilleval.report.document import MatrixCell, Report

_OF_ARM = ("mode", "model", "adapter", "sandbox", "scorer")


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    """A column; `places` are the conditions × scorers whose cells stand in it, `rows` their rows of the summary."""

    name: str
    places: frozenset[tuple[str, str]]
    rows: tuple[int, ...]


def matrix_columns(report: Report) -> tuple[MatrixColumn, ...]:
    """Give the columns in the order of the summary.

    Where arms are compared and no two skills share a task, a column a skill would leave nearly every cell empty.
    """
    places = [(words(row, "condition_id"), words(row, "scorer")) for row in report.summary]
    if not report.uplift or _is_shared(report):
        names = row_names(report.summary)
        return tuple(
            MatrixColumn(name, frozenset({place}), (i,))
            for i, (name, place) in enumerate(zip(names, places, strict=True))
        )
    arms: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(report.summary):
        arms.setdefault(tuple(words(row, key) for key in _OF_ARM), []).append(i)
    telling = [i for i in range(len(_OF_ARM)) if _OF_ARM[i] == "mode" or len({arm[i] for arm in arms}) > 1]
    return tuple(
        MatrixColumn(" · ".join(arm[i] for i in telling), frozenset(places[i] for i in rows), tuple(rows))
        for arm, rows in sorted(arms.items())
    )


def _is_shared(report: Report) -> bool:
    """Say whether a task was tried by several skills."""
    tried = {(cell.task_id, cell.skill_id) for cell in report.matrix}
    return any(n > 1 for n in Counter(task for task, _ in tried).values())


def cell_in(column: MatrixColumn, cells: dict[tuple[str, str], MatrixCell]) -> MatrixCell | None:
    """Give the cell of a task that stands in a column, nothing where it was not tried there."""
    return next((cell for place, cell in cells.items() if place in column.places), None)
