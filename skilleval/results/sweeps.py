"""Sweeps on disk: `sweep.json` says what was planned, `jobs/<key>.json` how each job ended.

The plan is written once, before the first job; each job's file is written by the process that runs the job, by
renaming, so that jobs on several machines never write the same file. Runs stay beside the folder of their sweep.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skilleval.domain.hashes import content_hash
from skilleval.errors import ResultsError
from skilleval.results.documents import DocumentKind
from skilleval.results.find import LATEST
from skilleval.results.locks import is_locked
from skilleval.results.places import address_of, fetch_sweeps, local_place, send_file, shown_place
from skilleval.results.store import MANIFEST, is_live, write_text

SWEEP = "sweep.json"
SCHEMA = "skilleval.sweep/1"
PENDING, RUNNING, DONE = "pending", "running", "done"
FAILED, REFUSED, INTERRUPTED, STOPPED, LOST = "failed", "refused", "interrupted", "stopped", "lost"
STATES = (DONE, RUNNING, FAILED, REFUSED, INTERRUPTED, STOPPED, LOST, PENDING)
"""`refused` is a job whose own settings cannot be used, so that it fails again however often it is run. `stopped` is
one that says it is running although nobody runs it: its process was killed. `lost` is one that says it is done although
its run is not there any more."""

_FOLDER = "jobs"
_PLAN = DocumentKind(name=SWEEP, noun="plan", of="sweep", needed=("schema", "sweep_id", "jobs"))
_KEY_LENGTH = 12
_REMOVE = "remove it: its job then counts as not started"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepJob:
    """One job of a sweep: what was asked of it, and how far it came.

    `settings` are the swept keys with the values of this job. `n_planned` and `n_trials` are null until they are
    known. `config_digest` hashes the settings that the job ran with. `started_at` and `ended_at` are those of its last
    session, `earlier` those of the sessions before it that worked on the same run.
    """

    job: int
    key: str
    overrides: tuple[str, ...]
    settings: Mapping[str, str]
    state: str = PENDING
    exit_code: int | None = None
    error: str | None = None
    run_id: str | None = None
    run_dir: Path | None = None
    started_at: str | None = None
    ended_at: str | None = None
    verdict: str | None = None
    n_planned: int | None = None
    n_trials: int | None = None
    config_digest: str | None = None
    earlier: tuple[tuple[str, str | None], ...] = ()

    @property
    def duration_ms(self) -> float | None:
        """How long all its sessions took together; null while it runs, and where the end of one is not known."""
        sessions = [*self.earlier, (self.started_at, self.ended_at)]
        known = [
            _ms_between(began, ended) for began, ended in sessions if began is not None and ended is not None
        ]
        return sum(known) if len(known) == len(sessions) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One sweep as it stands in its folder.

    `started_in` is the working directory it was started in, where its relative paths begin. `overrides` are those
    that all jobs share, `grid` the values of each swept key. Jobs of a sweep that is not planned are those that were
    started. `request` and `config` are what going on with it needs. `resumed_at` is when it was last gone on with.
    """

    folder: Path
    sweep_id: str
    experiment: str
    command: tuple[str, ...]
    started_in: Path
    overrides: tuple[str, ...]
    grid: Mapping[str, Sequence[str]]
    sweeper: str
    launcher: str
    is_planned: bool
    jobs: tuple[SweepJob, ...]
    started_at: str | None = None
    resumed_at: str | None = None
    ended_at: str | None = None
    exit_code: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)

    def count(self) -> dict[str, int]:
        """Count the jobs in each state, those that occur."""
        counts = {state: sum(job.state == state for job in self.jobs) for state in STATES}
        return {state: n for state, n in counts.items() if n}


def job_key(swept: Sequence[str]) -> str:
    """Give the key of a job: a hash of the overrides that make it this job, in any order."""
    return content_hash(sorted(swept))[:_KEY_LENGTH]


def job_path(folder: Path, key: str) -> Path:
    """Say where the file of a job is."""
    return folder / _FOLDER / f"{key}.json"


def read_sweep(folder: Path) -> Sweep:
    """Read a sweep with the state of each job, in the order of their numbers.

    Raises:
        ResultsError: it is no sweep, or cannot be read.
    """
    plan = _read_plan(folder)
    ends = _read_jobs(folder)
    planned = {one["key"]: one for one in plan["jobs"]}
    is_held = is_locked(folder)
    try:
        jobs = [_job(folder, {**planned.get(key, {}), **ends.get(key, {})}, is_held=is_held)
                for key in dict.fromkeys([*planned, *ends])]  # fmt: skip
        return Sweep(
            folder=folder,
            sweep_id=str(plan["sweep_id"]),
            experiment=str(plan.get("experiment", "")),
            command=tuple(plan.get("command", ())),
            started_in=Path(plan.get("folder", ".")),
            overrides=tuple(plan.get("overrides", ())),
            grid=plan.get("grid", {}),
            sweeper=str(plan.get("sweeper", "")),
            launcher=str(plan.get("launcher", "")),
            is_planned=bool(plan.get("is_planned", False)),
            jobs=tuple(sorted(jobs, key=lambda job: (job.job, job.key))),
            started_at=plan.get("started_at"),
            resumed_at=plan.get("resumed_at"),
            ended_at=plan.get("ended_at"),
            exit_code=plan.get("exit_code"),
            versions=plan.get("versions", {}),
            request=plan.get("request", {}),
            config=plan.get("config", {}),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"{folder} is no sweep that can be read: {type(error).__name__}: {error}"
        raise ResultsError(msg) from None


def _read_plan(folder: Path) -> dict[str, Any]:
    plan = _PLAN.read(folder)
    if plan["schema"] != SCHEMA:
        msg = f"{folder / SWEEP} is written as {plan['schema']}; this skilleval reads {SCHEMA}"
        raise ResultsError(msg, hint="read the sweep with the skilleval that wrote it, or a newer one")
    return plan


def _read_jobs(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Give what the jobs' own files say, by key."""
    found: dict[str, Mapping[str, Any]] = {}
    for path in (folder / _FOLDER).glob("[!.]*.json"):
        found[path.stem] = _read_job(path)
    return found


def _read_job(path: Path) -> dict[str, Any]:
    """Read the file of a job, which says at least which job it is and how far.

    Raises:
        ResultsError: it cannot be read, or is the file of no job.
    """
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path} cannot be read: {error}", hint=_REMOVE) from None
    if not isinstance(said, dict) or not isinstance(said.get("job"), int) or "state" not in said:
        raise ResultsError(f"{path} does not describe a job", hint=_REMOVE)
    return said


def _job(folder: Path, said: Mapping[str, Any], *, is_held: bool) -> SweepJob:
    run_dir = None if said.get("run_dir") is None else Path(os.path.normpath(folder / said["run_dir"]))
    state = str(said.get("state", PENDING))
    if state == RUNNING and not (is_held if run_dir is None else is_live(run_dir)):
        state = STOPPED
    if is_lost(folder, said):
        gone = {"exit_code": None, "verdict": None, "trials": None, "error": f"its run is gone: {run_dir}"}
        state, said = LOST, {**said, **gone}
    trials = said.get("trials") or {}
    return SweepJob(
        job=int(said["job"]),
        key=str(said["key"]),
        overrides=tuple(said.get("overrides", ())),
        settings=said.get("settings") or {},
        state=state,
        exit_code=said.get("exit_code"),
        error=said.get("error"),
        run_id=said.get("run_id"),
        run_dir=run_dir,
        started_at=said.get("started_at"),
        ended_at=said.get("ended_at"),
        verdict=said.get("verdict"),
        n_planned=trials.get("planned"),
        n_trials=trials.get("done"),
        config_digest=said.get("config_digest"),
        earlier=tuple((one["started_at"], one["ended_at"]) for one in said.get("earlier", ())),
    )


def _ms_between(began: str, ended: str) -> float:
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds() * 1000


def is_lost(folder: Path, said: Mapping[str, Any]) -> bool:
    """Say whether a job is done by its file, but its run is gone; runs on an object store are fetched when read."""
    if said.get("state") != DONE or said.get("run_dir") is None or address_of(folder) is not None:
        return False
    return not (folder / said["run_dir"] / MANIFEST).is_file()


def sweeps(root: Path) -> tuple[Path, ...]:
    """Give the folders of all sweeps below a root (itself, or up to two levels down), oldest first.

    Of sweeps on an object store the plans and the files of jobs are fetched, and their folders are those of the spool.
    """
    root = local_place(root)
    fetch_sweeps(root)
    found = {path.parent for pattern in ("", "*/", "*/*/") for path in root.glob(f"{pattern}{SWEEP}")}
    seconds = [folder.name.partition("-")[0] for folder in found]
    return tuple(sorted(found, key=lambda folder: _age(folder, seconds)))


def _age(folder: Path, seconds: Sequence[str]) -> tuple[str, str, str]:
    """Order by the second in the id; where several sweeps share it, by the start that they tell."""
    second = folder.name.partition("-")[0]
    started = str(_read_plan(folder).get("started_at")) if seconds.count(second) > 1 else ""
    return second, started, folder.name


def find_sweep(reference: str, root: Path) -> Path:
    """Find one sweep by its folder, its id, the start or end of it, or as `latest`.

    Raises:
        ResultsError: nothing fits, or more than one sweep does.
    """
    as_path = local_place(reference)
    fetch_sweeps(as_path)
    if (as_path / SWEEP).is_file():
        return as_path
    stored, root = sweeps(root), local_place(root)
    if not stored:
        msg = f"no sweep is stored below {shown_place(root)}"
        raise ResultsError(msg, hint="run `skilleval eval -m …`, or name the folder with --store")
    if reference == LATEST:
        return stored[-1]
    fitting = [
        folder for folder in stored if folder.name.startswith(reference) or folder.name.endswith(reference)
    ]
    if len(fitting) != 1:
        said = "no sweep" if not fitting else f"{len(fitting)} sweeps"
        ids = ", ".join(folder.name for folder in reversed((fitting or stored)[-5:]))
        msg = f"{said} below {shown_place(root)} fit{'s' if not fitting else ''} {reference!r}"
        raise ResultsError(msg, hint=f"newest: {ids}")
    return fitting[0]


def write_sweep(folder: Path, plan: Mapping[str, Any], *, sends: bool = True) -> None:
    """Write what a sweep plans; unless it `sends`, an object store does not hear of it yet.

    Raises:
        WriteError: it cannot be written.
    """
    write_text(folder / SWEEP, _text({"schema": SCHEMA, **plan}))
    if sends:
        send_file(folder / SWEEP)


def change_sweep(folder: Path, **changes: Any) -> None:
    """Change facts about a whole sweep, e.g. `ended_at` and `exit_code`.

    Raises:
        ResultsError: it cannot be read or written.
    """
    write_sweep(folder, {**_read_plan(folder), **changes})


def write_job(folder: Path, key: str, said: Mapping[str, Any]) -> None:
    """Write how far a job is; an absolute `run_dir` in it is kept relative to the sweep.

    Raises:
        WriteError: it cannot be written.
    """
    run_dir = said.get("run_dir")
    place = {}
    if run_dir is not None and Path(run_dir).is_absolute():
        place["run_dir"] = os.path.relpath(str(run_dir), str(folder))
    path = job_path(folder, key)
    write_text(path, _text({**said, **place, "key": key}))
    send_file(path)


def read_job(folder: Path, key: str) -> Mapping[str, Any] | None:
    """Give what a job's own file says; null before it was started.

    Raises:
        ResultsError: it cannot be read.
    """
    try:
        return _read_job(job_path(folder, key))
    except FileNotFoundError:
        return None


def now() -> str:
    """Give the moment as it stands in a sweep's files (UTC)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
