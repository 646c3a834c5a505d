"""Sweeps: Hydra's own sweeper and launcher run the jobs; here is what a job does and how its end is told.

The jobs are top-level functions, so that a launcher can send them to other processes.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from skilleval.app.prepare import prepare
from skilleval.cli.arguments import Common
from skilleval.cli.console import Screen
from skilleval.cli.listing import show_rows
from skilleval.cli.request import Request
from skilleval.cli.running import carry_out
from skilleval.cli.watching import LogOptions
from skilleval.config.compose import Composed, quote, run_hydra
from skilleval.outcome import first_of

log = logging.getLogger(__name__)

_COMPARED = ("skill_id", "skill_version", "scorer", "completion_rate", "ci_low", "ci_high", "n_graded")
_HEADINGS = ("job", "overrides", "skill", "scorer", "completion", "graded", "verdict", "exit")


def hand_to_hydra(common: Common, request: Request) -> None:
    """Let Hydra run a sweep, or print what it composed; exit with the code that all jobs come to."""
    flags = [flag for flag, given in (("--multirun", request.multirun), ("--info", request.info)) if given]
    flags += ["--cfg", request.cfg] if request.cfg else []
    with TemporaryDirectory() as nowhere:
        dry = [f"hydra.sweep.dir={quote(nowhere)}"] if request.dry_run else []
        jobs = run_hydra(
            [*flags, *request.overrides, *dry],
            dry_job if request.dry_run else partial(sweep_job, log_options=request.log),
            project=Path.cwd(),
            config_file=common.config_file,
            config_dirs=request.config_dirs,
        )
    if not request.multirun or request.cfg or request.info:
        return
    code = first_of(job["exit_code"] for job in jobs)
    sweep_id = next((job["sweep_id"] for job in jobs if job.get("sweep_id")), None)
    rows = [row for job in jobs for row in _rows(job)]
    common.screen.document(
        {"exit_code": int(code), "sweep_id": sweep_id, "comparison": rows, "runs": list(jobs)}
    )
    for job in jobs:
        common.screen.say(_job_line(job))
    _compare(common.screen, sweep_id, rows)
    click.get_current_context().exit(int(code))


def sweep_job(composed: Composed, *, log_options: LogOptions) -> dict[str, Any]:
    """Run one job of a sweep and say what came of it."""
    prepared = prepare(composed)
    for warning in prepared.warnings:
        log.warning("%s", warning)
    title = f"job {composed.sweep.job_num}" if composed.sweep else "job"
    outcome = carry_out(
        Screen(),
        prepared,
        log_options=replace(log_options, title=title),
        command=["eval", *composed.overrides],
    )
    sweep_id = composed.sweep.sweep_id if composed.sweep else None
    return {"sweep_id": sweep_id, "state": outcome.report.verdict.state.value, **outcome.facts()}


def dry_job(composed: Composed) -> dict[str, Any]:
    """Check one job of a sweep without running it."""
    facts = prepare(composed, builds=False).facts()
    return {"exit_code": 0, "dry_run": True, "verdict": f"{facts['n_trials']} trials, all valid", **facts}


def _job_line(job: Mapping[str, Any]) -> str:
    ending = job.get("error") or f"{job['verdict']} {job.get('run_dir', '')}"
    state = f"{job['state'].upper()} " if "state" in job else ""
    return f"[{job['job']}] {_overrides(job)}\n    exit {job['exit_code']}: {state}{ending}"


def _overrides(job: Mapping[str, Any]) -> str:
    return " ".join(job["overrides"]) or "no overrides"


def _rows(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give a row for each result of a job; one for a job without any."""
    about = {"job": job["job"], "overrides": job["overrides"], "exit_code": job["exit_code"]}
    state = job.get("state")
    results = [{key: row.get(key) for key in _COMPARED} for row in job.get("summary", ())]
    return [{**about, "state": state, **result} for result in results or [dict.fromkeys(_COMPARED)]]


def _compare(screen: Screen, sweep_id: str | None, rows: Sequence[Mapping[str, Any]]) -> None:
    """Show all results of the sweep in one table, with the overrides that tell its jobs apart; a dry run has none."""
    if sweep_id is None:
        return
    shared = set.intersection(*(set(row["overrides"]) for row in rows))
    screen.say("")
    screen.say(f"sweep {sweep_id}")
    show_rows(screen, _HEADINGS, [_cells(row, shared) for row in rows])


def _cells(row: Mapping[str, Any], shared: Collection[str]) -> list[str]:
    from skilleval.report.numbers import Style, interval, shown

    low, high = row["ci_low"], row["ci_high"]
    rate = shown(row["completion_rate"], Style.RATE)
    skill = f"{row['skill_id']} {row['skill_version']}" if row["skill_id"] else "–"
    return [
        str(row["job"]),
        " ".join(text for text in row["overrides"] if text not in shared) or "–",
        skill,
        row["scorer"] or "–",
        rate if low is None or high is None else f"{rate} {interval(low, high)}",
        shown(row["n_graded"], Style.COUNT),
        (row["state"] or "no result").upper(),
        str(row["exit_code"]),
    ]
