"""Failed trials arranged for reading: by skill, then by task, repeats with the same outcome told once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skilleval.report.document import FailedTrial, Report

SKILL_KEYS = ("skill_id", "skill_version", "condition_id", "scorer")


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which a task failed, and the repeats that went that way."""

    trial: FailedTrial
    repeats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaskCases:
    """All ways in which one task failed."""

    task_id: str
    cases: tuple[Case, ...]

    @property
    def n_trials(self) -> int:
        """How many failed trials of the task the report holds."""
        return sum(len(case.repeats) for case in self.cases)


@dataclass(frozen=True, slots=True)
class SkillCases:
    """The failed tasks of one condition for one scorer."""

    skill_id: str
    skill_version: str
    condition_id: str
    scorer: str
    tasks: tuple[TaskCases, ...]

    @property
    def n_trials(self) -> int:
        """How many failed trials of the skill the report holds."""
        return sum(task.n_trials for task in self.tasks)


def skill_cases(report: Report) -> tuple[SkillCases, ...]:
    """Arrange the failed trials of a report; skills come in the order of the summary."""
    order = [tuple(row.get(key) for key in SKILL_KEYS) for row in report.summary]
    grouped: dict[tuple[str, str, str, str], list[FailedTrial]] = {}
    for trial in report.failures:
        key = (trial.skill_id, trial.skill_version, trial.condition_id, trial.scorer)
        grouped.setdefault(key, []).append(trial)
    keys = sorted(grouped, key=lambda key: order.index(key) if key in order else len(order))
    return tuple(SkillCases(*key, tasks=_tasks(grouped[key])) for key in keys)


def _tasks(trials: Iterable[FailedTrial]) -> tuple[TaskCases, ...]:
    grouped: dict[str, list[FailedTrial]] = {}
    for trial in trials:
        grouped.setdefault(trial.task_id, []).append(trial)
    return tuple(TaskCases(task_id, _cases(grouped[task_id])) for task_id in grouped)


def _cases(trials: Iterable[FailedTrial]) -> tuple[Case, ...]:
    grouped: dict[tuple[object, ...], list[FailedTrial]] = {}
    for trial in trials:
        outcome = (
            trial.status,
            trial.verdict,
            trial.failure_kind,
            trial.message,
            trial.reason,
            trial.evidence,
            trial.input,
            trial.expected,
            trial.output,
            trial.stderr,
        )
        grouped.setdefault(outcome, []).append(trial)
    return tuple(Case(same[0], tuple(sorted(trial.repeat for trial in same))) for same in grouped.values())
