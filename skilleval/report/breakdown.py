"""Tables beside the main one: completion by tag, and the tasks on which the scorers of a run disagree."""

from __future__ import annotations

from dataclasses import dataclass

from skilleval.figures.labels import condition_labels
from skilleval.report.columns import words
from skilleval.report.document import MatrixCell, Report, Row, TagSlice
from skilleval.report.names import short_names
from skilleval.report.numbers import DASH, count, interval, rate

_SAME = 1e-9
_SEVERAL = 2


@dataclass(frozen=True, slots=True)
class TagCell:
    """How a tag went for one row of the summary: the rate, its interval, the trials passed of those graded."""

    rate: str
    interval: str
    n: str

    def __str__(self) -> str:
        return " ".join(part for part in (self.rate, self.interval, self.n and f"({self.n})") if part)


@dataclass(frozen=True, slots=True)
class TagRow:
    """One tag across all rows of the summary."""

    tag: str
    n_tasks: int
    cells: tuple[TagCell, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One task of one skill that its scorers judge differently; a scorer without a verdict has no cell."""

    skill: str
    task_id: str
    cells: tuple[MatrixCell | None, ...]


def by_tag(report: Report) -> tuple[TagRow, ...]:
    """Give the rows of the table by tag; empty where no task has a tag."""
    places = [_place(row) for row in report.summary]
    found: dict[str, dict[tuple[str, str], TagSlice]] = {}
    for one in report.slices:
        found.setdefault(one.tag, {})[one.condition_id, one.scorer] = one
    return tuple(
        TagRow(
            tag,
            max(one.n_tasks for one in slices.values()),
            tuple(_tag_cell(slices.get(place)) for place in places),
        )
        for tag, slices in sorted(found.items())
    )


def _tag_cell(one: TagSlice | None) -> TagCell:
    if one is None or one.completion_rate is None:
        return TagCell(DASH, "", "")
    ends = "" if one.ci_low is None else interval(one.ci_low, one.ci_high)
    return TagCell(rate(one.completion_rate), ends, f"{count(one.n_passed)}/{count(one.n_graded)}")


def scorers(report: Report) -> tuple[str, ...]:
    """Name the scorers that judged the run, in the order of the summary."""
    return tuple(dict.fromkeys(words(row, "scorer") for row in report.summary if words(row, "scorer")))


def disagreements(report: Report) -> tuple[Disagreement, ...]:
    """Give the tasks that passed more often for one scorer than for another, skills in the order of the summary."""
    names = scorers(report)
    if len(names) < _SEVERAL:
        return ()
    cells: dict[tuple[str, str], dict[str, MatrixCell]] = {}
    for cell in report.matrix:
        cells.setdefault((cell.condition_id, cell.task_id), {})[cell.scorer] = cell
    skills = _condition_names(report)
    differing = [
        Disagreement(skills.get(condition, ""), task, tuple(_graded(found.get(scorer)) for scorer in names))
        for (condition, task), found in cells.items()
        if _differ(found)
    ]
    order = list(dict.fromkeys(skills.values()))
    return tuple(
        sorted(differing, key=lambda one: order.index(one.skill) if one.skill in order else len(order))
    )


def _graded(cell: MatrixCell | None) -> MatrixCell | None:
    return cell if cell is not None and cell.n_graded else None


def _differ(cells: dict[str, MatrixCell]) -> bool:
    rates = [cell.n_passed / cell.n_graded for cell in cells.values() if cell.n_graded]
    return len(rates) > 1 and max(rates) - min(rates) > _SAME


def _condition_names(report: Report) -> dict[str, str]:
    names = short_names(condition_labels(report.summary), report.summary)
    return {words(row, "condition_id"): name for row, name in zip(report.summary, names, strict=True)}


def _place(row: Row) -> tuple[str, str]:
    return words(row, "condition_id"), words(row, "scorer")
