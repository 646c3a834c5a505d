"""Compaction: journals become Parquet parts, and a trial that was run again takes the place of its former rows.

Whatever is killed in between is made good by the next compaction: a journal is removed only after its rows stand in
the tables, and doing it again gives the same files.
"""

from __future__ import annotations

import logging
import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyarrow as pa

from skilleval.errors import ResultsError, WriteError
from skilleval.results.journal import torn_bytes
from skilleval.results.locks import RunLock, maybe_locked
from skilleval.results.schema import TABLES
from skilleval.results.store.folders import PART, has_tables, journals, leftovers, parts
from skilleval.results.store.lines import read_frames, tables, with_write_ms
from skilleval.results.store.parts import holds_any, n_rows, write_parts, write_without

log = logging.getLogger(__name__)


def compact(folder: Path, *, write_ms: array[float] | None = None, lock: RunLock | None = None) -> None:
    """Turn every journal of a run into a part of each table, then remove it.

    Of several lines about one trial, in one journal or over all, the last one stays. Who holds the lock of the run
    passes it; a run that another process holds is left alone.

    Raises:
        ResultsError: a journal is damaged before its last line; it is kept.
        WriteError: there is no room or no right to write the tables; the journal is kept.
    """
    if lock is None and not journals(folder) and has_tables(folder):
        return
    try:
        with _ours(folder, lock) as ours:
            if ours:
                _compact_all(folder, write_ms)
    except OSError as error:
        msg = f"cannot make tables in {folder}: {error.strerror or error}; the journal is kept"
        raise WriteError(msg, hint="make room, then `skilleval report convert` reads what is there") from None
    except (pl.exceptions.PolarsError, pa.ArrowInvalid) as error:
        msg = f"the tables of {folder} cannot be read: {str(error).splitlines()[0]}"
        raise ResultsError(msg, hint="the journal is kept; take the damaged part out of the way") from None


@contextmanager
def _ours(folder: Path, lock: RunLock | None) -> Iterator[bool]:
    if lock is None:
        with maybe_locked(folder) as ours:
            yield ours
    else:
        lock.check()
        yield True


def _compact_all(folder: Path, write_ms: array[float] | None) -> None:
    for path in leftovers(folder):
        path.unlink(missing_ok=True)
    for number, path in journals(folder).items():
        _compact_one(path, number, write_ms)
        path.unlink()
    if not any(n_rows(part) for name in TABLES for part in parts(folder, name).values()):
        with _replacing() as beside:  # a run without a single trial has tables too
            write_parts(_new_parts(folder, 0, beside), ())


def _compact_one(journal: Path, number: int, write_ms: array[float] | None) -> None:
    folder, torn = journal.parent, torn_bytes(journal)
    if torn:
        log.warning("%s: its last line was cut off (%d bytes): it does not count", journal, torn)
    with _replacing() as beside:
        paths = _new_parts(folder, number, beside)
        ids = _write(journal, paths, write_ms)
        last = ids.is_last_distinct()
        if not last.all():
            _write(journal, paths, write_ms, kept=last)
        for name in TABLES:
            for earlier, part in parts(folder, name).items():
                if earlier < number and holds_any(part, ids):
                    write_without(part, ids, _beside(part, beside))


def _write(
    journal: Path, paths: dict[str, Path], write_ms: array[float] | None, *, kept: pl.Series | None = None
) -> pl.Series:
    """Write a journal into parts, all lines or those that are kept; give the trial id of each line."""
    ids = [pl.Series("trial_id", [], dtype=pl.String)]

    def rows() -> Iterator[dict[str, pl.DataFrame]]:
        start = 0
        for frame in with_write_ms(read_frames(journal), write_ms):
            ids.append(frame["trial"].struct.field("trial_id"))
            yield tables(frame if kept is None else frame.filter(kept.slice(start, frame.height)))
            start += frame.height

    write_parts(paths, rows())
    return pl.concat(ids)


def _new_parts(folder: Path, number: int, beside: dict[Path, Path]) -> dict[str, Path]:
    return {name: _beside(folder / name / PART.format(number), beside) for name in TABLES}


def _beside(path: Path, beside: dict[Path, Path]) -> Path:
    path.parent.mkdir(exist_ok=True)
    beside[path] = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    return beside[path]


@contextmanager
def _replacing() -> Iterator[dict[Path, Path]]:
    """Collect files that are written beside their place; at the end they take it, what was asked for last first.

    So rows leave the former parts before the new part has them: who looks in between sees a trial once or not at all.
    """
    beside: dict[Path, Path] = {}
    try:
        yield beside
        for path, made in reversed(beside.items()):
            made.replace(path)
    finally:
        for made in beside.values():
            made.unlink(missing_ok=True)
