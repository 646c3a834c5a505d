"""Finding stored runs: by folder, by id, by the start or end of an id, or `latest`.

A shard is a part of a run: by id it is found as any run is, but it is no run's `latest`.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from skilleval.errors import ResultsError
from skilleval.results.places import fetch_run, fetch_runs, is_elsewhere, local_place, shown_place
from skilleval.results.store import MANIFEST, read_manifest
from skilleval.sharding import is_shard

log = logging.getLogger(__name__)

LATEST = "latest"
PREVIOUS = "previous"
"""As a baseline: the newest earlier run of the same benchmark that has a skill and a scorer in common."""
_ONLY_COMPARED = "`previous` is a baseline, which diff and gate know: here a run is named by its id"


def runs(root: Path) -> tuple[Path, ...]:
    """Give the folders of all runs below a root (itself, or up to two levels down), oldest first.

    Run ids begin with the second of their UTC start; within a second the age of the manifest decides. Of runs on an
    object store the manifests are fetched, and their folders are those of the spool.

    Raises:
        ResultsError: the object store cannot be read.
    """
    root = local_place(root)
    gone = fetch_runs(root) or frozenset()
    found = {path.parent for pattern in ("", "*/", "*/*/") for path in root.glob(f"{pattern}{MANIFEST}")}
    return tuple(sorted(found - gone, key=_age))


def _age(folder: Path) -> tuple[str, int, str]:
    return (folder.name.partition("-")[0], (folder / MANIFEST).stat().st_mtime_ns, folder.name)


def find_run(reference: str, root: Path, *, with_shards: bool = False) -> Path:
    """Find one run; one on an object store is fetched into the spool.

    `latest` is a whole run, and it is said that newer shards were passed over; `with_shards` takes them, too.

    Raises:
        ResultsError: nothing fits, more than one run does, or the folder lost its manifest.
    """
    as_path = local_place(reference)
    fetch_run(as_path, is_renewed=True)
    if (as_path / MANIFEST).is_file():
        return as_path
    _refuse_remains(as_path)
    if is_elsewhere(reference):
        msg = f"{shown_place(as_path)} is no run: it has no {MANIFEST}"
        raise ResultsError(
            msg, hint="what was not sent to its end is no run yet: skilleval push, where it ran"
        )
    stored = runs(root)
    place = shown_place(local_place(root))
    if reference == LATEST and stored and not with_shards:
        folder = _latest(stored, place)
    else:
        folder = _chosen(reference, stored, place)
    fetch_run(folder)
    return folder


def _latest(stored: Sequence[Path], root: str) -> Path:
    """Give the newest whole run; of newer shards it is said how they become one."""
    passed: list[Path] = []
    for folder in reversed(stored):
        if not _is_part(folder):
            if passed:
                _tell(f"{left_out(len(passed))}: `latest` is {folder.name}; {joining(passed[0])}")
            return folder
        passed.append(folder)
    msg = f"no whole run is stored below {root}: {left_out(len(passed))}"
    raise ResultsError(msg, hint=f"{joining(passed[0])}; or name a shard by its id")


def _is_part(folder: Path) -> bool:
    """Say whether a run is a shard; what is wrong with a damaged manifest is told by who reads it."""
    try:
        return is_shard(read_manifest(folder))
    except ResultsError:
        return False


def left_out(n: int) -> str:
    """Say how many shards do not count."""
    return "1 shard of a run is left out" if n == 1 else f"{n} shards of runs are left out"


def joining(shard: Path) -> str:
    """Say how a shard and those beside it become a run: by their sweep, or by the folder they stand in."""
    sweep = shard.parent / str(read_manifest(shard).get("sweep_id") or "")
    place = shown_place(sweep if sweep.is_dir() else shard.parent)
    return f"join them: {shlex.join(['skilleval', 'merge', place])}"


@cache
def _tell(text: str) -> None:
    """Say something once: one command may look for `latest` several times."""
    log.warning("%s", text)


def _chosen(reference: str, stored: Sequence[Path], root: str) -> Path:
    if not stored:
        msg = f"no run is stored below {root}"
        raise ResultsError(msg, hint="run `skilleval demo`, or name the folder with --store")
    if reference == LATEST:
        return stored[-1]
    fitting = [
        folder for folder in stored if folder.name.startswith(reference) or folder.name.endswith(reference)
    ]
    if len(fitting) != 1:
        said = "no run" if not fitting else f"{len(fitting)} runs"
        ids = ", ".join(folder.name for folder in reversed((fitting or stored)[-5:]))
        hints = [_ONLY_COMPARED] * (reference == PREVIOUS) + [f"newest: {ids}"]
        msg = f"{said} below {root} fit{'s' if not fitting else ''} {reference!r}"
        raise ResultsError(msg, hint="\n".join(hints))
    return fitting[0]


def _refuse_remains(folder: Path) -> None:
    """Tell of a run that lost its manifest, instead of looking for another one that fits its name."""
    remains = sorted(path.name for pattern in ("journal-*", "*/part-*") for path in folder.glob(pattern))
    if remains:
        msg = f"{folder} holds rows of a run ({remains[0]}), but no {MANIFEST}"
        raise ResultsError(
            msg, hint="put its manifest back: without it the rows say neither plan nor settings"
        )
