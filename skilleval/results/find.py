"""Finding stored runs: by folder, by id, by the start or end of an id, or `latest`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skilleval.errors import ResultsError
from skilleval.results.places import fetch_run, fetch_runs, is_elsewhere, local_place, shown_place
from skilleval.results.store import MANIFEST

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


def find_run(reference: str, root: Path) -> Path:
    """Find one run; one on an object store is fetched into the spool.

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
    folder = _chosen(reference, stored, shown_place(local_place(root)))
    fetch_run(folder)
    return folder


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
