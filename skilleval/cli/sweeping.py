"""Running sweeps: Hydra's launchers run the jobs; here is what a job does and how the end of a sweep is told.

The jobs are top-level functions, so that a launcher can send them to other processes.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from skilleval.app.prepare import prepare
from skilleval.app.resume import StoredRun, is_unfinished
from skilleval.app.sweeps import StoredLedger, note_run, refuse_changed, run_of_job
from skilleval.cli.arguments import Common
from skilleval.cli.console import Screen
from skilleval.cli.listing import show_rows
from skilleval.cli.request import Request
from skilleval.cli.running import carry_out
from skilleval.cli.watching import LogOptions, configure_logging
from skilleval.config.compose import Again, Composed, Grid, Outcome, SweepJob, quote, run_hydra
from skilleval.domain.hashes import content_hash
from skilleval.outcome import ExitCode, first_of
from skilleval.results.places import local_place
from skilleval.results.store import read_manifest

log = logging.getLogger(__name__)

_COMPARED = ("skill_id", "skill_version", "scorer", "completion_rate", "ci_low", "ci_high", "n_graded")
_SHOWN_VALUES = 12
_HEADINGS = ("job", "overrides", "skill", "scorer", "completion", "graded", "verdict", "exit")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncedLedger(StoredLedger):
    """Keeps the books of a sweep, and says what is swept before the first job: a pasted text may hold commas."""

    shows_progress: bool = True

    def plan(self, grid: Grid) -> None:
        """Write down what is swept, and say it."""
        StoredLedger.plan(self, grid)
        if self.shows_progress:
            click.echo(f"sweeping {_swept(grid)}", err=True)


def _swept(grid: Grid) -> str:
    """Say what is swept, e.g. `6 jobs: scorer=exact|contains × runner.seed=0|1|2`."""
    shown = [f"{key}={_some(values)}" for key, values in grid.values.items()]
    count = "" if grid.jobs is None else _counted(len(grid.jobs))
    return ": ".join(part for part in (count, " × ".join(shown)) if part)


def _counted(n_jobs: int) -> str:
    return "1 job" if n_jobs == 1 else f"{n_jobs:,} jobs"


def _some(values: Sequence[str]) -> str:
    shown = "|".join(values[:_SHOWN_VALUES])
    return f"{shown}|… ({len(values)})" if len(values) > _SHOWN_VALUES else shown


@dataclass(slots=True)
class _Ledgers:
    """Makes the books of a sweep, and knows which ones it made."""

    command: tuple[str, ...] = ()
    shows_progress: bool = True
    made: list[StoredLedger] = field(default_factory=list)

    def __call__(self, folder: Path) -> StoredLedger:
        ledger = AnnouncedLedger(
            folder=local_place(folder), command=self.command, shows_progress=self.shows_progress
        )
        self.made.append(ledger)
        return ledger


def hand_to_hydra(common: Common, request: Request) -> None:
    """Let Hydra run a sweep, or print what it composed; exit with the code that all jobs come to."""
    flags = [flag for flag, given in (("--multirun", request.multirun), ("--info", request.info)) if given]
    flags += ["--cfg", request.cfg] if request.cfg else []
    ledgers = _Ledgers(command=tuple(sys.argv[1:]), shows_progress=request.log.shows_progress)
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
        _tell_dry(common.screen, jobs)
    else:
        tell_sweep(common.screen, jobs, ledgers.made[0].folder)


def go_on(common: Common, again: Again, request: Mapping[str, Any], log_options: LogOptions) -> None:
    """Run what a stored sweep lacks; exit with the code that all its jobs come to. `request` is what it was asked."""
    config_file = request.get("config_file")
    jobs = run_hydra(
        request["argv"],
        partial(sweep_job, log_options=log_options),
        project=Path.cwd(),
        ledger=_Ledgers(shows_progress=log_options.shows_progress),
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
    n_trials = sum(outcome.statuses.values())
    return {
        "sweep_id": job.sweep_id if job else None,
        "verdict_state": outcome.report.verdict.state.value,
        "sweep_state": ended,
        "trials": {"planned": manifest["n_planned"], "done": n_trials},
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
    return {"exit_code": 0, "dry_run": True, "verdict": f"{facts['n_trials']} trials, all valid", **facts}


def _tell_dry(screen: Screen, jobs: Sequence[Outcome]) -> None:
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
        f"{_counted(len(jobs))}, {n_trials:,} trials in all, at most {longest_s:,.0f} s one job after the other; "
        "nothing was run and nothing was written"
    )
    click.get_current_context().exit(int(code))


def tell_sweep(screen: Screen, jobs: Sequence[Outcome], folder: Path) -> None:
    """Tell how each job ended and what all of them came to; exit with the code of all."""
    code = first_of(job["exit_code"] for job in jobs)
    sweep_id = next((str(job["sweep_id"]) for job in jobs if job.get("sweep_id")), folder.name)
    rows = [row for job in jobs for row in _rows(job)]
    screen.document(
        {
            "exit_code": int(code),
            "sweep_id": sweep_id,
            "sweep_dir": str(folder),
            "comparison": rows,
            "runs": list(jobs),
        }
    )
    for job in jobs:
        screen.say(_job_line(job))
    _compare(screen, sweep_id, rows)
    if any(job.get("state") != "done" for job in jobs):
        screen.say("")
        screen.say(f"next: skilleval sweep resume {folder}")
    click.get_current_context().exit(int(code))


def _job_line(job: Mapping[str, Any]) -> str:
    ending = job.get("error") or f"{job['verdict']} {job.get('run_dir', '')}"
    state = f"{job['verdict_state'].upper()} " if job.get("verdict_state") else ""
    return f"[{job['job']}] {_overrides(job)}\n    exit {job['exit_code']}: {state}{ending}"


def _overrides(job: Mapping[str, Any]) -> str:
    return " ".join(job["overrides"]) or "no overrides"


def _rows(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give a row for each result of a job; one for a job without any."""
    about = {"job": job["job"], "overrides": job["overrides"], "exit_code": job["exit_code"]}
    state = job.get("verdict_state")
    results = [{key: row.get(key) for key in _COMPARED} for row in job.get("summary", ())]
    return [{**about, "state": state, **result} for result in results or [dict.fromkeys(_COMPARED)]]


def _compare(screen: Screen, sweep_id: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Show all results of the sweep in one table, with the overrides that tell its jobs apart."""
    shared = set.intersection(*(set(row["overrides"]) for row in rows)) if rows else set()
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
