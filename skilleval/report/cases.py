"""Failed trials arranged for reading: by skill, then by task, repeats with the same outcome told once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skilleval.report.document import FailedTrial, MatrixCell, Report
from skilleval.report.excerpt import Excerpt
from skilleval.report.numbers import count, counted

REPLY_SHAPE = '{"jsonrpc": "2.0", "id": 1, "result": …}'
_NO_REPLY = "no_reply"
_COMPLETED = "completed"

SKILL_KEYS = ("skill_id", "skill_version", "condition_id", "scorer")


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which a task failed, and the repeats that went that way."""

    trial: FailedTrial
    repeats: tuple[int, ...]

    @property
    def outcome(self) -> str:
        """The status where the trial did not complete, else the verdict; with the failure kind where it tells more."""
        trial = self.trial
        what = trial.verdict if trial.status == _COMPLETED else trial.status
        return f"{what} ({trial.failure_kind})" if trial.failure_kind not in {None, "", what} else what

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the attempt and the scorer say of it, each thing once: scorers repeat the cause of a broken trial."""
        trial = self.trial
        known = {trial.message, f"{trial.status}: {trial.message or trial.failure_kind}"}
        return tuple(
            said
            for said in (trial.message, trial.reason)
            if said and (said is trial.message or said not in known)
        )

    @property
    def lacks_reply(self) -> bool:
        """True where a program ended well but said nothing that is a reply."""
        return self.trial.failure_kind == _NO_REPLY

    @property
    def excerpts(self) -> tuple[tuple[str, Excerpt], ...]:
        """The texts to show, with their names; raw stdout only where no output could be read from it."""
        trial = self.trial
        stdout = trial.stdout if trial.output is None else None
        named = (
            ("input", trial.input),
            ("expected", trial.expected),
            ("output", trial.output),
            ("evidence", trial.evidence),
            ("stdout", stdout),
            ("stderr", trial.stderr),
        )
        return tuple((name, text) for name, text in named if text is not None and text.text)


@dataclass(frozen=True, slots=True)
class TaskCases:
    """All ways in which one task failed, as far as the report holds them; `n_failed` counts all its failed trials."""

    task_id: str
    cases: tuple[Case, ...]
    n_failed: int

    @property
    def n_trials(self) -> int:
        """How many failed trials of the task the report holds."""
        return sum(len(case.repeats) for case in self.cases)

    @property
    def left_out(self) -> str:
        """Say what of the task is told elsewhere, empty where nothing is."""
        n = self.n_failed - self.n_trials
        more = "more " if self.n_trials else ""
        return f"{counted(n, f'{more}failed trial')} in the tables of the run" if n > 0 else ""


@dataclass(frozen=True, slots=True)
class SkillCases:
    """The failed tasks of one condition for one scorer; `arm` names its arm, where a report has several."""

    skill_id: str
    skill_version: str
    condition_id: str
    scorer: str
    tasks: tuple[TaskCases, ...]
    arm: str = ""

    @property
    def n_trials(self) -> int:
        """How many failed trials of the skill the report holds."""
        return sum(task.n_trials for task in self.tasks)

    @property
    def amount(self) -> str:
        """Say how much failed, and how much of it is shown: `20 of 55 trials, 20 tasks`."""
        shown, n = self.n_trials, sum(task.n_failed for task in self.tasks)
        trials = counted(n, "trial") if shown == n else f"{count(shown)} of {counted(n, 'trial')}"
        return f"{trials}, {counted(len(self.tasks), 'task')}"


_Key = tuple[str, str, str, str]
_Tasks = dict[str, list[FailedTrial]]


def skill_cases(report: Report) -> tuple[SkillCases, ...]:
    """Arrange the failed trials of a report; skills come in the order of the summary.

    A task is there as soon as it did not always pass, also where the report holds none of its trials.
    """
    order = [tuple(row.get(key) for key in SKILL_KEYS) for row in report.summary]
    grouped: dict[_Key, _Tasks] = {}
    for trial in report.failures:
        grouped.setdefault(_key(trial), {}).setdefault(trial.task_id, []).append(trial)
    failed: dict[_Key, dict[str, int]] = {}
    for cell in report.matrix:
        if cell.n > cell.n_passed:
            failed.setdefault(_key(cell), {})[cell.task_id] = cell.n - cell.n_passed
            grouped.setdefault(_key(cell), {}).setdefault(cell.task_id, [])
    keys = sorted(grouped, key=lambda key: order.index(key) if key in order else len(order))
    arms = _arms(report)
    return tuple(
        SkillCases(*key, tasks=_tasks(grouped[key], failed.get(key, {})), arm=arms.get(key[2], ""))
        for key in keys
    )


def _arms(report: Report) -> dict[str, str]:
    """Give the arm of each condition, nothing where all rows share one."""
    modes = {str(row.get("condition_id")): str(row.get("mode") or "") for row in report.summary}
    return modes if len(set(modes.values())) > 1 else {}


def _key(one: FailedTrial | MatrixCell) -> _Key:
    return one.skill_id, one.skill_version, one.condition_id, one.scorer


def _tasks(trials: _Tasks, failed: Mapping[str, int]) -> tuple[TaskCases, ...]:
    return tuple(
        TaskCases(task_id, _cases(held), n_failed=max(failed.get(task_id, 0), len(held)))
        for task_id, held in trials.items()
    )


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
            trial.stdout,
            trial.stderr,
        )
        grouped.setdefault(outcome, []).append(trial)
    return tuple(Case(same[0], tuple(sorted(trial.repeat for trial in same))) for same in grouped.values())
