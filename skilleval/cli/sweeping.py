"""Running sweeps: Hydra's launchers run the jobs; here is what a job does.

The jobs are top-level functions, so that a launcher can send them to other processes.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from skilleval.app.manifest import n_done
from skilleval.app.prepare import prepare
from skilleval.app.resume import StoredRun, is_unfinished
from skilleval.app.sweep_jobs import note_run, refuse_changed, run_of_job
from skilleval.app.sweeps import StoredLedger, state_of
from skilleval.cli.arguments import Common
from skilleval.cli.console import Screen
from skilleval.cli.request import Request
from skilleval.cli.running import carry_out
from skilleval.cli.sweep_end import counted, tell_dry, tell_sweep
from skilleval.cli.watching import LogOptions, configure_logging
from skilleval.config.compose import Again, Composed, Grid, SweepJob, quote, run_hydra
from skilleval.domain.hashes import content_hash
from skilleval.outcome import ExitCode
from skilleval.report.text import joined_lines
from skilleval.results.places import local_place
from skilleval.results.store import read_manifest
from skilleval.results.sweeps import FAILED, REFUSED

log = logging.getLogger(__name__)

_SHOWN_VALUES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncedLedger(StoredLedger):
    """Keeps the books of a sweep, and says what a person wants to know at once.

    That is what is swept, before the first job, for a pasted text may hold commas; and each job that failed.
    """

    log_options: LogOptions = field(default_factory=LogOptions)

    def plan(self, grid: Grid) -> None:
        """Write down what is swept, and say it."""
        StoredLedger.plan(self, grid)
        if self.log_options.shows_progress:
            click.echo(f"sweeping {_swept(grid)}", err=True)

    def end(self, job: SweepJob, outcome: Mapping[str, Any]) -> None:
        """Note how a job ended, and say so if it failed: the end of the sweep may be hours away."""
        StoredLedger.end(self, job, outcome)
        if state_of(outcome) in {FAILED, REFUSED}:
            _screen(self.log_options)
            reason = outcome.get("error") or outcome.get("verdict") or "no reason given"
            log.warning(
                "%s failed, exit %s: %s", _title(job), outcome["exit_code"], joined_lines(str(reason))
            )


def _swept(grid: Grid) -> str:
    """Say what is swept, e.g. `6 jobs: scorer=exact|contains × runner.seed=0|1|2`."""
    shown = [f"{key}={_some(values)}" for key, values in grid.values.items()]
    count = "" if grid.jobs is None else counted(len(grid.jobs))
    return ": ".join(part for part in (count, " × ".join(shown)) if part)


def _some(values: Sequence[str]) -> str:
    shown = "|".join(values[:_SHOWN_VALUES])
    return f"{shown}|… ({len(values)})" if len(values) > _SHOWN_VALUES else shown


@dataclass(slots=True)
class _Ledgers:
    """Makes the books of a sweep, and knows which ones it made."""

    command: tuple[str, ...] = ()
    log_options: LogOptions = field(default_factory=LogOptions)
    made: list[StoredLedger] = field(default_factory=list)

    def __call__(self, folder: Path) -> StoredLedger:
        ledger = AnnouncedLedger(
            folder=local_place(folder), command=self.command, log_options=self.log_options
        )
        self.made.append(ledger)
        return ledger


def hand_to_hydra(common: Common, request: Request) -> None:
    """Let Hydra run a sweep, or print what it composed; exit with the code that all jobs come to."""
    flags = [flag for flag, given in (("--multirun", request.multirun), ("--info", request.info)) if given]
    flags += ["--cfg", request.cfg] if request.cfg else []
    ledgers = _Ledgers(command=tuple(sys.argv[1:]), log_options=request.log)
    with TemporaryDirectory() as nowhere:
        dry = [f"hydra.sweep.dir={quote(nowhere)}"] if request.dry_run else []
        jobs = run_hydra(
            [*flags, *request.overrides, *dry],
            dry_job if request.dry_run else partial(sweep_job, log_options=request.log),
            project=Path.cwd(),
            ledger=ledgers,
            config_file=common.config_file,
            config_dirs=request.config_dirs,
        )
    if not request.multirun or request.cfg or request.info:
        return
    if request.dry_run:
        tell_dry(common.screen, jobs)
    else:
        tell_sweep(common.screen, jobs, ledgers.made[0].folder)


def go_on(common: Common, again: Again, request: Mapping[str, Any], log_options: LogOptions) -> None:
    """Run what a stored sweep lacks; exit with the code that all its jobs come to. `request` is what it was asked."""
    config_file = request.get("config_file")
    jobs = run_hydra(
        request["argv"],
        partial(sweep_job, log_options=log_options),
        project=Path.cwd(),
        ledger=_Ledgers(log_options=log_options),
        config_name=request["config_name"],
        config_file=None if config_file is None else Path(config_file),
        config_dirs=[Path(one) for one in request["config_dirs"]],
        again=again,
    )
    tell_sweep(common.screen, jobs, again.folder)


def sweep_job(composed: Composed, *, log_options: LogOptions) -> dict[str, Any]:
    """Run one job of a sweep and say what came of it; one that was stopped goes on in its own run."""
    job = composed.sweep
    screen = _screen(log_options)
    with _stored(composed) as stored:
        prepared = prepare(composed)
        for warning in prepared.warnings:
            log.warning("%s", warning)

        def opened(run: Any) -> None:
            if job is not None:
                digest = content_hash(composed.values)
                note_run(
                    job,
                    run.folder,
                    run.manifest["run_id"],
                    planned=len(prepared.trials),
                    config_digest=digest,
                )

        outcome = carry_out(
            screen,
            prepared,
            stored=stored,
            log_options=replace(log_options, title=_title(job)),
            command=["eval", *composed.overrides],
            opened=opened,
        )
    manifest = read_manifest(outcome.folder)
    is_stopped = outcome.exit_code is ExitCode.INTERRUPTED
    ended = "interrupted" if is_stopped else "failed" if is_unfinished(manifest) else "done"
    return {
        "sweep_id": job.sweep_id if job else None,
        "verdict_state": outcome.report.verdict.state.value,
        "sweep_state": ended,
        "trials": {"planned": manifest["n_planned"], "done": n_done(manifest["counts"])},
        **outcome.facts(),
    }


def _screen(log_options: LogOptions) -> Screen:
    """Give the screen of a job; in a process that a launcher started, others write to it, and nobody set up the log."""
    if log_options.pid == os.getpid():
        return Screen()
    screen = Screen(shared=True)
    if not logging.getLogger("skilleval").handlers:
        screen.configure_logging()
        configure_logging(log_options)
    return screen


@contextmanager
def _stored(composed: Composed) -> Iterator[StoredRun | None]:
    """Give the run of a job that was stopped, ours until the end; null where it starts anew."""
    stored = None if composed.sweep is None else run_of_job(composed.sweep)
    if stored is None or stored.lock is None:
        yield None
        return
    with stored.lock:
        refuse_changed(composed, stored)
        yield stored


def _title(job: SweepJob | None) -> str:
    """Say which job is running, e.g. `[3/8] scorer=contains`."""
    if job is None:
        return "job"
    place = f"{job.job_num + 1}/{job.n_jobs}" if job.n_jobs else f"{job.job_num + 1}"
    return f"[{place}] {' '.join(job.swept)}".rstrip()


def dry_job(composed: Composed) -> dict[str, Any]:
    """Check one job of a sweep without running it."""
    facts = prepare(composed, builds=False).facts()
    count = "1 trial" if facts["n_trials"] == 1 else f"{facts['n_trials']:,} trials"
    return {"exit_code": 0, "dry_run": True, "verdict": f"{count}, all valid", **facts}
