"""The folder of a run: making it, its manifest, and the names of the files in it."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from skilleval.errors import ResultsError, WriteError
from skilleval.results.documents import DocumentKind
from skilleval.results.locks import LOCK, is_locked, maybe_locked
from skilleval.results.schema import SCHEMA_VERSION, TABLES

MANIFEST = "manifest.json"
PART = "part-{:05d}.parquet"
_JOURNAL = "journal-{:05d}.jsonl"
_JOURNALS = re.compile(r"journal-(\d{5,})\.jsonl")
_PARTS = re.compile(r"part-(\d{5,})\.parquet")
_BESIDE = re.compile(r"\.(\d+)\.tmp$")
_RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
_UNBORN = re.compile(r"\.manifest\.json\.\d+\.tmp")
_STILLBORN_S = 3600.0
"""How old a folder without a manifest must be to be taken for a dead one: a live process needs an instant for it."""
_MANIFEST = DocumentKind(
    name=MANIFEST, noun="manifest", of="run", needed=("run_id", "config", "benchmark", "n_planned")
)
_ELSEWHERE = "choose a writable folder with --output-dir or --store"


def check_root(root: Path) -> None:
    """Check that runs could be stored below a folder, without making anything.

    Raises:
        ResultsError: the path cannot be such a folder.
        WriteError: there is no right to write there.
    """
    if root.suffix.lower() in {".db", ".sqlite", ".sqlite3"}:
        msg = f"{root} looks like a database file, but results are Parquet tables in a folder"
        raise ResultsError(msg, hint=f"name a folder, e.g. --store {root.with_suffix('')}")
    nearest = next(path for path in (root, *root.absolute().parents) if path.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
        msg = f"cannot make {root}: {nearest} is no folder that may be written to"
        raise WriteError(msg, hint=_ELSEWHERE)


def create_run(root: Path, run_id: str) -> Path:
    """Make the folder of a new run.

    Raises:
        ResultsError: it exists already.
        WriteError: it cannot be made.
    """
    check_root(root)
    folder = root / run_id
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        msg = f"{folder} exists already"
        raise ResultsError(msg, hint="choose another --output-dir; results are never overwritten") from None
    except OSError as error:
        msg = f"cannot make {folder}: {error.strerror}"
        raise WriteError(msg, hint=_ELSEWHERE) from None
    return folder


def remove_stillborn(root: Path, *, older_than_s: float = _STILLBORN_S) -> list[Path]:
    """Remove the folders of runs that were killed before they had a manifest; they hold nothing, and nobody finds them.

    One that is young, in use, or has any other file in it stays. What cannot be removed stays too: it is in no way.
    """
    if not root.is_dir():
        return []
    born = time.time() - older_than_s
    gone = []
    for folder in sorted(root.iterdir()):
        with suppress(OSError, WriteError, ResultsError):
            if _RUN_ID.fullmatch(folder.name) and folder.stat().st_mtime < born and _emptied(folder):
                folder.rmdir()
                gone.append(folder)
    return gone


def _emptied(folder: Path) -> bool:
    """Remove lock and half-written manifests where there is nothing else and nobody holds the lock."""
    found = list(folder.iterdir())
    if folder.is_symlink() or not all(path.name == LOCK or _UNBORN.fullmatch(path.name) for path in found):
        return False
    with maybe_locked(folder) as is_ours:
        if is_ours:
            for path in folder.iterdir():
                path.unlink()
    return is_ours


def journals(folder: Path) -> dict[int, Path]:
    """Give the journals of a run by their numbers, oldest first."""
    return _numbered(folder.glob("journal-*"), _JOURNALS)


def has_tables(folder: Path) -> bool:
    """Say whether a run has every table that each run has."""
    return all(parts(folder, name) for name, table in TABLES.items() if table.since == 1)


def is_live(folder: Path) -> bool:
    """Say whether a process is writing this run, or making its tables."""
    return is_locked(folder) and (bool(journals(folder)) or not has_tables(folder))


def parts(folder: Path, table: str) -> dict[int, Path]:
    """Give the Parquet parts of a table by their numbers, oldest first."""
    return _numbered((folder / table).glob("part-*"), _PARTS)


def _numbered(paths: Any, pattern: re.Pattern[str]) -> dict[int, Path]:
    found = {int(match[1]): path for path in paths if (match := pattern.fullmatch(path.name))}
    return dict(sorted(found.items()))


def journal_path(folder: Path) -> Path:
    """Give the path of the next journal of a run: its number is that of the Parquet part it becomes."""
    taken = [*journals(folder), *(number for table in TABLES for number in parts(folder, table))]
    return folder / _JOURNAL.format(max(taken, default=-1) + 1)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8", errors="backslashreplace") as file:  # paths may be no UTF-8
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        msg = f"cannot write {path}: {error.strerror}"
        raise WriteError(msg, hint="the tables of the run are not touched by this") from None


def leftovers(folder: Path) -> list[Path]:
    """Give what killed processes left half-written beside manifest, reports and tables."""
    beside = [path for place in (".", *TABLES) for path in (folder / place).glob(".*.tmp")]
    return [path for path in beside if (match := _BESIDE.search(path.name)) and _is_dead(int(match[1]))]


def _is_dead(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it is somebody else's
    return False


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a run."""
    write_text(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run.

    Raises:
        ResultsError: there is none, it is no JSON object, or a newer skilleval wrote it.
    """
    manifest = _MANIFEST.read(folder)
    check_version(str(manifest.get("schema_version", SCHEMA_VERSION)), folder)
    return manifest


def check_version(version: str, folder: Path) -> None:
    """Check that rows of this version of the schema can be read.

    Raises:
        ResultsError: a newer skilleval wrote them.
    """
    if not version.isdecimal() or int(version) > int(SCHEMA_VERSION):
        msg = f"{folder} has tables of schema version {version}; this skilleval reads up to {SCHEMA_VERSION}"
        raise ResultsError(msg, hint="read the run with the skilleval that wrote it, or a newer one")
