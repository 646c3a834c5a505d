"""How far a stored sweep is: its jobs, what they came to, and what to do next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from skilleval.errors import ResultsError
from skilleval.outcome import ExitCode, first_of
from skilleval.results.locks import is_locked
from skilleval.results.places import shown_place
from skilleval.results.store import MANIFEST, read_manifest
from skilleval.results.sweeps import DONE, FAILED, REFUSED, RUNNING, Sweep, SweepJob, read_sweep

_SHARD = "plan.shard"
_NAMED = 3


def sweep_status(folder: Path) -> dict[str, Any]:
    """Tell how far a sweep is, as JSON values: one entry a job, and all of them together.

    Raises:
        ResultsError: it is no sweep, or cannot be read.
    """
    sweep = read_sweep(folder)
    jobs = [_job(one) for one in sweep.jobs]
    is_live = is_locked(folder) or any(job.state == RUNNING for job in sweep.jobs)
    return {
        "sweep_id": sweep.sweep_id,
        "sweep_dir": str(sweep.folder),
        "experiment": sweep.experiment,
        "started_in": str(sweep.started_in),
        "started_at": sweep.started_at,
        "ended_at": sweep.ended_at,
        "is_running": is_live,
        "is_planned": sweep.is_planned,
        "sweeper": sweep.sweeper,
        "launcher": sweep.launcher,
        "overrides": list(sweep.overrides),
        "grid": {key: list(values) for key, values in sweep.grid.items()},
        "n_jobs": len(jobs),
        "by_state": sweep.count(),
        "trials": _trials(jobs),
        "exit_code": None if is_live else int(sweep_exit_code(sweep)),
        "remark": _remark([job for job in sweep.jobs if _is_final(job)]),
        "next": _next(sweep, is_live=is_live),
        "jobs": jobs,
    }


def _job(job: SweepJob) -> dict[str, Any]:
    n_planned, n_trials = job.n_planned, job.n_trials
    if n_trials is None and job.run_dir is not None:
        n_planned, n_trials = _counted(job.run_dir, n_planned)
    return {
        "job": job.job,
        "key": job.key,
        "state": job.state,
        "settings": dict(job.settings),
        "overrides": list(job.overrides),
        "n_trials": n_trials,
        "n_planned": n_planned,
        "verdict": job.verdict,
        "error": job.error,
        "exit_code": job.exit_code,
        "run_id": job.run_id,
        "run_dir": None if job.run_dir is None else str(job.run_dir),
        "started_at": job.started_at,
        "ended_at": job.ended_at,
        "duration_ms": job.duration_ms,
    }


def _counted(run_dir: Path, n_planned: int | None) -> tuple[int | None, int | None]:
    """Count the trials of a run that has not told its end; null where it cannot be read."""
    from skilleval.results.store import read_statuses, read_waiting

    with suppress(ResultsError):
        if (run_dir / MANIFEST).is_file():
            n_done = len(read_statuses(run_dir)) - len(read_waiting(run_dir))
            return int(read_manifest(run_dir)["n_planned"]), n_done
    return n_planned, None


def _trials(jobs: list[dict[str, Any]]) -> Mapping[str, int | None]:
    """Add the trials up; the plan of a job that was never started is not known, so it is not part of `planned`."""
    counts: Counter[str] = Counter()
    for job in jobs:
        counts["done"] += job["n_trials"] or 0
        counts["planned"] += job["n_planned"] or 0
    return {"done": counts["done"], "planned": counts["planned"]}


def _next(sweep: Sweep, *, is_live: bool) -> str:
    """Say what to do next."""
    place = shlex.quote(shown_place(sweep.folder))
    if is_live:
        return f"it is running; look again with: skilleval sweep status {place}"
    states = {job.state for job in sweep.jobs}
    is_left = any(job.state != DONE and not _is_final(job) for job in sweep.jobs)
    if is_left or not states or sweep.ended_at is None:
        return f"skilleval sweep resume {place}"
    if states == {REFUSED}:
        return f"with other values: {shlex.join(['skilleval', *sweep.command])}"
    if states == {DONE} and _varied(sweep.jobs) == {_SHARD}:
        return _joining(sweep, place)
    return f"skilleval sweep report {place} --format html"


def _varied(jobs: Sequence[SweepJob]) -> set[str]:
    """Name the settings that differ between jobs."""
    values = {(key, value) for job in jobs for key, value in job.settings.items()}
    counts = Counter(key for key, _ in values)
    return {key for key, n in counts.items() if n > 1}


def _joining(sweep: Sweep, place: str) -> str:
    """Say how a sweep over shards becomes one run: a report of it would hold parts of a plan against each other."""
    n_shards = (sweep.config.get("plan") or {}).get("shards")
    if isinstance(n_shards, int) and n_shards > len(sweep.jobs):
        return f"once all {n_shards} shards have run: skilleval merge {place} OTHERS... --format html"
    return f"skilleval merge {place} --format html"


def _is_final(job: SweepJob) -> bool:
    """Say whether going on comes to the same end: settings that cannot be used, or a budget that is spent."""
    return job.state == REFUSED or (job.state == FAILED and job.exit_code == ExitCode.BUDGET_SPENT)


def _remark(final: Sequence[SweepJob]) -> str | None:
    """Say what going on does not mend; null where there is nothing of that kind."""
    if not final:
        return None
    named = "; ".join(_named(job) for job in final[:_NAMED])
    more = f"; and {len(final) - _NAMED} more" if len(final) > _NAMED else ""
    count = "1 job" if len(final) == 1 else f"{len(final)} jobs"
    return (
        f"{count} cannot be completed with the settings given, and going on changes none: "
        f"start a new sweep with other values ({named}{more})"
    )


def _named(job: SweepJob) -> str:
    settings = " ".join(f"{key}={value}" for key, value in job.settings.items())
    return f"job {job.job}: {settings}" if settings else f"job {job.job}"


def sweep_exit_code(sweep: Sweep) -> ExitCode:
    """Give the exit code that the jobs of a sweep come to; one that is not through was interrupted."""
    codes = [ExitCode.INTERRUPTED if job.exit_code is None else job.exit_code for job in sweep.jobs]
    return first_of(codes)
