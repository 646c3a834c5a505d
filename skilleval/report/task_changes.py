"""Which tasks broke and which were mended between two runs, for each pair of rows that is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from skilleval.report.document import MatrixCell, Report
from skilleval.report.numbers import count, counted
from skilleval.report.text import one_line

CHANGES = ("broke", "mended")
"""A task broke if it passes less often than before, and was mended if it passes more often."""

_SAME = 1e-9
_SHARED = ("skill_id", "scorer", "adapter", "model", "sandbox", "mode", "benchmark_id")
_OF_SIDE = ("skill_version", "skill_digest", "benchmark_version")


def with_tasks(
    rows: Sequence[Mapping[str, Any]], before: Report, after: Report
) -> tuple[dict[str, Any], ...]:
    """Add `broke` and `mended` to compared rows: lists of tasks with passed and graded trials of both sides.

    What changed most comes first. A task without a verdict on one side is in neither list.
    """
    return tuple(
        {**row, **_changes(_cells(row, before, "before"), _cells(row, after, "after"))} for row in rows
    )


def _cells(row: Mapping[str, Any], report: Report, side: str) -> dict[str, MatrixCell]:
    """Give the graded tasks of one side of a row."""
    wanted = {key: row[key] for key in _SHARED} | {key: row[f"{key}_{side}"] for key in _OF_SIDE}
    conditions = {
        found.get("condition_id")
        for found in report.summary
        if all(found.get(key) == value for key, value in wanted.items())
    }
    return {
        cell.task_id: cell
        for cell in report.matrix
        if cell.n_graded and cell.condition_id in conditions and cell.scorer == row["scorer"]
    }


def _changes(before: Mapping[str, MatrixCell], after: Mapping[str, MatrixCell]) -> dict[str, list[Any]]:
    gains = {task: _rate(after[task]) - _rate(cell) for task, cell in before.items() if task in after}
    broke = [task for task, gain in gains.items() if gain < -_SAME]
    mended = [task for task, gain in gains.items() if gain > _SAME]
    return {
        change: [
            _told(before[task], after[task]) for task in sorted(tasks, key=lambda task: -abs(gains[task]))
        ]
        for change, tasks in zip(CHANGES, (broke, mended), strict=True)
    }


def _rate(cell: MatrixCell) -> float:
    return cell.n_passed / cell.n_graded


def _told(before: MatrixCell, after: MatrixCell) -> dict[str, Any]:
    counts = {
        f"{name}_{side}": getattr(cell, name)
        for side, cell in (("before", before), ("after", after))
        for name in ("n_passed", "n_graded")
    }
    return {"task_id": before.task_id, **counts}


def change_lines(
    row: Mapping[str, Any], limit: int, *, spell: Callable[[str], str] = one_line
) -> Iterator[str]:
    """Say of a row in a line each what broke and what was mended: `broke (2 tasks): sum-1 3/3 → 0/3, …`.

    `spell` makes the id of a task safe where the line is going to stand.
    """
    for change in CHANGES:
        tasks = row.get(change) or []
        named = [_named(task, spell) for task in tasks[:limit]]
        more = [f"{count(len(tasks) - limit)} more"] if len(tasks) > limit else []
        if tasks:
            yield f"{change} ({counted(len(tasks), 'task')}): {', '.join([*named, *more])}"


def _named(task: Mapping[str, Any], spell: Callable[[str], str]) -> str:
    before, after = (f"{task[f'n_passed_{side}']}/{task[f'n_graded_{side}']}" for side in ("before", "after"))
    return f"{spell(str(task['task_id']))} {before} → {after}"
