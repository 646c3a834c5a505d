"""The index of stored attempts: which call was answered in which run. The attempts themselves stand in the runs.

Each finished run leaves one small file `attempts/<run_id>.parquet` in the cache folder. Losing it loses no result:
the attempts of that run are not found again, that is all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import polars as pl

from skilleval.domain.attempts import Status
from skilleval.errors import ResultsError, WriteError
from skilleval.results.schema import TRIALS
from skilleval.results.store import read_manifest, scan_table

REUSABLE = (Status.COMPLETED, Status.TIMEOUT, Status.SKILL_ERROR)
"""What a skill itself answers for. Where the infrastructure failed, another call may do better."""

_REPLAYED = (
    "replay"  # reading a recording is no call worth saving, and its key does not cover what is recorded
)
_FOLDER = "attempts"
_SUFFIX = ".parquet"
_KEY = "skilleval.attempts"
_COLUMNS = ("call_key", "trial_id", "skill_id")
_SMALL = 16_384
"""Bytes of a file whose attempts stay in memory: the jobs of a sweep would read it again and again."""
_FILES_HELD = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What attempts depend on beside their call keys: the sweep, the retries, a hash of the runner's settings."""

    sweep_id: str | None
    retries: int
    runner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRun:
    """The index of one run: its file, where the run stood when it was made, and when that was (UTC)."""

    path: Path
    run_id: str
    folder: Path
    made_at: datetime
    circumstances: Circumstances

    @property
    def is_gone(self) -> bool:
        """Whether the run stands there no more."""
        try:
            return str(read_manifest(self.folder)["run_id"]) != self.run_id
        except ResultsError:
            return True

    def attempts(self) -> pl.DataFrame:
        """Read the attempts; none where another process took the file away.

        Grain: one row a call key.
        Columns: `call_key`, `trial_id`, `skill_id`.
        """
        try:
            return pl.read_parquet(self.path)
        except (OSError, pl.exceptions.PolarsError):
            return pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.String()))

    def found(self, call_keys: Collection[str]) -> dict[str, str]:
        """Give the trial of each of these calls that the run has, by call key."""
        try:
            stat = self.path.stat()
        except OSError:
            return {}
        if stat.st_size <= _SMALL:
            known = _by_call_key(self, stat.st_mtime_ns)
            return {key: known[key] for key in call_keys if key in known}
        wanted = self.attempts().filter(pl.col("call_key").is_in(list(call_keys)))
        return dict(wanted.select("call_key", "trial_id").iter_rows())


@lru_cache(maxsize=_FILES_HELD)
def _by_call_key(run: IndexedRun, _written_at: int) -> dict[str, str]:
    """Read the attempts of a run once a process, and again where its file changed."""
    return dict(run.attempts().select("call_key", "trial_id").iter_rows())


def write_index(cache: Path, folder: Path, circumstances: Circumstances, *, now: datetime) -> int:
    """Put the attempts of a finished run into the index; say how many. A run without any leaves no file.

    Raises:
        ResultsError: the run cannot be read.
        WriteError: the index cannot be written; the run is not touched by this.
    """
    run_id = str(read_manifest(folder)["run_id"])
    found = _reusable(folder)
    if found.is_empty():
        return 0
    about = {
        "run_id": run_id,
        "folder": str(folder.resolve()),
        "made_at": now.isoformat(),
        "sweep_id": circumstances.sweep_id,
        "retries": circumstances.retries,
        "runner": circumstances.runner,
    }
    _write(cache / _FOLDER / f"{run_id}{_SUFFIX}", found, {_KEY: json.dumps(about)})
    return found.height


def _reusable(folder: Path) -> pl.DataFrame:
    rows = scan_table(folder, TRIALS).filter(
        pl.col("status").is_in([status.value for status in REUSABLE]),
        pl.col("call_key").is_not_null(),
        pl.col("adapter") != _REPLAYED,
    )
    kept = rows.select(_COLUMNS).unique("call_key", keep="first")
    return kept.sort("call_key").collect()


def _write(path: Path, frame: pl.DataFrame, metadata: dict[str, str]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(beside, metadata=metadata)
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        msg = f"cannot write {path}: {error.strerror or error}"
        raise WriteError(
            msg, hint="results are not touched by this; choose another folder with paths.cache"
        ) from None


def indexed_runs(cache: Path) -> tuple[IndexedRun, ...]:
    """Give all indexed runs, newest first; a file that is no index is left out."""
    found = [_read_again(path) for path in (cache / _FOLDER).glob(f"[!.]*{_SUFFIX}")]
    known = [one for one in found if one is not None]
    return tuple(sorted(known, key=lambda one: (one.made_at, one.run_id), reverse=True))


def _read_again(path: Path) -> IndexedRun | None:
    """Read what a file says of its run, unless it is known and the same: each job of a sweep asks for all of them."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=_FILES_HELD)
def _read(path: Path, _written_at: int, _size: int) -> IndexedRun | None:
    try:
        about = json.loads(pl.read_parquet_metadata(path)[_KEY])
        return IndexedRun(
            path=path,
            run_id=about["run_id"],
            folder=Path(about["folder"]),
            made_at=datetime.fromisoformat(about["made_at"]),
            circumstances=Circumstances(
                sweep_id=about["sweep_id"], retries=about["retries"], runner=about["runner"]
            ),
        )
    except (OSError, pl.exceptions.PolarsError, ValueError, KeyError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSize:
    """How much an index holds. `n_calls` counts distinct call keys, `by_skill` attempts by skill id."""

    n_runs: int
    n_gone: int
    n_attempts: int
    n_calls: int
    n_bytes: int
    by_skill: Mapping[str, int]


def index_size(runs: Sequence[IndexedRun]) -> IndexSize:
    """Count what some indexed runs hold together."""
    empty = pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.String()))
    attempts = pl.concat([empty, *(run.attempts() for run in runs)])
    by_skill = attempts.group_by("skill_id").len().sort("skill_id")
    return IndexSize(
        n_runs=len(runs),
        n_gone=sum(run.is_gone for run in runs),
        n_attempts=attempts.height,
        n_calls=attempts["call_key"].n_unique(),
        n_bytes=sum(run.path.stat().st_size for run in runs if run.path.exists()),
        by_skill=dict(by_skill.iter_rows()),
    )


def forget(run: IndexedRun) -> None:
    """Take a run out of the index; the run itself is not touched.

    Raises:
        WriteError: there is no right to.
    """
    try:
        run.path.unlink(missing_ok=True)
    except OSError as error:
        msg = f"cannot remove {run.path}: {error.strerror}"
        raise WriteError(msg) from None
