"""Joining the tables of several runs into those of one, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa

from skilleval.errors import ResultsError, WriteError
from skilleval.results.schema import TABLES, Table
from skilleval.results.store.folders import PART, parts
from skilleval.results.store.lines import typed
from skilleval.results.store.parts import read_batches, write_part

_BATCH_ROWS = 4096
_GROUP_ROWS = 32_768
_GROUP_BYTES = 32 * 1024 * 1024
"""A row group is written when it has so many rows, or is about so large: small shards make no small groups."""


def join_tables(sources: Sequence[Path], folder: Path, run_id: str) -> dict[str, int]:
    """Write the rows of all sources into the tables of one folder, as rows of the run `run_id`; count them by table.

    Raises:
        ResultsError: a table of a source cannot be read.
        WriteError: there is no room or no right to write.
    """
    written = {}
    for name, table in TABLES.items():
        path = folder / name / PART.format(0)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            written[name] = write_part(path, table, _grouped(_frames(sources, table, run_id)))
        except OSError as error:
            msg = f"cannot write {path}: {error.strerror or error}"
            raise WriteError(msg, hint="the runs that were to be joined are not touched by this") from None
    return written


def _frames(sources: Sequence[Path], table: Table, run_id: str) -> Iterator[pl.DataFrame]:
    for source in sources:
        for part in parts(source, table.name).values():
            for frame in _batches(part, source):
                yield typed(table, frame).with_columns(pl.lit(run_id).alias("run_id"))


def _batches(part: Path, source: Path) -> Iterator[pl.DataFrame]:
    try:
        yield from read_batches(part, _BATCH_ROWS)
    except (pl.exceptions.PolarsError, pa.ArrowInvalid) as error:
        msg = f"the tables of {source} cannot be read: {part}: {str(error).splitlines()[0]}"
        raise ResultsError(msg) from None


def _grouped(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Put small frames together, so that many small runs do not make many small row groups."""
    held: list[pl.DataFrame] = []
    n_rows = n_bytes = 0
    for frame in frames:
        held.append(frame)
        n_rows += frame.height
        n_bytes += int(frame.estimated_size())
        if n_rows >= _GROUP_ROWS or n_bytes >= _GROUP_BYTES:
            yield pl.concat(held)
            held, n_rows, n_bytes = [], 0, 0
    if held:
        yield pl.concat(held)
