"""The books of a sweep in its folder: what is planned, which jobs are left, and how each one ended."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from skilleval.app.sweep_jobs import SHOWN, absolute, differences
from skilleval.app.sweep_status import sweep_exit_code
from skilleval.config.compose import SEARCH, Grid, Outcome, SweepJob, SweepPlan, key_of
from skilleval.errors import ConfigError, UsageError, WriteError
from skilleval.outcome import ExitCode
from skilleval.provenance import versions
from skilleval.results.locks import LOCK, RunLock
from skilleval.results.sweeps import (
    DONE,
    FAILED,
    INTERRUPTED,
    PENDING,
    REFUSED,
    RUNNING,
    STOPPED,
    SWEEP,
    Sweep,
    change_sweep,
    is_lost,
    job_key,
    job_path,
    now,
    read_job,
    read_sweep,
    write_job,
    write_sweep,
)

_KEPT: Final = ("run_id", "run_dir", "trials", "config_digest")
"""What a job that is run again keeps of its earlier start: it goes on in its own run."""
_RAN: Final = (ExitCode.OK, ExitCode.GATE_NOT_MET, ExitCode.NOTHING_EVALUATED)
_MULTIRUN: Final = "multirun.yaml"
"""What Hydra's own sweeper writes into the folder of a sweep."""
_UNWRITTEN: Final = frozenset({"run_dir", "sweep_state", "is_refused"})
_STOPPED: Final = {
    "state": INTERRUPTED,
    "exit_code": int(ExitCode.INTERRUPTED),
    "error": "the job was stopped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLedger:
    """Keeps the books of one sweep in its folder. `command` is the command line that began it."""

    folder: Path
    command: tuple[str, ...] = ()

    @contextmanager
    def opened(self, plan: SweepPlan) -> Iterator[None]:
        """Keep others from running the same sweep until its end, and note how it ended.

        Raises:
            ResultsError: another process runs it, or it cannot be read.
            WriteError: its folder cannot be written.
            UsageError: the settings of all jobs are other ones than when it began.
        """
        _make(self.folder)
        with RunLock(self.folder, may_go_on=True):
            is_new = not (self.folder / SWEEP).is_file()
            if not is_new:
                _check_settings(read_sweep(self.folder), plan)
                change_sweep(
                    self.folder, ended_at=None, exit_code=None, launcher=plan.launcher, resumed_at=now()
                )
            else:
                # Not sent before it is planned: an object store keeps for good what it was given.
                write_sweep(self.folder, self._first(plan), sends=False)
            is_refused = False
            try:
                yield
            except (ConfigError, UsageError):
                is_refused = is_new
                raise
            finally:
                self._close(is_refused=is_refused)

    def _close(self, *, is_refused: bool) -> None:
        """Note how the sweep ended; one that was refused before it had a job leaves nothing behind."""
        sweep = read_sweep(self.folder)
        has_begun = any(job.state != PENDING for job in sweep.jobs)
        if has_begun or (sweep.is_planned and not is_refused):
            change_sweep(self.folder, ended_at=now(), exit_code=int(sweep_exit_code(sweep)))
            return
        for name in (SWEEP, LOCK, SEARCH, _MULTIRUN):
            (self.folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # a folder that somebody named may hold other things
            self.folder.rmdir()

    def _first(self, plan: SweepPlan) -> dict[str, Any]:
        return {
            "sweep_id": plan.sweep_id,
            "experiment": plan.experiment,
            "command": list(self.command),
            "folder": str(Path.cwd()),
            "overrides": [],
            "grid": {},
            "sweeper": plan.sweeper,
            "launcher": plan.launcher,
            "is_planned": False,
            "jobs": [],
            "versions": versions(),
            "started_at": now(),
            "resumed_at": None,
            "ended_at": None,
            "exit_code": None,
            "request": dict(plan.request),
            "config": dict(plan.config),
        }

    def plan(self, grid: Grid) -> None:
        """Write down what is swept, unless that was done before."""
        sweep = read_sweep(self.folder)
        if sweep.grid or sweep.is_planned:
            return
        jobs = [
            {
                "job": number,
                "key": job_key([text for text in job.overrides if key_of(text) in grid.values]),
                "overrides": list(job.overrides),
                "settings": dict(job.settings),
            }
            for number, job in enumerate(grid.jobs or ())
        ]
        change_sweep(
            self.folder,
            overrides=list(grid.overrides),
            grid={key: list(values) for key, values in grid.values.items()},
            is_planned=grid.jobs is not None,
            jobs=jobs,
        )

    def left(self, grid: Grid | None = None) -> tuple[tuple[str, ...], ...]:
        """Give the overrides of each planned job that is not done and that nobody is running.

        Of a sweep that is not planned yet these are all jobs of the grid.
        """
        sweep = read_sweep(self.folder)
        if grid is not None and not sweep.is_planned:
            return tuple(job.overrides for job in grid.jobs or ())
        jobs = sweep.jobs
        # A job without a run that says it runs is one of a former session: this one has the lock.
        return tuple(
            job.overrides
            for job in jobs
            if job.state != DONE and not (job.state == RUNNING and job.run_dir is not None)
        )

    def place(self, overrides: Sequence[str], number: int) -> SweepJob:
        """Find the job that has these overrides; where none is planned, it has this number."""
        plan = _plan(self.folder, (self.folder / SWEEP).stat().st_mtime_ns)
        # A sweeper of somebody else does not say what it sweeps: all overrides together name the job.
        is_told = plan.keys or plan.numbers
        swept = tuple(text for text in overrides if key_of(text) in plan.keys or not is_told)
        key = job_key(swept)
        return SweepJob(
            sweep_id=plan.sweep_id,
            sweep_dir=self.folder,
            job_num=plan.numbers.get(key, number),
            key=key,
            swept=swept,
            n_jobs=len(plan.numbers) or None,
        )

    def done(self, job: SweepJob) -> Outcome | None:
        """Give how a job ended that is done; null where it is still to be run."""
        said = read_job(self.folder, job.key)
        is_done = said is not None and said["state"] == DONE and not is_lost(self.folder, said)
        return _outcome(job_path(self.folder, job.key)) if is_done else None

    def begin(self, job: SweepJob, overrides: Sequence[str]) -> None:
        """Note that a job starts; one that was started before goes on in its own run."""
        before = read_job(self.folder, job.key) or {}
        goes_on = _is_there(self.folder, before)
        plan = _plan(self.folder, (self.folder / SWEEP).stat().st_mtime_ns)
        write_job(
            self.folder,
            job.key,
            {
                "job": job.job_num,
                "overrides": list(overrides),
                "settings": plan.settings.get(job.key) or dict(_setting(text) for text in job.swept),
                "state": RUNNING,
                "exit_code": None,
                "error": None,
                "started_at": now(),
                "ended_at": None,
                "verdict": None,
                "earlier": [*before.get("earlier", ()), _session(before)] if goes_on else [],
                **{name: before[name] for name in _KEPT if name in before and goes_on},
            },
        )

    def end(self, job: SweepJob, outcome: Mapping[str, Any]) -> None:
        """Note how a job ended, with all that it came to."""
        before = read_job(self.folder, job.key) or {}
        said = {name: value for name, value in outcome.items() if name not in _UNWRITTEN}
        write_job(
            self.folder,
            job.key,
            {
                **before,
                **said,
                "overrides": before.get("overrides", said.get("overrides", [])),
                "state": state_of(outcome),
                "ended_at": now(),
            },
        )

    def stop(self) -> None:
        """Note that the user stopped the sweep: a job whose process was ended with it could not say so itself."""
        sweep = read_sweep(self.folder)
        since = sweep.resumed_at or sweep.started_at or ""
        for job in sweep.jobs:
            said = read_job(self.folder, job.key)
            # Where a job without a run lives on, e.g. on another machine, `note_run` says so.
            is_gone = job.state == STOPPED or (job.state == RUNNING and job.run_dir is None)
            if said is not None and is_gone and (job.started_at or "") >= since:
                write_job(self.folder, job.key, {**said, **_STOPPED, "ended_at": now()})

    def finished(self) -> tuple[Outcome, ...]:
        """Give how those jobs ended that are not to be run again."""
        return tuple(one for one in self.outcomes() if one["state"] == DONE and not is_lost(self.folder, one))

    def outcomes(self) -> tuple[Outcome, ...]:
        """Give how each job ended that was started, in the order of their numbers."""
        found = [_outcome(path) for path in (self.folder / "jobs").glob("[!.]*.json")]
        return tuple(sorted(found, key=lambda one: (int(one["job"]), str(one["key"]))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What jobs need of the plan: which keys are swept, and the number and settings of each key."""

    sweep_id: str
    keys: frozenset[str]
    numbers: Mapping[str, int]
    settings: Mapping[str, Mapping[str, str]]


@functools.lru_cache(maxsize=4)
def _plan(folder: Path, _written_at: int) -> _Plan:
    """Read the plan once a process, and again when it changed: a sweep may have thousands of jobs."""
    said = json.loads((folder / SWEEP).read_text(encoding="utf-8"))
    return _Plan(
        sweep_id=said["sweep_id"],
        keys=frozenset(said["grid"]),
        numbers={one["key"]: one["job"] for one in said["jobs"]},
        settings={one["key"]: one["settings"] for one in said["jobs"]},
    )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make {folder}: {error.strerror}"
        raise WriteError(msg, hint="name a folder that can be written: --output-dir DIR") from None


def state_of(outcome: Mapping[str, Any]) -> str:
    """Say in which state a job is that ended like this."""
    if outcome.get("sweep_state"):
        return str(outcome["sweep_state"])
    if outcome.get("is_refused"):
        return REFUSED
    code = int(outcome["exit_code"])
    return DONE if code in _RAN else INTERRUPTED if code == ExitCode.INTERRUPTED else FAILED


def _session(said: Mapping[str, Any]) -> dict[str, str | None]:
    return {"started_at": said["started_at"], "ended_at": said["ended_at"]}


def _setting(override: str) -> tuple[str, str]:
    return key_of(override), override.partition("=")[2]


def _is_there(folder: Path, before: Mapping[str, Any]) -> bool:
    place = absolute(folder, before.get("run_dir"))
    return place is not None and place.is_dir()


def _outcome(path: Path) -> Outcome:
    said = json.loads(path.read_text(encoding="utf-8"))
    code = ExitCode.INFRASTRUCTURE if said["exit_code"] is None else said["exit_code"]
    never = "the job never ended" if said["state"] == RUNNING else said.get("error")
    place = absolute(path.parent.parent, said.get("run_dir"))
    run_dir = {} if place is None else {"run_dir": str(Path(place).resolve())}
    return {**said, **run_dir, "exit_code": int(code), "error": never}


def _check_settings(sweep: Sweep, plan: SweepPlan) -> None:
    """Refuse to go on with settings that would make the jobs that are left other ones than those that are done.

    Raises:
        UsageError: names the keys that differ.
    """
    problems = tuple(differences(sweep.config, json.loads(json.dumps(plan.config))))
    if problems:
        msg = f"{sweep.folder} cannot be gone on with: its jobs would be composed differently now"
        hint = "undo the change in the settings files or in conf/, or start a new sweep"
        raise UsageError(msg, problems=problems[:SHOWN], hint=hint)
