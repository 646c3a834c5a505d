"""Journal lines as frames: a chunk of JSON lines becomes a frame a table."""

from __future__ import annotations

import io
import json
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from skilleval.errors import ResultsError
from skilleval.results.journal import read_chunks
from skilleval.results.rows import SHARED
from skilleval.results.schema import JUDGEMENTS, SCORES, TRIALS, TRIES, Column, Kind, Table, polars_schema

ARROW: dict[Kind, pa.DataType] = {
    Kind.TEXT: pa.string(),
    Kind.JSON: pa.string(),
    Kind.INT: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.BOOL: pa.bool_(),
    Kind.TIME: pa.int64(),
    Kind.TEXTS: pa.list_(pa.string()),
}
_BLOCK_BYTES = 1024 * 1024
_FROM_LINE = {"write_ms", "run_id", "trial_id"}
_WHEN_ABSENT = {"isolation": "trial"}
"""What rows of an older schema mean by a column that they do not have; any other one is not known."""


def read_frames(path: Path) -> Iterator[pl.DataFrame]:
    """Read a journal in chunks: a row a line, with the structs `trial`, `tries`, `scores` and `judgements`.

    Raises:
        ResultsError: a line before the last one is damaged.
    """
    n_lines = 0
    for chunk in read_chunks(path):
        frame = _parsed(chunk, path, n_lines)
        n_lines += frame.height
        yield frame


def _parsed(chunk: bytes, path: Path, n_before: int) -> pl.DataFrame:
    try:
        try:
            lines = _table(chunk, _BLOCK_BYTES)
        except pa.ArrowInvalid:  # damaged, or only a line that is longer than a block
            lines = _table(chunk, len(chunk) + 1)
    except pa.ArrowInvalid as error:
        number = _broken_line(chunk)
        where = f"{path}:{n_before + number}" if number else str(path)
        msg = f"{where} cannot be read: {error}"
        hint = "the journal is damaged before its last line; without that line the rest of it can be read"
        raise ResultsError(msg, hint=hint) from None
    return pl.DataFrame(pl.from_arrow(lines))


def _table(chunk: bytes, block_bytes: int) -> pa.Table:
    """Parse lines, each block of them by a thread of its own; no line may be longer than a block."""
    options = pj.ParseOptions(explicit_schema=_line_schema(), unexpected_field_behavior="error")
    lines = pj.read_json(
        io.BytesIO(chunk), read_options=pj.ReadOptions(block_size=block_bytes), parse_options=options
    )
    lines.validate(full=True)  # bytes that are no UTF-8 get this far
    if pc.struct_field(lines["trial"], "trial_id").null_count:  # `null` counts as an object without keys
        msg = "a line names no trial"
        raise pa.ArrowInvalid(msg)
    return lines


def _broken_line(chunk: bytes) -> int | None:
    """Give the number of the first line that is no JSON object of a trial; null where all are."""
    for number, line in enumerate(chunk.split(b"\n"), start=1):
        if line.strip() and not _names_a_trial(line):
            return number
    return None


def _names_a_trial(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line)["trial"]["trial_id"], str)
    except (ValueError, TypeError, LookupError):
        return False


def _line_schema() -> pa.Schema:
    def struct(columns: Iterable[Column]) -> pa.DataType:
        return pa.struct([(column.name, ARROW[column.kind]) for column in columns])

    trial = [c for c in TRIALS.columns if c.name != "write_ms" and (c.name not in SHARED)]
    lists = {
        table.name: pa.list_(struct(c for c in table.columns if c.name not in _FROM_LINE))
        for table in (TRIES, SCORES, JUDGEMENTS)
    }
    return pa.schema([("trial", struct(trial)), *lists.items()])


def with_write_ms(frames: Iterable[pl.DataFrame], write_ms: array[float] | None) -> Iterator[pl.DataFrame]:
    """Add how long each line took to write, where the process that wrote them still knows."""
    start = 0
    for frame in frames:
        if write_ms is None:
            yield frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("write_ms"))
        else:
            took = pl.Series("write_ms", write_ms[start : start + frame.height], dtype=pl.Float64)
            yield frame.with_columns(took)
        start += frame.height


def tables(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Make the rows of each table from lines; the columns of the attempt are those of the last try."""
    trial = frame.select("trial", "write_ms").unnest("trial")
    keys = trial.select("run_id", "trial_id")
    tries = _exploded(frame, keys, "tries")
    first_start = frame.select(pl.col("tries").list.first().struct.field("started_at").alias("started_at"))
    attempt = frame.select(pl.col("tries").list.last().alias("attempt")).unnest("attempt").select(SHARED)
    attempt = attempt.with_columns(first_start["started_at"])
    return {
        "trials": typed(TRIALS, pl.concat([trial, attempt], how="horizontal")),
        "tries": typed(TRIES, tries),
        "scores": typed(SCORES, _exploded(frame, keys, "scores")),
        "judgements": typed(JUDGEMENTS, _exploded(frame, keys, "judgements")),
    }


def _exploded(frame: pl.DataFrame, keys: pl.DataFrame, column: str) -> pl.DataFrame:
    wide = pl.concat([keys, frame.select(column)], how="horizontal").filter(pl.col(column).list.len() > 0)
    return wide.explode(column).unnest(column)


def typed(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """Put the columns of a table in order and type; what the rows do not carry is null."""
    return frame.select(_columns(table, frame.columns))


def typed_lazily(table: Table, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Do the same with rows that are not read yet."""
    return frame.select(_columns(table, frame.collect_schema().names()))


def _columns(table: Table, present: list[str]) -> list[pl.Expr]:
    return [_column(name, dtype, present) for name, dtype in polars_schema(table).items()]


def _column(name: str, dtype: pl.DataType, present: list[str]) -> pl.Expr:
    absent = pl.lit(_WHEN_ABSENT.get(name), dtype=dtype)
    if name not in present:
        return absent.alias(name)
    column = pl.col(name).cast(dtype)
    return column.fill_null(absent) if name in _WHEN_ABSENT else column
