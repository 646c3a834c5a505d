"""A comparison as JUnit XML: a case a skill × scorer × task, and one for what the tasks of a skill together say.

A task that always passed and never does now is a failure, and so is one in which such a check broke. One that passes
less often than before is none by itself: whether that can be chance is what the case of the whole skill says. A task
that only one side has, or that had another input, is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from skilleval.report.diff_document import INCONCLUSIVE, NOT_COMPARED, Diff, DiffRow, Values
from skilleval.report.diff_tables import flip_cells
from skilleval.report.junit_xml import CaseResult, document, suite
from skilleval.report.numbers import points

VERDICT = "verdict over all tasks"
"""The name of the case that holds the verdict of a skill."""

_OPEN = (INCONCLUSIVE, NOT_COMPARED)


def render(diff: Diff) -> str:
    """Write the XML document."""
    return document(_suite(diff, row) for row in diff.rows)


def _suite(diff: Diff, row: DiffRow) -> str:
    results = [_verdict(row), *_tasks(row), *_left_out(row)]
    return suite(row.name, results, started_at=diff.candidate.started_at, properties=_properties(diff, row))


def _properties(diff: Diff, row: DiffRow) -> Mapping[str, str]:
    runs = {
        f"{role}_{name}": getattr(run, name)
        for role, run in (("baseline", diff.baseline), ("candidate", diff.candidate))
        for name in ("label", "run_id", "benchmark")
    }
    return {
        **runs,
        "scorer": row.scorer,
        "mode": row.mode,
        "change": row.change,
        "margin": f"{points(diff.margin).lstrip('+')} pp",
    }


def _verdict(row: DiffRow) -> CaseResult:
    """Judge the skill as a whole: only a regression beyond the margin fails, what decides nothing is skipped."""
    text = "\n".join(row.caveats)
    if row.is_confirmed:
        return CaseResult(VERDICT, "failure", row.sentence, text)
    if row.side != "both" or row.change in _OPEN:
        return CaseResult(VERDICT, "skipped", row.sentence, text)
    return CaseResult(VERDICT)


def _tasks(row: DiffRow) -> Iterator[CaseResult]:
    broken: dict[str, list[Values]] = {}
    for flip in row.broken:
        broken.setdefault(flip["task_id"], []).append(flip)
    for task in row.tasks:
        yield _broken(task, broken[task]) if task in broken else CaseResult(task)


def _broken(task: str, flips: Sequence[Values]) -> CaseResult:
    """Tell what broke: the task itself, else the first check of it."""
    ordered = sorted(flips, key=lambda flip: flip["check_id"] is not None)
    lines = []
    for flip in ordered:
        name, kind, before, after, why = flip_cells(flip)
        lines.append(f"{name} {kind}: passed {before} → {after}{': ' if why else ''}{why}")
    return CaseResult(task, "failure", lines[0], "\n".join(lines))


def _left_out(row: DiffRow) -> Iterator[CaseResult]:
    for why, tasks in row.left_out.items():
        yield from (CaseResult(task, "skipped", f"not compared: {why}") for task in tasks)
