"""How the end of a sweep is told: each job, one table of all results, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.listing import show_rows
from skilleval.outcome import first_of

if TYPE_CHECKING:
    from pathlib import Path

    from skilleval.cli.console import Screen
    from skilleval.config.compose import Outcome

_COMPARED = ("skill_id", "skill_version", "scorer", "completion_rate", "ci_low", "ci_high", "n_graded")
_HEADINGS = ("job", "overrides", "skill", "scorer", "completion", "graded", "verdict", "exit")


def tell_dry(screen: Screen, jobs: Sequence[Outcome]) -> None:
    """Tell what each job would do, and all of them together."""
    code = first_of(job["exit_code"] for job in jobs)
    n_trials = sum(job.get("n_trials", 0) for job in jobs)
    longest_s = sum(job.get("longest_duration_s", 0.0) for job in jobs)
    totals = {"n_jobs": len(jobs), "n_trials": n_trials, "longest_duration_s": longest_s}
    screen.document(
        {
            "exit_code": int(code),
            "dry_run": True,
            "sweep_id": None,
            **totals,
            "comparison": [],
            "runs": list(jobs),
        }
    )
    for job in jobs:
        screen.say(_job_line(job))
    screen.say("")
    screen.say(
        f"{counted(len(jobs))}, {n_trials:,} trials in all, at most {longest_s:,.0f} s one job after the other; "
        "nothing was run and nothing was written"
    )
    click.get_current_context().exit(int(code))


def tell_sweep(screen: Screen, jobs: Sequence[Outcome], folder: Path) -> None:
    """Tell how each job ended and what all of them came to; exit with the code of all."""
    from skilleval.app.sweep_status import sweep_status

    code = first_of(job["exit_code"] for job in jobs)
    sweep_id = next((str(job["sweep_id"]) for job in jobs if job.get("sweep_id")), folder.name)
    rows = [row for job in jobs for row in _rows(job)]
    facts = sweep_status(folder)
    screen.document(
        {
            "exit_code": int(code),
            "sweep_id": sweep_id,
            "sweep_dir": str(folder),
            "remark": facts["remark"],
            "next": facts["next"],
            "comparison": rows,
            "runs": list(jobs),
        }
    )
    for job in jobs:
        screen.say(_job_line(job))
    _compare(screen, sweep_id, rows)
    screen.say("")
    if set(facts["by_state"]) != {"done"}:
        screen.say(totals(facts))
    tell_next(screen, facts)
    click.get_current_context().exit(int(code))


def tell_next(screen: Screen, facts: Mapping[str, Any]) -> None:
    """Say what to do next with a sweep, and what going on does not mend."""
    if facts["remark"]:
        screen.say(facts["remark"])
    screen.say(f"next: {facts['next']}")


def totals(facts: Mapping[str, Any]) -> str:
    """Say how many jobs are in each state, and how far they are."""
    states = ", ".join(f"{n} {state}" for state, n in facts["by_state"].items()) or "none started"
    trials = facts["trials"]
    told = f"{trials['done']:,} of {trials['planned']:,} trials of the started ones"
    return f"{counted(facts['n_jobs'])}: {states}; {told}"


def counted(n_jobs: int) -> str:
    """Count jobs in words."""
    return "1 job" if n_jobs == 1 else f"{n_jobs:,} jobs"


def _job_line(job: Mapping[str, Any]) -> str:
    ending = job.get("error") or f"{job['verdict']} {job.get('run_dir', '')}"
    state = f"{job['verdict_state'].upper()} " if job.get("verdict_state") else ""
    return f"[{job['job']}] {_overrides(job)}\n    exit {job['exit_code']}: {state}{ending}"


def _overrides(job: Mapping[str, Any]) -> str:
    return " ".join(job["overrides"]) or "no overrides"


def _rows(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give a row for each result of a job; one for a job without any."""
    about = {key: job.get(key) for key in ("job", "overrides", "settings", "exit_code")}
    state = job.get("verdict_state")
    results = [{key: row.get(key) for key in _COMPARED} for row in job.get("summary", ())]
    return [{**about, "state": state, **result} for result in results or [dict.fromkeys(_COMPARED)]]


def _compare(screen: Screen, sweep_id: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Show all results of the sweep in one table, with the settings that tell its jobs apart."""
    told = [_told(row) for row in rows]
    # Of a sweeper that does not say what it sweeps, all overrides count as settings.
    shared = set.intersection(*map(set, told)) if len({row["job"] for row in rows}) > 1 else set()
    screen.say("")
    screen.say(f"sweep {sweep_id}")
    cells = [
        _cells(row, [text for text in texts if text not in shared])
        for row, texts in zip(rows, told, strict=True)
    ]
    show_rows(screen, _HEADINGS, cells)


def _told(row: Mapping[str, Any]) -> list[str]:
    return [f"{key}={value}" for key, value in (row["settings"] or {}).items()]


def _cells(row: Mapping[str, Any], settings: Sequence[str]) -> list[str]:
    from skilleval.report.numbers import Style, interval, shown

    low, high = row["ci_low"], row["ci_high"]
    rate = shown(row["completion_rate"], Style.RATE)
    skill = f"{row['skill_id']} {row['skill_version']}" if row["skill_id"] else "–"
    return [
        str(row["job"]),
        " ".join(settings) or "–",
        skill,
        row["scorer"] or "–",
        rate if low is None or high is None else f"{rate} {interval(low, high)}",
        shown(row["n_graded"], Style.COUNT),
        (row["state"] or "no result").upper(),
        str(row["exit_code"]),
    ]
