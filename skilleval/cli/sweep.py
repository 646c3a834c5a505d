"""Sweeps: Hydra's own sweeper and launcher run the jobs; here is what a job does and how its end is told.

The jobs are top-level functions, so that a launcher can send them to other processes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare
from skilleval.cli.arguments import Common
from skilleval.cli.console import Screen, progress
from skilleval.cli.request import Request
from skilleval.config.compose import Composed, quote, run_hydra
from skilleval.outcome import first_of

log = logging.getLogger(__name__)


def hand_to_hydra(common: Common, request: Request) -> None:
    """Let Hydra run a sweep, or print what it composed; exit with the code that all jobs come to."""
    flags = [flag for flag, given in (("--multirun", request.multirun), ("--info", request.info)) if given]
    flags += ["--cfg", request.cfg] if request.cfg else []
    with TemporaryDirectory() as nowhere:
        dry = [f"hydra.sweep.dir={quote(nowhere)}"] if request.dry_run else []
        jobs = run_hydra(
            [*flags, *request.overrides, *dry],
            dry_job if request.dry_run else sweep_job,
            project=Path.cwd(),
            config_file=common.config_file,
            config_dirs=request.config_dirs,
        )
    if not request.multirun or request.cfg or request.info:
        return
    code = first_of(job["exit_code"] for job in jobs)
    common.screen.document({"exit_code": int(code), "runs": list(jobs)})
    for job in jobs:
        common.screen.say(_job_line(job))
    click.get_current_context().exit(int(code))


def sweep_job(composed: Composed) -> dict[str, Any]:
    """Run one job of a sweep and say what came of it."""
    prepared = prepare(composed)
    for warning in prepared.warnings:
        log.warning("%s", warning)
    title = f"job {composed.sweep.job_num}" if composed.sweep else "job"
    with progress(Screen(), title=title, total=len(prepared.trials)) as observe:
        return evaluate(prepared, observe=observe, command=["eval", *composed.overrides]).facts()


def dry_job(composed: Composed) -> dict[str, Any]:
    """Check one job of a sweep without running it."""
    facts = prepare(composed).facts()
    return {"exit_code": 0, "dry_run": True, "verdict": f"{facts['n_trials']} trials, all valid", **facts}


def _job_line(job: Mapping[str, Any]) -> str:
    overrides = " ".join(job["overrides"]) or "no overrides"
    ending = job.get("error") or f"{job['verdict']} {job.get('run_dir', '')}"
    return f"[{job['job']}] {overrides}\n    exit {job['exit_code']}: {ending}"
