"""The failed trials on the HTML page, for readers without scripts and for paper: a line an outcome of a task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skilleval.report.cases import REPLY_SHAPE, Case, SkillCases, TaskCases
from skilleval.report.document import Report
from skilleval.report.flags import SHAPES, Kind
from skilleval.report.html_places import Places
from skilleval.report.numbers import count, counted

MOST_LINES = 200
_REASON_LENGTH = 300


@dataclass(frozen=True, slots=True)
class FailureLine:
    """One way in which a task failed; the id is empty where an earlier line has that of the task already."""

    id: str
    task_id: str
    kind: Kind
    outcome: str
    reason: str
    repeats: str

    @property
    def shape(self) -> str:
        """The mark that says the same without colour."""
        return SHAPES[self.kind]


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """The lines of one condition for one scorer; the id is a position."""

    id: str
    name: str
    arm: str
    scorer: str
    amount: str
    lines: tuple[FailureLine, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailureList:
    """All lines that a page shows, where each is told, and what is told elsewhere."""

    groups: tuple[FailureGroup, ...]
    notes: tuple[str, ...]
    listed: frozenset[tuple[str, str, str]]
    """The task, condition and scorer of the lines that a link can lead to."""

    told: dict[tuple[str, str], str]
    """The id of each group by its condition and scorer."""


def failure_list(report: Report, cases: tuple[SkillCases, ...], places: Places) -> FailureList:
    """Arrange the failed trials of a report, skills in the order of the summary."""
    pending = [
        (skill, task, case) for skill in cases for task in skill.tasks for case in task.cases or (None,)
    ]
    shown = pending[:MOST_LINES]
    lines: dict[int, list[FailureLine]] = {}
    ids: set[str] = set()
    listed = set()
    for skill, task, case in shown:
        line = _line(skill, task, case, places, ids)
        lines.setdefault(id(skill), []).append(line)
        if line.id:
            ids.add(line.id)
            listed.add((task.task_id, skill.condition_id, skill.scorer))
    groups = tuple(
        _group(i, skill, tuple(lines[id(skill)])) for i, skill in enumerate(cases) if id(skill) in lines
    )
    return FailureList(
        groups=groups,
        notes=tuple(_notes(report, len(pending) - len(shown))),
        listed=frozenset(listed),
        told={
            (skill.condition_id, skill.scorer): f"failed-{i}"
            for i, skill in enumerate(cases)
            if id(skill) in lines
        },
    )


def _notes(report: Report, n_left: int) -> Iterator[str]:
    """Say what of the failed trials the list does not tell, and where it is."""
    if n_left:
        yield f"{counted(n_left, 'more line')} of this list left out; the tables of the run hold every trial"
    hidden = report.n_failures - len(report.failures)
    if hidden > 0:
        yield f"{count(hidden)} more failed trials are in the tables of the run."


def _line(
    skill: SkillCases, task: TaskCases, case: Case | None, places: Places, taken: set[str]
) -> FailureLine:
    place = places.of(task.task_id, skill.condition_id)
    anchor = "" if place is None or place.anchor in taken else place.anchor
    if case is None:
        return FailureLine(anchor, task.task_id, Kind.FAILING, counted(task.n_failed, "failed trial"), "", "")
    return FailureLine(
        id=anchor,
        task_id=task.task_id,
        kind=_kind(case),
        outcome=case.outcome,
        reason=_cut(" · ".join(case.sentences)),
        repeats=", ".join(str(repeat) for repeat in case.repeats),
    )


def _cut(reason: str) -> str:
    return reason if len(reason) <= _REASON_LENGTH else f"{reason[: _REASON_LENGTH - 1]}…"


def _kind(case: Case) -> Kind:
    if case.trial.verdict == "ungraded":
        return Kind.UNKNOWN
    return Kind.FAILING if case.trial.status == "completed" else Kind.ERRORS


def _group(i: int, skill: SkillCases, lines: tuple[FailureLine, ...]) -> FailureGroup:
    lacking = any(case.lacks_reply for task in skill.tasks for case in task.cases)
    n_left = sum(task.n_failed - task.n_trials for task in skill.tasks if task.cases)
    left = (f"{counted(n_left, 'more failed trial')} in the tables of the run",) if n_left else ()
    reply = (f"A reply is one line on stdout: {REPLY_SHAPE}",) if lacking else ()
    return FailureGroup(
        id=f"failed-{i}",
        name=" ".join(part for part in (skill.skill_id, skill.skill_version) if part),
        arm=skill.arm,
        scorer=skill.scorer,
        amount=skill.amount,
        lines=lines,
        notes=(*reply, *left),
    )
