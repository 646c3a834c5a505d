"""Reading a run without touching it: a folder of links to its files, in which tables may be made of a copied journal.

Who reads a stored run makes tables of what a killed run left in its journal. Somebody who only looks must not: another
process may be writing the run, or the folder may be an exhibit.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skilleval.errors import ResultsError
from skilleval.results.journal import torn_bytes
from skilleval.results.schema import TABLES
from skilleval.results.store import MANIFEST

Signature = tuple[tuple[str, int, int], ...]
"""Name, size and time of change of every file that a report of a run is made of."""


@contextmanager
def snapshot(folder: Path, *, root: Path) -> Iterator[Path]:
    """Give a folder that reads as this run does now; it is gone afterwards, and the run is as it was.

    Raises:
        ResultsError: a file of the run is none, or leads out of the root.
    """
    with tempfile.TemporaryDirectory(prefix="skilleval-") as place:
        yield linked(folder, Path(place), root=root)


def linked(folder: Path, place: Path, *, root: Path) -> Path:
    """Make a folder of links to a run, below another folder and with the name of the run.

    Raises:
        ResultsError: a file of the run is none, or leads out of the root.
    """
    view = place / folder.name
    view.mkdir(parents=True)
    # Journals first: one that becomes a table meanwhile is then there twice, which does no harm, and never missing.
    for source in _journals(folder):
        _copy(_checked(source, root), view / source.name)
    for source in (folder / MANIFEST, *_parts(folder)):
        target = view / source.relative_to(folder)
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(_checked(source, root))
    return view


def signature(folder: Path) -> Signature:
    """Say by what a changed run is known."""
    found = []
    for path in (*_journals(folder), folder / MANIFEST, *_parts(folder)):
        try:
            facts = path.stat()
        except OSError:  # it became a table in the meantime, which is a change
            found.append((path.name, -1, -1))
        else:
            found.append((str(path.relative_to(folder)), facts.st_size, facts.st_mtime_ns))
    return tuple(found)


def _journals(folder: Path) -> list[Path]:
    return sorted(folder.glob("journal-*.jsonl"))


def _parts(folder: Path) -> list[Path]:
    return [path for name in TABLES for path in sorted((folder / name).glob("part-*.parquet"))]


def _checked(path: Path, root: Path) -> Path:
    """Follow a path to its plain file below the root.

    Raises:
        ResultsError: it is none.
    """
    real = path.resolve()
    if not real.is_relative_to(root.resolve()):
        msg = f"{path} leads out of the folder that is shown"
        raise ResultsError(msg)
    try:
        is_file = stat.S_ISREG(real.stat().st_mode)
    except OSError:
        is_file = path.name.startswith("journal-")  # it became a table in the meantime
    if not is_file:
        msg = f"{path} is no file"
        raise ResultsError(msg)
    return real


def _copy(source: Path, target: Path) -> None:
    """Copy the whole lines of a journal: the last one may be in the middle of being written."""
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:  # it became a table in the meantime
        target.unlink(missing_ok=True)
        return
    os.truncate(target, target.stat().st_size - torn_bytes(target))
