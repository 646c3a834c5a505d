"""The store: a folder a run, with `manifest.json` and the tables `trials/ tries/ scores/` as Parquet.

Everything is written beside itself and renamed, so a reader never sees half a file.
"""

from __future__ import annotations

import io
import json
import os
import re
from array import array
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.json as pj
import pyarrow.parquet as pq

from skilleval.errors import ResultsError, WriteError
from skilleval.results.journal import held, read_chunks
from skilleval.results.rows import SHARED
from skilleval.results.schema import (
    SCHEMA_VERSION,
    SCORES,
    TABLES,
    TRIALS,
    TRIES,
    Column,
    Kind,
    Table,
    checked,
    polars_schema,
)

MANIFEST = "manifest.json"
_JOURNAL = "journal-{:05d}.jsonl"
_PART = "part-{:05d}.parquet"
_NUMBERED = re.compile(r"journal-(\d{5})\.jsonl")
_NEEDED = ("run_id", "config", "benchmark", "n_planned")
_ELSEWHERE = "choose a writable folder with --output-dir or --store"
_FROM_LINE = {"write_ms", "run_id", "trial_id"}
_ARROW: dict[Kind, pa.DataType] = {
    Kind.TEXT: pa.string(),
    Kind.JSON: pa.string(),
    Kind.INT: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.BOOL: pa.bool_(),
    Kind.TIME: pa.int64(),
    Kind.TEXTS: pa.list_(pa.string()),
}


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


def journal_path(folder: Path) -> Path:
    """Give the path of the next journal of a run: its number is that of the Parquet part it becomes."""
    taken = len(list((folder / TRIALS.name).glob("part-*.parquet")))
    return folder / _JOURNAL.format(taken)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        msg = f"cannot write {path}: {error.strerror}"
        raise WriteError(msg, hint="the tables of the run are not touched by this") from None


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a run."""
    write_text(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run.

    Raises:
        ResultsError: there is none, or it is no JSON object.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        msg = f"{folder} is no run: it has no {MANIFEST}"
        raise ResultsError(msg) from None
    except (OSError, ValueError) as error:
        msg = f"{path} is no manifest: {error}"
        raise ResultsError(msg) from None
    absent = [key for key in _NEEDED if not isinstance(manifest, dict) or key not in manifest]
    if absent:
        msg = f"{path} is no manifest of a run: it lacks {', '.join(absent)}"
        raise ResultsError(msg)
    return dict(manifest)


def compact(folder: Path, *, write_ms: array[float] | None = None) -> None:
    """Turn every finished journal of a run into a part of each table, then remove it.

    Doing it again after a crash in the middle gives the same files. A journal that another process holds is left alone.

    Raises:
        ResultsError: a journal is damaged before its last line; it is kept.
        WriteError: there is no room for the tables; the journal is kept.
    """
    journals = {path: match for path in folder.glob("journal-*") if (match := _NUMBERED.fullmatch(path.name))}
    try:
        for path, match in sorted(journals.items()):
            with held(path) as ours:
                if ours:
                    _compact_one(path, int(match[1]), write_ms)
                    path.unlink()
        if not journals and not (folder / TRIALS.name).is_dir():
            _write_parts(folder, 0, ())
    except OSError as error:
        msg = f"cannot make tables in {folder}: {error.strerror or error}; the journal is kept"
        raise WriteError(msg, hint="make room, then `skilleval report convert` reads what is there") from None


def is_live(folder: Path) -> bool:
    """Say whether a process is writing this run, or making its tables."""
    journals = [path for path in folder.glob("journal-*") if _NUMBERED.fullmatch(path.name)]
    for path in journals:
        with held(path) as ours:
            if not ours and path.exists():
                return True
    return False


def _compact_one(path: Path, number: int, write_ms: array[float] | None) -> None:
    frames = (_frames(chunk, path) for chunk in read_chunks(path))
    _write_parts(path.parent, number, _with_write_ms(frames, write_ms))


def _write_parts(folder: Path, number: int, chunks: Iterable[Mapping[str, pl.DataFrame]]) -> None:
    paths = {name: folder / name / _PART.format(number) for name in TABLES}
    beside = {name: path.with_name(f".{path.name}.{os.getpid()}.tmp") for name, path in paths.items()}
    for path in paths.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_chunks(beside, chunks)
        for name, path in paths.items():
            beside[name].replace(path)
    finally:
        for path in beside.values():
            path.unlink(missing_ok=True)


def _write_chunks(beside: Mapping[str, Path], chunks: Iterable[Mapping[str, pl.DataFrame]]) -> None:
    with ExitStack() as files:
        writers = {
            name: files.enter_context(
                pq.ParquetWriter(beside[name], _arrow_schema(table), compression="zstd")
            )
            for name, table in TABLES.items()
        }
        for frames in chunks:
            for name, table in TABLES.items():
                writers[name].write_table(_arrow(table, checked(table, frames[name])))


def _arrow(table: Table, frame: pl.DataFrame) -> pa.Table:
    return frame.to_arrow().cast(_arrow_schema(table))


def _arrow_schema(table: Table) -> pa.Schema:
    types = _ARROW | {Kind.TIME: pa.timestamp("us", tz="UTC")}
    metadata: dict[bytes | str, bytes | str] = {
        "skilleval.table": table.name,
        "skilleval.schema_version": SCHEMA_VERSION,
    }
    fields = [pa.field(c.name, types[c.kind], metadata={"doc": c.doc}) for c in table.columns]
    return pa.schema(fields, metadata=metadata)


def _line_schema() -> pa.Schema:
    def struct(columns: Iterable[Column]) -> pa.DataType:
        return pa.struct([(column.name, _ARROW[column.kind]) for column in columns])

    trial = [c for c in TRIALS.columns if c.name != "write_ms" and (c.name not in SHARED)]
    tries = [c for c in TRIES.columns if c.name not in _FROM_LINE]
    scores = [c for c in SCORES.columns if c.name not in _FROM_LINE]
    return pa.schema(
        [("trial", struct(trial)), ("tries", pa.list_(struct(tries))), ("scores", pa.list_(struct(scores)))]
    )


def _frames(chunk: bytes, path: Path) -> dict[str, pl.DataFrame]:
    """Parse a chunk of journal lines into a frame a table."""
    options = pj.ParseOptions(explicit_schema=_line_schema(), unexpected_field_behavior="error")
    try:
        lines = pj.read_json(
            io.BytesIO(chunk), read_options=pj.ReadOptions(block_size=len(chunk) + 1), parse_options=options
        )
    except pa.ArrowInvalid as error:
        msg = f"{path} cannot be read: {error}"
        raise ResultsError(
            msg, hint="the file is damaged before its last line; keep it and report this"
        ) from None
    frame = pl.DataFrame(pl.from_arrow(lines))
    trial = frame.select("trial").unnest("trial")
    keys = trial.select("run_id", "trial_id")
    tries = _exploded(frame, keys, "tries")
    first_start = frame.select(pl.col("tries").list.first().struct.field("started_at").alias("started_at"))
    attempt = frame.select(pl.col("tries").list.last().alias("attempt")).unnest("attempt").select(SHARED)
    attempt = attempt.with_columns(first_start["started_at"])
    return {
        "trials": _typed(TRIALS, pl.concat([trial, attempt], how="horizontal")),
        "tries": _typed(TRIES, tries),
        "scores": _typed(SCORES, _exploded(frame, keys, "scores")),
    }


def _exploded(frame: pl.DataFrame, keys: pl.DataFrame, column: str) -> pl.DataFrame:
    wide = pl.concat([keys, frame.select(column)], how="horizontal").filter(pl.col(column).list.len() > 0)
    return wide.explode(column).unnest(column)


def _typed(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """Put the columns of a table in order and type; what the line does not carry is null."""
    schema = polars_schema(table)
    exprs = [
        pl.col(name).cast(dtype) if name in frame.columns else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in schema.items()
    ]
    return frame.select(exprs)


def _with_write_ms(
    chunks: Iterable[dict[str, pl.DataFrame]], write_ms: array[float] | None
) -> Iterable[dict[str, pl.DataFrame]]:
    """Add how long each line took to write, where the process that wrote them still knows."""
    start = 0
    for frames in chunks:
        trials = frames["trials"]
        if write_ms is not None:
            took = pl.Series("write_ms", write_ms[start : start + trials.height], dtype=pl.Float64)
            frames["trials"] = trials.with_columns(took)
        start += trials.height
        yield frames


def scan_table(folder: Path, table: Table) -> pl.LazyFrame:
    """Scan one table of a run.

    Raises:
        ResultsError: the run has no such table.
    """
    parts = sorted((folder / table.name).glob("part-*.parquet"))
    if not parts:
        msg = f"{folder} has no table {table.name}"
        raise ResultsError(msg)
    return pl.scan_parquet(parts)
