"""The matrix of tasks by skills on the HTML page, with a stripe for every repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from skilleval.report.document import MatrixCell, Report
from skilleval.report.flags import SHAPES, Kind, cell_kind
from skilleval.report.html_places import Place, Places
from skilleval.report.html_skills import SkillRow
from skilleval.report.matrix_columns import MatrixColumn, cell_in, matrix_columns
from skilleval.report.phrases import all_of

MOST_TASKS = 2_000
MOST_CELLS = 20_000

Told = Callable[[str, str, str], Place | None]
"""Gives the place where a task under a condition is told for a scorer, nothing where no link would lead anywhere."""


@dataclass(frozen=True, slots=True)
class TaskHeading:
    """What stands above a column of the task matrix; the colour is empty where several skills share it."""

    name: str
    colour: str


@dataclass(frozen=True, slots=True)
class TaskCell:
    """How a task went for one row: the kind, the trials passed of those graded, a letter a repeat, and its place.

    `told` says in words what there is to say of a cell that leads nowhere. The text of a task that was not tried is
    empty.
    """

    kind: Kind
    text: str
    runs: str = ""
    place: Place | None = None
    told: str = ""

    @property
    def shape(self) -> str:
        """The mark that says the same without colour."""
        return SHAPES[self.kind]


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task across all rows of the summary."""

    task_id: str
    cells: tuple[TaskCell, ...]
    tags: tuple[str, ...] = ()

    @property
    def kinds(self) -> str:
        """What a reader may ask for: whether some skill never passed the task, and whether some did at times."""
        found = {cell.kind for cell in self.cells if cell.text}
        return " ".join(kind.value for kind in (Kind.FAILING, Kind.FLAKY) if kind in found)


@dataclass(frozen=True, slots=True)
class TaskTable:
    """The matrix, the tasks with the fewest passes first; `n_left` tasks are too many for a page."""

    headings: tuple[TaskHeading, ...]
    rows: tuple[TaskRow, ...]
    n_left: int
    has_details: bool
    has_tags: bool


def task_table(report: Report, skills: Sequence[SkillRow], told: Told) -> TaskTable:
    """Give the matrix of a report."""
    columns = matrix_columns(report)
    grouped: dict[str, dict[tuple[str, str], MatrixCell]] = {}
    for cell in report.matrix:
        grouped.setdefault(cell.task_id, {})[cell.condition_id, cell.scorer] = cell
    order = sorted(grouped, key=lambda task: _passes(grouped[task].values()))
    shown = order[: min(MOST_TASKS, MOST_CELLS // max(len(columns), 1))]
    tags = _tags(report)
    rows = tuple(
        TaskRow(
            task, tuple(task_cell(cell_in(one, grouped[task]), told) for one in columns), tags.get(task, ())
        )
        for task in shown
    )
    return TaskTable(
        headings=tuple(_heading(one, skills) for one in columns),
        rows=rows,
        n_left=len(order) - len(shown),
        has_details=any(cell.place and cell.place.opens for row in rows for cell in row.cells),
        has_tags=any(row.tags for row in rows),
    )


def _heading(column: MatrixColumn, skills: Sequence[SkillRow]) -> TaskHeading:
    colours = {skills[i].colour for i in column.rows}
    return TaskHeading(column.name, colours.pop() if len(colours) == 1 else "")


def _tags(report: Report) -> Mapping[str, tuple[str, ...]]:
    return {task.task_id: task.tags for task in report.details.tasks} if report.details else {}


def _passes(cells: Iterable[MatrixCell]) -> float:
    known = [cell.n_passed / cell.n_graded for cell in cells if cell.n_graded]
    return sum(known) / len(known) if known else 0.0


def task_cell(cell: MatrixCell | None, told: Told) -> TaskCell:
    """Give the cell of the page for a cell of the report."""
    if cell is None:
        return TaskCell(Kind.UNKNOWN, "", told="not tried")
    place = told(cell.task_id, cell.condition_id, cell.scorer)
    kind = cell_kind(cell)
    if kind is Kind.UNKNOWN:
        return TaskCell(kind, f"{cell.n} ungraded", cell.outcomes, place)
    words = f"passed {all_of(cell.n_graded, 'graded trial')}" if place is None and kind is Kind.FINE else ""
    return TaskCell(kind, f"{cell.n_passed}/{cell.n_graded}", cell.outcomes, place, words)


def places_told(places: Places, listed: Iterable[tuple[str, str, str]]) -> Told:
    """Make the question for a place: a link leads to single trials, or else to a line of the failed ones."""
    lines = frozenset(listed)

    def told(task_id: str, condition_id: str, scorer: str) -> Place | None:
        place = places.of(task_id, condition_id)
        if place is None or place.opens or (task_id, condition_id, scorer) in lines:
            return place
        return None

    return told
