"""The files of a paper kit in their places, so that a kit is whole or as it was, even after `kill -9`.

All of it is written into a folder beside first. A list in there says which files are to come and which were there, with
their SHA-256, so that a writing that was broken off is known as ours and gone on with. What an earlier kit had and this
one has not is removed by the same list, but for what somebody changed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.errors import Problem, UsageError, WriteError
from skilleval.report.paper.files import MANIFEST as PAPER
from skilleval.report.paper.files import YOURS
from skilleval.report.text import json_text
from skilleval.results.locks import maybe_locked
from skilleval.results.store import write_text

UNFINISHED = ".unfinished"
_LIST = "written.json"
_EXECUTABLE = 0o755

Own = Mapping[str, frozenset[str]]
"""The files that were written here before, each with its SHA-256; two are possible after a writing broken off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What became of files: `kept` are the author's, `changed` would have been removed but were changed by hand."""

    kept: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a kit is to hold: files, those given only once, rows to copy (by name), and rows that lie there already."""

    files: Mapping[str, bytes]
    yours: Mapping[str, bytes]
    rows: Mapping[str, tuple[Path, str]]
    lying: frozenset[str]
    manifest: str

    @property
    def names(self) -> frozenset[str]:
        """Every name that belongs to the kit."""
        return frozenset((*self.files, *self.yours, *self.rows, *self.lying, PAPER))


def is_unfinished(out: Path) -> bool:
    """Say whether a kit is being written, or its writing was broken off."""
    return (out / UNFINISHED / _LIST).is_file()


def former(out: Path) -> Own:
    """Name what earlier writings left in this folder; empty where there were none.

    Raises:
        UsageError: the folder holds something that is no kit.
    """
    if not out.exists() or (out.is_dir() and all(one.name == UNFINISHED for one in out.iterdir())):
        return {}
    kit, begun = _read(out / PAPER), _read(out / UNFINISHED / _LIST)
    if not isinstance(kit.get("files"), dict) and not begun:
        problem = Problem(where="--out", expected="a new folder, or that of a paper kit", found=str(out))
        raise UsageError("the folder holds something else", problems=(problem,), hint="name another one")
    own: dict[str, set[str]] = {}
    for name, digest in [*_of_kit(kit), *_of_list(begun)]:
        own.setdefault(name, set()).add(digest)
    return {name: frozenset(found) for name, found in own.items()}


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _of_kit(kit: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the files of a kit and the rows that it copied; rows that it pointed to are not its own."""
    yield from _pairs(kit.get("files"))
    options, runs = kit.get("options"), kit.get("runs")
    if isinstance(options, dict) and not options.get("linked") and isinstance(runs, list):
        for run in runs:
            if isinstance(run, dict):
                yield from ((f"{run.get('folder')}/{name}", one) for name, one in _pairs(run.get("digests")))


def _of_list(begun: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, found in begun.items():
        yield from ((name, str(one)) for one in (found if isinstance(found, list) else []))


def _pairs(found: object) -> Iterator[tuple[str, str]]:
    if isinstance(found, dict):
        yield from ((str(name), str(digest)) for name, digest in found.items())


def place(out: Path, contents: Contents, own: Own) -> Placed:
    """Put a kit in its folder: whole, and without what an earlier one left.

    Raises:
        WriteError: the folder cannot be written, or another process writes it.
    """
    beside = out / UNFINISHED
    kept = tuple(name for name in contents.yours if _is_theirs(out / name, own.get(name, frozenset())))
    new = {**contents.files, **{name: text for name, text in contents.yours.items() if name not in kept}}
    try:
        with _alone(out):
            with _whole(out):
                write_text(beside / _LIST, json_text(_listed(contents, new, own)))
                _write(beside, new, contents)
            for name in (*new, *contents.rows):
                (out / name).parent.mkdir(parents=True, exist_ok=True)
                (beside / name).replace(out / name)
            removed, changed = _without_gone(out, own, contents.names)
            (beside / PAPER).replace(out / PAPER)
            shutil.rmtree(beside)
    except OSError as error:
        msg = f"cannot write {out}: {error.strerror}"
        raise WriteError(msg) from None
    return Placed(kept=kept, removed=removed, changed=changed)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Keep other processes from writing the same kit; the death of this one frees it.

    Raises:
        WriteError: another process writes it.
    """
    beside = out / UNFINISHED
    beside.mkdir(parents=True, exist_ok=True)
    with maybe_locked(beside) as is_mine:
        if not is_mine:
            msg = f"{out} is being written by another process"
            raise WriteError(msg, hint="wait for it, or name another folder")
        yield


@contextmanager
def _whole(out: Path) -> Iterator[None]:
    """Leave nothing beside if that cannot be filled, but for what tells of an earlier writing."""
    was_begun, is_whole = is_unfinished(out), False
    try:
        yield
        is_whole = True
    finally:  # also on Ctrl-C
        if not is_whole and not was_begun:
            shutil.rmtree(out / UNFINISHED, ignore_errors=True)
            if not any(out.iterdir()):
                out.rmdir()


def _listed(contents: Contents, new: Mapping[str, bytes], own: Own) -> dict[str, list[str]]:
    """Say what may be found here from now on, whenever the writing is broken off."""
    coming = {**file_digests(new), **{name: digest for name, (_, digest) in contents.rows.items()}}
    names = sorted({*own, *coming})
    return {name: sorted({*own.get(name, ()), *([coming[name]] if name in coming else [])}) for name in names}


def _write(beside: Path, new: Mapping[str, bytes], contents: Contents) -> None:
    for name, content in new.items():
        (beside / name).parent.mkdir(parents=True, exist_ok=True)
        (beside / name).write_bytes(content)
        if name.endswith(".sh"):
            (beside / name).chmod(_EXECUTABLE)
    for name, (source, _) in contents.rows.items():
        (beside / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, beside / name)
    write_text(beside / PAPER, contents.manifest)


def _is_theirs(path: Path, own: frozenset[str]) -> bool:
    """Say whether a file is there that no writing of ours, broken off, left as it is."""
    return path.exists() and not (path.is_file() and file_digest(path) in own)


def _without_gone(out: Path, own: Own, names: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove what is not part of the kit any more; name it, and what is left because somebody changed it."""
    there = [name for name in sorted(set(own) - names - set(YOURS)) if _is_inside(out, name)]
    changed = tuple(name for name in there if file_digest(out / name) not in own[name])
    removed = tuple(name for name in there if name not in changed)
    for name in removed:
        (out / name).unlink()
        _without_empty((out / name).parents, out)
    return removed, changed


def _without_empty(parents: Iterable[Path], out: Path) -> None:
    for folder in parents:
        if folder == out or any(folder.iterdir()):
            return
        folder.rmdir()


def _is_inside(out: Path, name: str) -> bool:
    """Say whether a name that a file gave leads to a file in the folder, and nowhere else."""
    path = out / name
    return path.is_file() and path.resolve().is_relative_to(out.resolve())


def file_digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Give the SHA-256 of each file, by name."""
    return {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}


def file_digest(path: Path) -> str:
    """Give the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
