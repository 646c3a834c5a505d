"""Joining runs: the shards of one plan, or runs that share all settings, become one run like any other."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from skilleval.app.analyse import loads, trials_by_status
from skilleval.app.evaluate import Outcome, conclude
from skilleval.app.mergeable import (
    Gap,
    check_alike,
    check_overlap,
    check_some,
    gaps,
    planned_in_all,
    refuse_gaps,
)
from skilleval.app.notebooks import NotebookOptions, check_notebooks
from skilleval.app.pushing import check_places
from skilleval.app.spending import judge_errors, not_judged
from skilleval.app.stored import Stored, stored
from skilleval.config.compose import Composed, StoredConfig, compose_stored, quote
from skilleval.errors import Problem, UsageError, WriteError
from skilleval.provenance import git_state, machine, new_run_id, versions
from skilleval.registry import part
from skilleval.report import WRITERS
from skilleval.results.find import LATEST, find_run, runs
from skilleval.results.places import address_of, fetch_run, fetch_sweeps, local_place, shown_place
from skilleval.results.schema import SCHEMA_VERSION
from skilleval.results.store import MANIFEST, check_root, join_tables, read_manifest, write_manifest
from skilleval.results.sweeps import DONE, LOST, SWEEP, find_sweep, read_sweep, sweeps
from skilleval.sharding import is_shard, shard_remark

log = logging.getLogger(__name__)

_CHANGEABLE = ("gate", "report", "analysis")
_OURS = ("plan.", "paths.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """Runs that may be joined. `gaps` says what the joined run is going to lack; `composed` are its settings."""

    runs: tuple[Stored, ...]
    composed: Composed
    gaps: tuple[Gap, ...]

    def facts(self) -> dict[str, Any]:
        """Give what is going to be joined, and where it goes."""
        return {
            "runs": [str(run.folder) for run in self.runs],
            "n_planned": planned_in_all(self.runs),
            "output_dir": self.composed.settings.paths.output_dir,
            "missing": [str(gap.problem) for gap in self.gaps],
        }


def prepare_merging(
    references: Sequence[str],
    overrides: Sequence[str],
    *,
    store: str | Path,
    output_dir: str | Path | None,
    allow_missing: bool,
) -> Merging:
    """Find the runs that are named, and check that they can be joined; nothing is written.

    Raises:
        UsageError: runs overlap, or differ in what they must share.
        ResultsError: one cannot be read, or something is missing and nobody allowed that.
    """
    _refuse_without_effect(overrides)
    folders, absent = _found(references, local_place(store))
    found = tuple(sorted((stored(folder) for folder in folders), key=_order))
    check_some(found, absent)
    check_alike(found)
    check_overlap(found)
    missing = (*absent, *gaps(found))
    if not allow_missing:
        refuse_gaps(missing)
    root = found[0].folder.parent if output_dir is None else local_place(output_dir)
    return Merging(runs=found, composed=_composed(found[0], overrides, root), gaps=missing)


def _order(run: Stored) -> tuple[int, str, str]:
    """Put shards in order, else the older run first: the same rows come out however the runs were named.

    Ids of runs tell the second of their start alone; within one their ends are random.
    """
    shard = int((run.manifest.get("plan") or {}).get("shard", 0))
    return shard, str(run.manifest.get("started_at") or ""), str(run.manifest["run_id"])


def _refuse_without_effect(overrides: Sequence[str]) -> None:
    problems = tuple(
        Problem(
            where="command line", key=override, expected=f"a setting of {', '.join(_CHANGEABLE)}", found=key
        )
        for override in overrides
        if (key := override.partition("=")[0].lstrip("+~").partition(".")[0]) not in _CHANGEABLE
    )
    if problems:
        hint = "no skill is called; run it otherwise with `skilleval eval`"
        raise UsageError("a setting would have no effect on stored rows", problems=problems, hint=hint)


def _found(references: Sequence[str], store: Path) -> tuple[list[Path], list[Gap]]:
    """Find the folders of all runs that are meant, each once, and the jobs of sweeps that have none."""
    folders: dict[Path, Path] = {}
    absent: list[Gap] = []
    for reference in references:
        for place in _places(reference, store, absent):
            folders.setdefault(place.resolve(), find_run(str(place), store))
    return list(folders.values()), absent


def _places(reference: str, store: Path, absent: list[Gap]) -> Iterable[Path]:
    place = local_place(reference)
    if address_of(place) is not None:
        runs(place)  # what is on an object store has to be here before it can be looked at
        fetch_sweeps(place)
    if (place / MANIFEST).is_file():
        return [place]
    if (place / SWEEP).is_file() or _is_sweep(reference, store):
        return _of_sweep(find_sweep(reference, store), absent)
    if place.is_dir() and (inside := runs(place)):
        return _of_folder(place, inside)
    found = find_run(reference, store, with_shards=True)
    sweep = _sweep_around(found) if reference == LATEST else None
    return [found] if sweep is None else _of_sweep(sweep, absent)


def _sweep_around(run: Path) -> Path | None:
    """Give the sweep that a shard is a job of: who joins the latest shard means all of them."""
    manifest = read_manifest(run)
    if not (is_shard(manifest) and manifest.get("sweep_id")):
        return None
    sweep = run.parent / str(manifest["sweep_id"])
    return sweep if (sweep / SWEEP).is_file() else None


def _is_sweep(reference: str, store: Path) -> bool:
    """Say whether a part of an id names a sweep; where it names a run as well, the run is meant."""
    return any(reference in {folder.name, folder.name.rpartition("-")[2]} for folder in sweeps(store))


def _of_sweep(folder: Path, absent: list[Gap]) -> list[Path]:
    """Give the runs of a sweep's jobs; those without a run are a gap, unless the missing shard says so already."""
    sweep = read_sweep(folder)
    places = [job.run_dir for job in sweep.jobs if job.run_dir is not None and job.state != LOST]
    for place in places[:1]:
        fetch_run(place)
    shards = any(is_shard(read_manifest(place)) for place in places[:1])
    for job in sweep.jobs:
        has_none = job.state == LOST or (job.run_dir is None and job.state != DONE)
        if has_none and not shards:
            why = f"job {job.job} of {sweep.sweep_id}"
            hint = f"go on with it: skilleval sweep resume {shown_place(folder)}"
            absent.append(Gap(where=why, what=f"no run of it ({job.state})", hint=hint))
    return places


def _of_folder(place: Path, inside: Sequence[Path]) -> list[Path]:
    """Give the shards in a folder where it has any, else its runs; what was joined from others is no part of it."""
    manifests = {folder: read_manifest(folder) for folder in inside}
    own = [folder for folder, manifest in manifests.items() if not manifest.get("merged_from")]
    shards = [folder for folder in own if is_shard(manifests[folder])]
    chosen = shards or own
    if len(chosen) < len(inside):
        what = "shards" if shards else "runs that were not joined from others"
        log.info("%s: %d of %d runs are %s", place, len(chosen), len(inside), what)
    return chosen


def _composed(first: Stored, overrides: Sequence[str], root: Path) -> Composed:
    """Give the settings that the runs share, for the whole plan."""
    manifest = first.manifest
    kept = [text for text in manifest.get("overrides", ()) if not text.lstrip("+~").startswith(_OURS)]
    config = StoredConfig(
        where=first.folder / MANIFEST,
        values=manifest["config"],
        overrides=tuple(kept),
        choices=manifest.get("choices", {}),
    )
    whole = ["plan.shards=1", "plan.shard=0", "plan.durations=null"]
    places = [f"paths.output_dir={quote(shown_place(root))}", "paths.store=null"]
    composed = compose_stored(config, [*whole, *places, *overrides], project=Path.cwd())
    report = composed.settings.report
    for name in report.formats:
        part(WRITERS, name, key="report.formats", group="writers")
    check_notebooks(report.formats, NotebookOptions.of(report))
    check_places(composed.settings.paths)
    check_root(root)
    return composed


def merge(merging: Merging, *, command: Sequence[str], now: datetime) -> Outcome:
    """Join the runs into a new one beside them, analyse it and report.

    The folder takes its place only when all rows and the manifest are in it, so that it is there whole or not at all.

    Raises:
        ResultsError: a table cannot be read, or nothing can be written.
    """
    root = local_place(merging.composed.settings.paths.output_dir)
    run_id = new_run_id(now)
    folder = root / run_id
    with _taking(folder) as beside:
        join_tables([run.folder for run in merging.runs], beside, run_id)
        manifest = _manifest(merging, beside, run_id, shlex.join(["skilleval", *command]))
        write_manifest(beside, manifest)
    log.info("run %s: joined from %d runs, rows in %s", run_id, len(merging.runs), folder)
    return conclude(merging.composed.settings, folder, manifest)


@contextmanager
def _taking(folder: Path) -> Iterator[Path]:
    """Give a folder to write in; at the end it takes its place, and after a failure nothing is left of it."""
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        beside.mkdir(parents=True)
        yield beside
        beside.rename(folder)
    except OSError as error:
        msg = f"cannot make {folder}: {error.strerror or error}"
        raise WriteError(msg, hint="choose a writable folder with --output-dir") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _manifest(merging: Merging, rows: Path, run_id: str, command: str) -> dict[str, Any]:
    """Describe the joined run: what the first one says where the runs agree, else their sums and extremes."""
    manifests = [run.manifest for run in merging.runs]
    first, composed = manifests[0], merging.composed
    statuses, load = trials_by_status(rows), loads(rows)
    sweeps_of = {one.get("sweep_id") for one in manifests}
    n_trials = sum(statuses.values())
    n_planned = planned_in_all(merging.runs)
    return {
        **first,
        "schema_version": SCHEMA_VERSION,
        "run_id": run_id,
        "sweep_id": sweeps_of.pop() if len(sweeps_of) == 1 else None,
        "command": command,
        "folder": str(Path.cwd()),
        "config": dict(composed.values),
        "overrides": list(composed.overrides),
        "choices": dict(composed.choices),
        "versions": versions(),
        "platform": machine(),
        "git": git_state(Path.cwd()),
        "runner": {**first["runner"], **_concurrency(load)},
        "skills": _skills(manifests),
        "sandbox": {**first["sandbox"], "egress": _all(manifests, "sandbox", "egress")},
        "privacy": {**first["privacy"], **_privacy(manifests)},
        "warnings": _warnings(merging),
        "notices": _texts(manifests, "notices"),
        "n_planned": n_planned,
        "plan_digest": None,
        "plan": _plan(first),
        "started_at": min(one["started_at"] for one in manifests),
        "ended_at": max((one["ended_at"] for one in manifests if one["ended_at"]), default=None),
        "interrupted": bool(merging.gaps) or n_trials < n_planned,
        "stopped_by": None,
        "counts": {
            "trials": n_trials,
            "by_status": statuses,
            "judge_errors": judge_errors(rows),
            "not_judged": not_judged(rows),
        },
        "resumes": [],
        "exit_code": None,
        "merged_from": [_source(run) for run in merging.runs],
    }


def _plan(first: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the whole plan of shards; whole runs that were joined have none in common."""
    return {**first["plan"], "shards": 1, "shard": 0, "durations": None} if is_shard(first) else None


def _source(run: Stored) -> dict[str, Any]:
    manifest = run.manifest
    plan = manifest.get("plan") or {}
    keys = ("run_id", "sweep_id", "command", "started_at", "ended_at", "interrupted", "versions", "platform")
    counts = manifest.get("counts") or {}
    return {
        **{key: manifest.get(key) for key in keys},
        "folder": str(run.folder),
        "shard": plan.get("shard") if is_shard(manifest) else None,
        "n_trials": counts.get("trials"),
    }


def _concurrency(load: Sequence[int]) -> dict[str, int]:
    return {"concurrency": load[-1], "lowest_concurrency": load[0]} if load else {}


def _skills(manifests: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    known = {(one["id"], one["version"], one["digest"]): one for said in manifests for one in said["skills"]}
    return list(known.values())


def _all(manifests: Sequence[Mapping[str, Any]], block: str, key: str) -> list[Any]:
    """Give what any of the runs says, each thing once."""
    found: list[Any] = []
    for manifest in manifests:
        found += [one for one in (manifest.get(block) or {}).get(key) or () if one not in found]
    return found


def _texts(manifests: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(text for manifest in manifests for text in manifest.get(key) or ()))


def _privacy(manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up what was redacted; null where one of the runs does not know."""
    counts = [(one.get("privacy") or {}).get("n_redacted") for one in manifests]
    known = [int(one) for one in counts if one is not None]
    return {
        "egress": _all(manifests, "privacy", "egress"),
        "n_redacted": sum(known) if len(known) == len(counts) else None,
    }


def _warnings(merging: Merging) -> list[str]:
    """Give the warnings of all runs but that they were shards; and what differs beside their settings."""
    manifests = [run.manifest for run in merging.runs]
    remarks = {shard_remark(one["plan"], int(one["n_planned"])) for one in manifests if is_shard(one)}
    told = [text for text in _texts(manifests, "warnings") if text not in remarks]
    for key, what in (("versions", "with different versions"), ("platform", "on different machines")):
        if any(one.get(key) != manifests[0].get(key) for one in manifests):
            told.append(f"the joined runs were made {what}: their latencies may not compare")
    return [*told, *(f"missing: {gap.where}: {gap.what}" for gap in merging.gaps)]
