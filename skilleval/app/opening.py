"""Opening a run to write it: a new folder, or a stored run that is gone on with; locked until it is closed."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from skilleval.app.manifest import first_manifest, resumed_manifest
from skilleval.app.prepare import Prepared
from skilleval.app.resume import Left, StoredRun, check_plan, left_of, plan_digest, unfinished, what_is_left
from skilleval.clock import Clock
from skilleval.provenance import new_run_id
from skilleval.results.locks import RunLock
from skilleval.results.places import local_place
from skilleval.results.store import compact, create_run, remove_stillborn, write_manifest

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run that this process writes: its folder, its manifest so far, what is left to run, and its lock.

    `before` is the manifest as it was found; null for a new run. `remark` is worth saying to the user. `sweep` is the
    folder of the sweep that the run is a job of.
    """

    folder: Path
    manifest: Mapping[str, Any]
    left: Left
    lock: RunLock
    before: Mapping[str, Any] | None = None
    remark: str = ""
    sweep: Path | None = None

    @property
    def ended_at(self) -> datetime | None:
        """When the run had ended before it was opened; null for a new one, and for one that was killed."""
        ended = None if self.before is None else self.before.get("ended_at")
        return None if ended is None else datetime.fromisoformat(ended)

    @property
    def way_on(self) -> str:
        """What to do after this run was stopped."""
        if self.manifest["plan_digest"] is None:
            return f"what is finished is kept in {self.folder}"
        words = ["sweep", "resume", str(self.sweep)] if self.sweep else ["eval", "--resume", str(self.folder)]
        command = shlex.join(["skilleval", *words])
        return f"finished trials are kept; go on with: {command}"

    def more_than(self, setting: str) -> str:
        """What to do after a budget ended this run: a sweep is gone on with as it was planned."""
        if self.sweep is not None and self.manifest["plan_digest"] is not None:
            return f"finished trials are kept; start a new sweep with {setting}=N, with more than that"
        return f"{self.way_on} {setting}=N, with more than that"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.lock.release()


def results_root(prepared: Prepared) -> Path:
    """Give the folder in which runs of these settings are written; that of an object store is in the spool."""
    paths = prepared.settings.paths
    return local_place(paths.store or paths.output_dir)


def open_run(
    prepared: Prepared,
    *,
    command: Sequence[str],
    clock: Clock,
    stored: StoredRun | None = None,
    is_planned: bool = True,
) -> OpenRun:
    """Open a stored run, or the one that `runner.resume` finds, or a new one.

    What is not `planned` takes over attempts that were chosen elsewhere; it cannot be gone on with.

    Raises:
        ResultsError: the run is in use, or cannot be read or written.
        UsageError: the stored run has another plan.
    """
    asked = prepared.settings.runner.resume and is_planned and stored is None
    found = unfinished(prepared, results_root(prepared), to_write=True) if asked else stored
    line = shlex.join(["skilleval", *command])
    if found is not None:
        return _reopened(prepared, found, line, clock)
    remark = "no unfinished run of this plan is there: a new one starts" if asked else ""
    return _new(prepared, line, clock, digest=plan_digest(prepared) if is_planned else None, remark=remark)


def _new(prepared: Prepared, command: str, clock: Clock, *, digest: str | None, remark: str) -> OpenRun:
    run_id = new_run_id(clock.utc())
    root = results_root(prepared)
    for gone in remove_stillborn(root):
        log.info("removed %s: it was made by a process that was killed before it wrote anything", gone)
    folder = create_run(root, run_id)
    lock = RunLock(folder, may_go_on=digest is not None)
    manifest = first_manifest(
        prepared, run_id=run_id, started_at=clock.utc(), command=command, plan_digest=digest
    )
    write_manifest(folder, manifest)
    log.info("run %s: %d trials, rows in %s", run_id, len(prepared.trials), folder)
    left = what_is_left(prepared.trials, {})
    return OpenRun(
        folder=folder, manifest=manifest, left=left, lock=lock, remark=remark, sweep=_sweep_of(prepared)
    )


def _reopened(prepared: Prepared, stored: StoredRun, command: str, clock: Clock) -> OpenRun:
    folder, before = stored.folder, stored.manifest
    lock = stored.lock or RunLock(folder, may_go_on=True)
    with ExitStack() as on_failure:
        on_failure.callback(lock.release)
        check_plan(prepared, stored)
        compact(folder, lock=lock)
        left = left_of(prepared, stored)
        manifest = resumed_manifest(
            prepared, before, left=left.facts(), started_at=clock.utc(), command=command
        )
        write_manifest(folder, manifest)
        on_failure.pop_all()
    remark = f"{folder}: {left}"
    return OpenRun(
        folder=folder,
        manifest=manifest,
        left=left,
        lock=lock,
        before=before,
        remark=remark,
        sweep=_sweep_of(prepared),
    )


def _sweep_of(prepared: Prepared) -> Path | None:
    sweep = prepared.composed.sweep
    return None if sweep is None else sweep.sweep_dir
