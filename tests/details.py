"""Builders of the single trials of a report, for the tests of its drawer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reports import demo_report

from skilleval.report.details import (
    CheckDetail,
    ConditionDetail,
    Details,
    TaskDetail,
    TrialDetail,
)
from skilleval.report.document import Report
from skilleval.report.excerpt import Excerpt


def excerpt(text: str, length: int | None = None) -> Excerpt:
    """Give a text; a length says that it is cut."""
    return Excerpt(text=text, length=len(text) if length is None else length)


def check(verdict: str = "passed", reason: str = "", **more: Any) -> CheckDetail:
    """Give one check."""
    said = excerpt(reason) if reason else None
    return CheckDetail(**({"scorer": "task", "check": "", "verdict": verdict, "reason": said} | more))


def trial(task_id: str = "t0", verdict: str = "passed", **more: Any) -> TrialDetail:
    """Give one completed trial."""
    neutral: dict[str, Any] = {
        "condition_id": "c0",
        "repeat": 0,
        "status": "completed",
        "checks": (check(verdict),),
    }
    return TrialDetail(**(neutral | {"task_id": task_id, "verdict": verdict} | more))


def details_of(trials: Sequence[TrialDetail], *, n_trials: int | None = None) -> Details:
    """Give the details of some trials; their tasks and conditions say no more than their names."""
    tasks = dict.fromkeys(one.task_id for one in trials)
    conditions = dict.fromkeys(one.condition_id for one in trials)
    n = len(trials) if n_trials is None else n_trials
    return Details(
        tasks=tuple(
            TaskDetail(
                task_id=task, tags=("sums",), input=excerpt(f'{{"of":"{i}"}}'), expected=excerpt(str(i))
            )
            for i, task in enumerate(tasks)
        ),
        conditions=tuple(
            ConditionDetail(condition_id=one, skill_id=f"skill-{one}", skill_version="1.0.0")
            for one in conditions
        ),
        trials=tuple(trials),
        n_trials=n,
        is_complete=n == len(trials),
    )


def report_with(*trials: TrialDetail, n_trials: int | None = None) -> Report:
    """Give the report of the demo with other single trials."""
    return replace(demo_report(), details=details_of(trials, n_trials=n_trials))
