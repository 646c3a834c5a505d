"""The run of a job: noted as soon as it is there, found again by who goes on with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any, Final

from skilleval.app.analyse import last_end
from skilleval.app.resume import StoredRun, find_stored
from skilleval.config.compose import Composed, SweepJob
from skilleval.config.trees import leaves
from skilleval.errors import Problem, UsageError
from skilleval.results.store import MANIFEST
from skilleval.results.sweeps import RUNNING, read_job, write_job

SHOWN: Final = 10
"""How many settings that differ are named."""

_GOING_ON: Final = {"state": RUNNING, "exit_code": None, "error": None, "ended_at": None}


def absolute(folder: Path, run_dir: str | None) -> Path | None:
    """Say where the run of a job is, from the folder of its sweep."""
    return None if run_dir is None else folder / run_dir


def note_run(job: SweepJob, folder: Path, run_id: str, *, planned: int, config_digest: str) -> None:
    """Note in which run a job is, as soon as there is one: a job that is killed goes on there."""
    before = read_job(job.sweep_dir, job.key) or {}
    said = {"run_id": run_id, "run_dir": folder.resolve(), "config_digest": config_digest}
    trials = {"planned": planned, "done": None}
    earlier = [_closed(one, folder) for one in before.get("earlier", ())]
    write_job(job.sweep_dir, job.key, {**before, **said, **_GOING_ON, "trials": trials, "earlier": earlier})


def _closed(session: Mapping[str, str | None], folder: Path) -> dict[str, str | None]:
    """Give a session its end: one that was killed lasted until its last finished trial, as far as anybody knows."""
    began, ended = session["started_at"], session["ended_at"]
    if ended is None:
        last = last_end(folder)
        told = "" if last is None else last.astimezone(UTC).isoformat(timespec="milliseconds")
        ended = max(began or "", told) or None
    return {"started_at": began, "ended_at": ended}


def run_of_job(job: SweepJob) -> StoredRun | None:
    """Give the run that a job goes on with, ours until it is released; null where it has none, or lost it.

    Raises:
        ResultsError: another process writes it.
    """
    said = read_job(job.sweep_dir, job.key) or {}
    place = absolute(job.sweep_dir, said.get("run_dir"))
    if place is None or not (place / MANIFEST).is_file():
        return None
    return find_stored(str(place.resolve()), place.parent, to_write=True)


def refuse_changed(composed: Composed, stored: StoredRun) -> None:
    """Refuse to go on with a job whose settings are composed differently now, e.g. by a changed option of a group.

    Raises:
        UsageError: names the keys that differ.
    """
    now_values = json.loads(json.dumps(dict(composed.values)))
    problems = tuple(differences(stored.manifest["config"], now_values))
    if problems:
        msg = f"{stored.folder} cannot be gone on with: its settings are composed differently now"
        hint = "undo the change in the settings files or in conf/, or start a new sweep"
        raise UsageError(msg, problems=problems[:SHOWN], hint=hint)


def differences(before: Mapping[str, Any], now_values: Mapping[str, Any]) -> Iterator[Problem]:
    """Name the settings that differ."""
    was, has = dict(leaves(before)), dict(leaves(now_values))
    for key in sorted({*was, *has}):
        if was.get(key) != has.get(key):
            expected = f"{was.get(key)}, as it was"
            yield Problem(where="config", key=key, expected=expected, found=str(has.get(key)))
