"""The Parquet parts of a run's tables: writing one whole, taking rows out of one, scanning them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from skilleval.errors import ResultsError
from skilleval.results.schema import SCHEMA_VERSION, TABLES, Kind, Table, checked, polars_schema
from skilleval.results.store.folders import check_version, parts
from skilleval.results.store.lines import ARROW, typed_lazily

_VERSION = b"skilleval.schema_version"
_COMPRESSION: Final = "zstd"


def write_parts(paths: Mapping[str, Path], chunks: Iterable[Mapping[str, pl.DataFrame]]) -> None:
    """Write a part of each table from chunks of rows; every value is checked against the contract.

    Raises:
        ResultsError: a value breaks the contract.
    """
    with ExitStack() as files:
        writers = {
            name: files.enter_context(
                pq.ParquetWriter(paths[name], _arrow_schema(table), compression=_COMPRESSION)
            )
            for name, table in TABLES.items()
        }
        for frames in chunks:
            for name, table in TABLES.items():
                writers[name].write_table(_arrow(table, checked(table, frames[name])))


def write_part(path: Path, table: Table, frames: Iterable[pl.DataFrame]) -> int:
    """Write a part of one table from frames of rows, and count them; every value is checked against the contract.

    Raises:
        ResultsError: a value breaks the contract.
    """
    n = 0
    with pq.ParquetWriter(path, _arrow_schema(table), compression=_COMPRESSION) as writer:
        for frame in frames:
            writer.write_table(_arrow(table, checked(table, frame)))
            n += frame.height
    return n


def read_batches(part: Path, n_rows: int) -> Iterator[pl.DataFrame]:
    """Read a part a few rows at a time, so that memory does not grow with it."""
    with pq.ParquetFile(part) as source:
        for batch in source.iter_batches(batch_size=n_rows):
            yield pl.DataFrame(pl.from_arrow(batch))


def holds_any(part: Path, trial_ids: pl.Series) -> bool:
    """Say whether a part has rows of any of these trials."""
    ids = pl.scan_parquet(part).select(pl.col("trial_id").is_in(trial_ids.implode()).any())
    return bool(ids.collect().item())


def write_without(part: Path, trial_ids: pl.Series, beside: Path) -> None:
    """Write a part anew, in another place, without the rows of some trials."""
    taken_out = pa.array(trial_ids.to_list(), pa.string())
    with (
        pq.ParquetFile(part) as source,
        pq.ParquetWriter(beside, source.schema_arrow, compression=_COMPRESSION) as writer,
    ):
        for batch in source.iter_batches():
            stays = pc.invert(pc.is_in(batch.column("trial_id"), value_set=taken_out))
            writer.write_batch(batch.filter(stays))


def n_rows(part: Path) -> int:
    """Count the rows of a part."""
    return int(pq.read_metadata(part).num_rows)


def _arrow(table: Table, frame: pl.DataFrame) -> pa.Table:
    return frame.to_arrow().cast(_arrow_schema(table))


def _arrow_schema(table: Table) -> pa.Schema:
    types = ARROW | {Kind.TIME: pa.timestamp("us", tz="UTC")}
    metadata: dict[bytes | str, bytes | str] = {
        "skilleval.table": table.name,
        _VERSION: SCHEMA_VERSION,
    }
    fields = [pa.field(c.name, types[c.kind], metadata={"doc": c.doc}) for c in table.columns]
    return pa.schema(fields, metadata=metadata)


def scan_table(folder: Path, table: Table) -> pl.LazyFrame:
    """Scan one table of a run. Rows of an older schema get the columns that came later: null, or what they meant.

    Raises:
        ResultsError: the run has no such table, it cannot be read, or a newer skilleval wrote it.
    """
    found = list(parts(folder, table.name).values())
    if not found and table.since > 1:
        return pl.LazyFrame(schema=polars_schema(table))
    if not found:
        msg = f"{folder} has no table {table.name}"
        raise ResultsError(msg)
    schemas = [_schema(part, folder) for part in found]
    for schema in schemas:
        metadata = schema.metadata or {}
        check_version(metadata.get(_VERSION, SCHEMA_VERSION.encode()).decode(), folder)
    if all(tuple(schema.names) == table.names for schema in schemas):
        return pl.scan_parquet(found)
    return pl.concat([typed_lazily(table, pl.scan_parquet(part)) for part in found])


def _schema(part: Path, folder: Path) -> pa.Schema:
    try:
        return pq.read_schema(part)
    except (pa.ArrowInvalid, OSError) as error:
        msg = f"the tables of {folder} cannot be read: {part}: {str(error).splitlines()[0]}"
        raise ResultsError(msg) from None
