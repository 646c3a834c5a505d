"""The index finds attempts of earlier runs again, and losing it loses no result."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from records import DONE, written

from skilleval.domain.attempts import Reply, Status
from skilleval.errors import WriteError
from skilleval.results.cache import (
    Circumstances,
    IndexedRun,
    forget,
    index_size,
    indexed_runs,
    write_index,
)
from skilleval.results.schema import TRIALS
from skilleval.results.store import scan_table, write_manifest

NOW = datetime(2026, 11, 1, 8, tzinfo=UTC)
ALONE = Circumstances(sweep_id=None, retries=0, runner="settings")
FAILED = Reply(status=Status.SKILL_ERROR)
LATE = Reply(status=Status.TIMEOUT)
DOWN = Reply(status=Status.PROVIDER_ERROR)


def stored(root: Path, replies: list[Reply], run_id: str = "r1", adapter: str = "subprocess") -> Path:
    """Write a run of one repeat a reply, with the manifest that makes it one."""
    folder = written(root, [[reply] for reply in replies], run_id=run_id, adapter=adapter)
    write_manifest(folder, {"run_id": run_id, "config": {}, "benchmark": {}, "n_planned": len(replies)})
    return folder


def indexed(root: Path, replies: list[Reply], run_id: str = "r1", *, now: datetime = NOW) -> IndexedRun:
    """Index a run and read the newest entry."""
    write_index(root / "cache", stored(root, replies, run_id), ALONE, now=now)
    return indexed_runs(root / "cache")[0]


def test_an_index_says_where_each_attempt_stands(tmp_path: Path) -> None:
    """Call keys and trial ids are those of the rows, and the circumstances are kept."""
    run = indexed(tmp_path, [DONE, DONE])
    rows = scan_table(run.folder, TRIALS).select("call_key", "trial_id", "skill_id").collect()
    assert sorted(run.attempts().rows()) == sorted(rows.rows())
    assert (run.run_id, run.made_at, run.circumstances, run.is_gone) == ("r1", NOW, ALONE, False)


def test_what_the_infrastructure_spoiled_is_not_indexed(tmp_path: Path) -> None:
    """Another call may do better; a time-out and an error of the skill are its own."""
    run = indexed(tmp_path, [DONE, FAILED, LATE, DOWN])
    assert run.attempts().height == 3


def test_a_run_without_any_leaves_no_file(tmp_path: Path) -> None:
    """Nothing could be found through it."""
    assert write_index(tmp_path / "cache", stored(tmp_path, [DOWN]), ALONE, now=NOW) == 0
    assert indexed_runs(tmp_path / "cache") == ()


def test_replayed_attempts_are_not_indexed(tmp_path: Path) -> None:
    """Their keys say nothing of the recording."""
    folder = stored(tmp_path, [DONE], adapter="replay")
    assert write_index(tmp_path / "cache", folder, ALONE, now=NOW) == 0


def test_the_newest_run_comes_first(tmp_path: Path) -> None:
    """What was measured last is taken over first."""
    indexed(tmp_path, [DONE], "r2", now=NOW + timedelta(hours=1))
    indexed(tmp_path, [DONE], "r1")
    assert [run.run_id for run in indexed_runs(tmp_path / "cache")] == ["r2", "r1"]


def test_a_file_that_is_no_index_is_passed_over(tmp_path: Path) -> None:
    """Garbage, or a Parquet file of something else, spoils nothing."""
    run = indexed(tmp_path, [DONE])
    run.path.with_name("garbage.parquet").write_bytes(b"PAR1 nothing")
    (part,) = (run.folder / "trials").glob("*.parquet")
    shutil.copy(part, run.path.with_name("other.parquet"))
    assert [one.run_id for one in indexed_runs(tmp_path / "cache")] == ["r1"]


def test_a_run_that_went_away_is_gone(tmp_path: Path) -> None:
    """So is one in whose folder another run stands now."""
    run = indexed(tmp_path, [DONE])
    write_manifest(run.folder, {"run_id": "r9", "config": {}, "benchmark": {}, "n_planned": 1})
    assert run.is_gone
    shutil.rmtree(run.folder)
    assert run.is_gone


def test_forgetting_touches_no_result(tmp_path: Path) -> None:
    """The entry is gone, once and for all; the rows are there as before."""
    run = indexed(tmp_path, [DONE, DONE])
    forget(run)
    forget(run)
    assert indexed_runs(tmp_path / "cache") == ()
    assert run.attempts().is_empty()
    assert scan_table(run.folder, TRIALS).collect().height == 2


def test_the_size_counts_calls_once(tmp_path: Path) -> None:
    """Two runs of the same two calls hold four attempts of two calls."""
    indexed(tmp_path, [DONE, DONE], "r1")
    run = indexed(tmp_path, [DONE, DONE], "r2")
    shutil.rmtree(run.folder)
    size = index_size(indexed_runs(tmp_path / "cache"))
    assert (size.n_runs, size.n_gone, size.n_attempts, size.n_calls) == (2, 1, 4, 2)
    assert size.by_skill == {"adder": 4}
    assert size.n_bytes == sum(one.stat().st_size for one in (tmp_path / "cache" / "attempts").iterdir())


def test_an_empty_index_has_a_size_too(tmp_path: Path) -> None:
    """Nothing was indexed yet, or everything forgotten."""
    size = index_size(indexed_runs(tmp_path / "nowhere"))
    assert (size.n_runs, size.n_attempts, size.n_calls, size.by_skill) == (0, 0, 0, {})


def test_an_index_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """The cache folder is a file: the error names the setting."""
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(WriteError, match=r"paths\.cache"):
        write_index(tmp_path / "cache", stored(tmp_path, [DONE]), ALONE, now=NOW)


def test_calls_are_found_by_their_keys(tmp_path: Path) -> None:
    """Only calls that the run has are found, and none once its file is gone."""
    run = indexed(tmp_path, [DONE, DONE])
    known = dict(run.attempts().select("call_key", "trial_id").iter_rows())
    one = next(iter(known))
    assert run.found([one, "another"]) == {one: known[one]}
    forget(run)
    assert run.found(known) == {}


def test_an_index_that_changes_is_read_anew(tmp_path: Path) -> None:
    """What a process knows of an index counts only as long as its file is the same."""
    first = indexed(tmp_path, [DONE])
    assert len(first.found(first.attempts()["call_key"])) == 1
    write_index(tmp_path / "cache", first.folder, replace(ALONE, retries=3), now=NOW + timedelta(hours=1))
    (again,) = indexed_runs(tmp_path / "cache")
    assert (again.circumstances.retries, again.made_at) == (3, NOW + timedelta(hours=1))


def test_a_large_index_is_searched_too(tmp_path: Path) -> None:
    """Attempts that are too many to be kept in memory are found all the same."""
    run = indexed(tmp_path, [DONE])
    keys = [f"{number:064x}" for number in range(0, 2**30, 2**16)]
    frame = pl.DataFrame({"call_key": keys, "trial_id": keys[::-1], "skill_id": "s"})
    frame.write_parquet(run.path, metadata=pl.read_parquet_metadata(run.path))
    assert run.path.stat().st_size > 16_384
    assert run.found(["absent", keys[5]]) == {keys[5]: keys[-6]}
