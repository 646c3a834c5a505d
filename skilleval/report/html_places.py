"""Where on the page a task under a condition is told: ids made of positions, never of foreign text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skilleval.report.columns import words
from skilleval.report.document import Report


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a task and of a condition; `opens` says that the page holds their single trials."""

    task: int
    condition: int
    opens: bool

    @property
    def anchor(self) -> str:
        """The id of the place, which a link names and the drawer understands."""
        return f"task-{self.task}-{self.condition}"


@dataclass(frozen=True, slots=True)
class Places:
    """The positions of all tasks and conditions of a report, and the trials it holds one by one."""

    tasks: Mapping[str, int]
    conditions: Mapping[str, int]
    held: frozenset[tuple[str, str]]

    def of(self, task_id: str, condition_id: str) -> Place | None:
        """Give the place of a task under a condition, nothing where the report does not know them."""
        task, condition = self.tasks.get(task_id), self.conditions.get(condition_id)
        if task is None or condition is None:
            return None
        return Place(task, condition, opens=(task_id, condition_id) in self.held)


def places(report: Report) -> Places:
    """Give the positions that the drawer goes by, those of the single trials, and the others after them."""
    details = report.details
    held = {(one.task_id, one.condition_id) for one in details.trials} if details else set()
    tasks = [task.task_id for task in details.tasks] if details else []
    conditions = [one.condition_id for one in details.conditions] if details else []
    conditions += [words(row, "condition_id") for row in report.summary]
    conditions += [cell.condition_id for cell in report.matrix]
    tasks += [cell.task_id for cell in report.matrix]
    tasks += [trial.task_id for trial in report.failures]
    return Places(_positions(tasks), _positions(conditions), frozenset(held))


def _positions(names: list[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(dict.fromkeys(names))}
