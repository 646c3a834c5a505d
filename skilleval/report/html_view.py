"""What the HTML page shows, worked out before the template: rows, cells and links, still without any markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skilleval.figures.theme import skill_colours
from skilleval.report.breakdown import Disagreement, TagRow, by_tag, disagreements, scorers
from skilleval.report.cases import SkillCases, skill_cases
from skilleval.report.causes import SkillCause, skill_causes
from skilleval.report.columns import interval_text, number, row_names, value_text, words
from skilleval.report.document import MatrixCell, MetricColumn, Report, Row
from skilleval.report.flags import SHAPES, Flag, Kind, cell_kind
from skilleval.report.matrix_columns import MatrixColumn, cell_in, matrix_columns
from skilleval.report.numbers import DASH
from skilleval.report.phrases import all_of
from skilleval.report.text import one_line
from skilleval.report.uplift import remarks

_CONDITION = ("adapter", "model", "sandbox", "mode")


@dataclass(frozen=True, slots=True)
class MetricCell:
    """One metric of one row; `sort_by` is empty where the value is not known, `absent` says why it is not."""

    column: MetricColumn
    text: str
    interval: str
    sort_by: str
    absent: str


@dataclass(frozen=True, slots=True)
class SkillRow:
    """One row of the table of skills.

    `low`, `rate` and `high` place its drawn interval; `told` is the place of its failed trials, empty without.
    """

    name: str
    details: tuple[str, ...]
    n_tasks: str
    n_repeats: str
    colour: str
    low: float | None
    rate: float | None
    high: float | None
    flags: tuple[Flag, ...]
    cells: tuple[MetricCell, ...]
    told: str

    @property
    def kind(self) -> Kind:
        """The gravest remark on the row."""
        return self.flags[0].kind if self.flags else Kind.FINE


@dataclass(frozen=True, slots=True)
class TaskHeading:
    """What stands above a column of the task matrix; the colour is empty where several skills share it."""

    name: str
    colour: str


@dataclass(frozen=True, slots=True)
class TaskCell:
    """How a task went for one row: the kind, the trials passed of those graded, the place of the details.

    `told` says in words what there is to say of a cell that leads nowhere. The text of a task that was not tried is
    empty.
    """

    kind: Kind
    text: str
    target: str
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

    @property
    def is_fine(self) -> bool:
        """True where every graded trial of every skill that tried it passed."""
        return all(cell.kind is Kind.FINE for cell in self.cells if cell.text)


@dataclass(frozen=True, slots=True)
class DisputedTask:
    """One task of one skill that its scorers judge differently."""

    skill: str
    task_id: str
    cells: tuple[TaskCell, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template places."""

    skills: tuple[SkillRow, ...]
    headings: tuple[TaskHeading, ...]
    troubled: tuple[TaskRow, ...]
    fine: tuple[TaskRow, ...]
    cases: tuple[SkillCases, ...]
    causes: tuple[SkillCause, ...]
    tags: tuple[TagRow, ...]
    scorers: tuple[str, ...]
    disagreements: tuple[DisputedTask, ...]


def page(report: Report) -> Page:
    """Work out the page of a report."""
    cases = skill_cases(report)
    targets = _targets(cases)
    columns = matrix_columns(report)
    tasks = _tasks(report, columns, targets)
    skills = _skills(report, cases)
    return Page(
        skills=skills,
        headings=tuple(_heading(one, skills) for one in columns),
        troubled=tuple(row for row in tasks if not row.is_fine),
        fine=tuple(row for row in tasks if row.is_fine),
        cases=cases,
        causes=skill_causes(report),
        tags=by_tag(report),
        scorers=scorers(report),
        disagreements=tuple(_disputed(one, targets) for one in disagreements(report)),
    )


def _heading(column: MatrixColumn, skills: Sequence[SkillRow]) -> TaskHeading:
    colours = {skills[i].colour for i in column.rows}
    return TaskHeading(column.name, colours.pop() if len(colours) == 1 else "")


def _disputed(one: Disagreement, targets: Mapping[tuple[str, str, str], str]) -> DisputedTask:
    return DisputedTask(one.skill, one.task_id, tuple(_task_cell(cell, targets) for cell in one.cells))


def target(skill: int, task: int) -> str:
    """Give the id of the place where a failed task is told; it is made of positions, never of foreign text."""
    return f"task-{skill}-{task}"


def _skills(report: Report, cases: Sequence[SkillCases]) -> tuple[SkillRow, ...]:
    names = row_names(report.summary)
    told = {(skill.condition_id, skill.scorer): target(i, 0) for i, skill in enumerate(cases)}
    details = _details(report.summary)
    colours = skill_colours(_skill_id(row) for row in report.summary)
    return tuple(
        SkillRow(
            name=name,
            details=details[i],
            n_tasks=words(row, "n_tasks") or DASH,
            n_repeats=words(row, "n_repeats") or DASH,
            colour=colours[_skill_id(row)],
            low=_share(row, "ci_low"),
            rate=_share(row, "completion_rate"),
            high=_share(row, "ci_high"),
            flags=remarks(report, row),
            cells=tuple(_metric(column, row) for column in report.columns),
            told=told.get((words(row, "condition_id"), words(row, "scorer")), ""),
        )
        for i, (name, row) in enumerate(zip(names, report.summary, strict=True))
    )


def _skill_id(row: Row) -> str:
    """Give the id as the figures know it, for the same colour."""
    return one_line(words(row, "skill_id"))


def _details(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Give the version of each skill, and how it was driven where the rows differ in that."""
    # The mode stands in the name already, where rows differ in it.
    telling = [key for key in _CONDITION if key != "mode" and len({row.get(key) for row in rows}) > 1]
    found = []
    for row in rows:
        shown = [(key, words(row, key)) for key in telling if words(row, key)]
        condition = [f"{key} {value}" for key, value in shown]
        found.append(tuple(part for part in (words(row, "skill_version"), *condition) if part))
    return found


def _share(row: Row, key: str) -> float | None:
    value = number(row, key)
    return None if value is None else min(max(float(value), 0.0), 1.0)


def _metric(column: MetricColumn, row: Row) -> MetricCell:
    value = number(row, column.key)
    return MetricCell(
        column=column,
        text=value_text(column, row),
        interval=interval_text(column, row),
        sort_by="" if value is None else repr(value),
        absent=column.absent if value is None else "",
    )


def _targets(cases: Iterable[SkillCases]) -> dict[tuple[str, str, str], str]:
    return {
        (skill.condition_id, skill.scorer, task.task_id): target(i, j)
        for i, skill in enumerate(cases)
        for j, task in enumerate(skill.tasks)
    }


def _tasks(
    report: Report, columns: Sequence[MatrixColumn], targets: Mapping[tuple[str, str, str], str]
) -> list[TaskRow]:
    """Give the rows of the task matrix, the tasks with the fewest passes first."""
    grouped: dict[str, dict[tuple[str, str], MatrixCell]] = {}
    for cell in report.matrix:
        grouped.setdefault(cell.task_id, {})[cell.condition_id, cell.scorer] = cell
    order = sorted(grouped, key=lambda task: _passes(grouped[task].values()))
    return [
        TaskRow(task, tuple(_task_cell(cell_in(one, grouped[task]), targets) for one in columns))
        for task in order
    ]


def _passes(cells: Iterable[MatrixCell]) -> float:
    known = [cell.n_passed / cell.n_graded for cell in cells if cell.n_graded]
    return sum(known) / len(known) if known else 0.0


def _task_cell(cell: MatrixCell | None, targets: Mapping[tuple[str, str, str], str]) -> TaskCell:
    if cell is None:
        return TaskCell(Kind.UNKNOWN, "", "", "not tried")
    told = targets.get((cell.condition_id, cell.scorer, cell.task_id), "")
    kind = cell_kind(cell)
    if kind is Kind.UNKNOWN:
        return TaskCell(kind, f"{cell.n} ungraded", told)
    words = "" if told else f"passed {all_of(cell.n_graded, 'graded trial')}"
    return TaskCell(kind, f"{cell.n_passed}/{cell.n_graded}", told, words)
