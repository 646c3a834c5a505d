"""Runs by their names, where one name may stand for several: a sweep for its jobs, a folder for the runs in it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from skilleval.app.finished import Uncounted, finished_runs
from skilleval.errors import ResultsError
from skilleval.results.find import LATEST, joining, runs
from skilleval.results.places import address_of, fetch_run, fetch_sweeps, local_place, shown_place
from skilleval.results.store import read_manifest
from skilleval.results.sweeps import DONE, SWEEP, read_sweep, sweeps
from skilleval.sharding import is_shard

log = logging.getLogger(__name__)


def named_runs(references: Sequence[str], store: Path) -> tuple[str, ...]:
    """Put runs in the place of each sweep (folder or whole id) and of each folder of runs; the rest stays as it is.

    Raises:
        ResultsError: a sweep cannot be read, or it or a folder has no whole run that is done.
    """
    ids = {folder.name: folder for folder in sweeps(store)}
    return tuple(run for reference in references for run in _named(reference, ids))


def _named(reference: str, ids: Mapping[str, Path]) -> list[str]:
    if reference in ids:
        return _of_sweep(ids[reference])
    place = local_place(reference)
    fetch_sweeps(place)
    if (place / SWEEP).is_file():
        return _of_sweep(place)
    is_there = place.is_dir() or address_of(place) is not None
    inside = runs(place) if is_there and reference != LATEST else ()
    return _of_folder(place, inside) if inside and inside != (place,) else [reference]


def _of_sweep(folder: Path) -> list[str]:
    """Give the runs of the jobs that are done; shards are refused, for only joined they are a run."""
    done = [job.run_dir for job in read_sweep(folder).jobs if job.state == DONE and job.run_dir is not None]
    if not done:
        hint = f"skilleval sweep status {shown_place(folder)}"
        raise ResultsError(f"no job of the sweep {folder.name} is done", hint=hint)
    fetch_run(done[0])
    if is_shard(read_manifest(done[0])):
        hint = f"{joining(done[0])}; then name the run that comes of it"
        raise ResultsError(f"the jobs of the sweep {folder.name} are shards of one run", hint=hint)
    return [str(run_dir) for run_dir in done]


def _of_folder(place: Path, inside: Sequence[Path]) -> list[str]:
    """Give the whole runs that came to their end; what was joined into one of them counts with that one."""
    uncounted = Uncounted()
    found = tuple(finished_runs(inside, lambda _: True, uncounted))
    notices = uncounted.notices()
    chosen = [str(folder) for folder in found if not uncounted.is_joined(read_manifest(folder))]
    if not chosen:
        msg = f"no whole run that came to its end is stored in {shown_place(place)}"
        raise ResultsError(msg, hint="\n".join(notices))
    for notice in notices:
        log.warning("%s", notice)
    return chosen
