"""A trial that runs again takes the place of its former rows, whatever is killed in between."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from records import record_of

from skilleval.clock import Clock
from skilleval.domain.attempts import Reply, Status
from skilleval.errors import ResultsError
from skilleval.results.journal import CHUNK_BYTES, Journal
from skilleval.results.locks import RunLock
from skilleval.results.rows import RowBuilder
from skilleval.results.schema import TABLES
from skilleval.results.store import compact, create_run, journal_path, read_statuses, scan_table

RIGHT = Reply(status=Status.COMPLETED, output='{"result":3}', latency_ms=1.0)
DOWN = Reply(status=Status.PROVIDER_ERROR, failure_kind="http_503")
NAMES = tuple(TABLES)


def add(folder: Path, replies: Sequence[tuple[int, Sequence[Reply]]]) -> Path:
    """Write a journal: pairs of a repeat and how its tries ended."""
    journal = Journal(journal_path(folder), RowBuilder(run_id="r1", sweep_id=None), Clock())
    for repeat, tries in replies:
        journal.write(record_of(tries, repeat))
    journal.close()
    return journal.path


def statuses(folder: Path) -> list[str]:
    """Give the status of each trial in the order of repeats, as anybody reads it who scans the files."""
    trials = pl.scan_parquet(folder / "trials" / "*.parquet").sort("repeat")
    return [str(one) for one in trials.collect()["status"]]


def heights(folder: Path) -> list[int]:
    """Count the rows of each table."""
    return [pl.scan_parquet(folder / name / "*.parquet").collect().height for name in NAMES]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a run of three trials, the middle one lost to infrastructure after a retry."""
    made = create_run(tmp_path, "r1")
    add(made, [(0, [RIGHT]), (1, [DOWN, DOWN]), (2, [RIGHT])])
    compact(made)
    return made


def test_a_trial_that_ran_again_supersedes_its_rows(folder: Path) -> None:
    """One row a trial: tries and scores of the former attempt are gone with it."""
    assert heights(folder) == [3, 4, 3, 0]
    add(folder, [(1, [RIGHT])])
    compact(folder)
    assert statuses(folder) == ["completed"] * 3
    assert heights(folder) == [3, 3, 3, 0]
    assert scan_table(folder, TABLES["scores"]).collect()["passed"].to_list() == [True] * 3


def test_the_last_line_of_a_trial_counts(tmp_path: Path) -> None:
    """Within one journal too, also where both lines are in one chunk, or chunks apart."""
    folder = create_run(tmp_path, "r1")
    large = Reply(status=Status.COMPLETED, output=f'"{"x" * (CHUNK_BYTES // 3)}"')
    lines = [(0, [DOWN, DOWN]), (0, [RIGHT]), (1, [DOWN]), *((n, [large]) for n in range(2, 6)), (1, [RIGHT])]
    journal = add(folder, lines)
    assert journal.stat().st_size > CHUNK_BYTES
    assert read_statuses(folder).keys() == {record_of([RIGHT], n).trial.trial_id for n in range(6)}
    compact(folder)
    assert statuses(folder) == ["completed"] * 6
    assert heights(folder) == [6, 6, 6, 0]


@pytest.mark.parametrize("n_renamed", range(9))
def test_a_kill_between_any_two_renames_is_made_good(folder: Path, tmp_path: Path, n_renamed: int) -> None:
    """Tables half replaced, journal still there: nobody sees a trial twice, and the next compaction ends it."""
    add(folder, [(1, [RIGHT]), (3, [RIGHT])])
    done = tmp_path / "done"
    shutil.copytree(folder, done)
    compact(done)
    for part in ("part-00000.parquet", "part-00001.parquet"):
        for name in reversed(NAMES):
            if n_renamed > 0:
                shutil.copy(done / name / part, folder / name / part)
            n_renamed -= 1
    (folder / "trials" / ".part-00001.parquet.99999999.tmp").write_text("half of it")
    assert len(statuses(folder)) == len({*scan_table(folder, TABLES["trials"]).collect()["trial_id"]})
    assert sorted(read_statuses(folder).values()) == ["completed"] * 4
    compact(folder)
    assert statuses(folder) == ["completed"] * 4
    for name in NAMES:
        assert scan_table(folder, TABLES[name]).collect().equals(scan_table(done, TABLES[name]).collect())
    assert not [path for path in folder.rglob("*") if path.name.endswith(".tmp") or "journal" in path.name]


def test_who_holds_the_lock_clears_up_after_the_dead(folder: Path) -> None:
    """What a killed process left half-written is removed; what a living one is writing stays."""
    dead = [folder / ".manifest.json.99999999.tmp", folder / "scores" / ".part-00000.parquet.99999999.tmp"]
    alive = folder / f".report.html.{os.getppid()}.tmp"
    for path in (*dead, alive):
        path.write_text("half of it")
    compact(folder)
    assert all(path.exists() for path in dead)
    with RunLock(folder) as lock:
        compact(folder, lock=lock)
    assert not any(path.exists() for path in dead)
    assert alive.exists()


def test_statuses_are_read_without_writing(folder: Path) -> None:
    """Tables and journals are read together, and both stay as they are."""
    add(folder, [(1, [RIGHT]), (3, [DOWN])])
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    found = read_statuses(folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    ids = [record_of([RIGHT], repeat).trial.trial_id for repeat in range(4)]
    assert [found[one] for one in ids] == ["completed", "completed", "completed", "provider_error"]


def test_an_empty_journal_is_no_trial(folder: Path) -> None:
    """A process that was killed before its first trial ended leaves nothing to worry about."""
    journal_path(folder).touch()
    compact(folder)
    assert heights(folder) == [3, 4, 3, 0]
    assert not list(folder.glob("journal-*"))


def test_read_only_parts_are_replaced(folder: Path) -> None:
    """Protection of the single files does not keep rows twice."""
    for part in folder.rglob("part-*"):
        part.chmod(0o444)
    add(folder, [(1, [RIGHT])])
    compact(folder)
    assert heights(folder) == [3, 3, 3, 0]


def test_a_broken_part_is_named_and_nothing_lost(folder: Path) -> None:
    """A table that cannot be read is an error with its file, and the journal stays."""
    part = folder / "trials" / "part-00000.parquet"
    part.write_bytes(b"PAR1 no more")
    with pytest.raises(ResultsError, match=r"part-00000\.parquet"):
        read_statuses(folder)
    journal = add(folder, [(1, [RIGHT])])
    with pytest.raises(ResultsError, match="cannot be read"):
        compact(folder)
    assert journal.exists()


def test_no_room_for_the_tables_keeps_journal_and_former_rows(folder: Path) -> None:
    """A full disk is told; with room again nothing is missing."""
    add(folder, [(1, [RIGHT])])
    program = (
        "import resource, sys; from pathlib import Path; from skilleval.errors import WriteError;"
        "from skilleval.results.store import compact;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n    compact(Path(sys.argv[1]))\n"
        "except WriteError as error:\n    print(error); sys.exit(7)"
    )
    command = [sys.executable, "-c", program, str(folder)]
    done = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    assert "the journal is kept" in done.stdout
    assert statuses(folder) == ["completed", "provider_error", "completed"]
    assert not list(folder.rglob("*.tmp"))
    compact(folder)
    assert statuses(folder) == ["completed"] * 3


def test_a_journal_that_was_removed_is_noticed(tmp_path: Path) -> None:
    """Writing into a file that is gone would lose trials without a word."""
    folder = create_run(tmp_path, "r1")
    journal = Journal(journal_path(folder), RowBuilder(run_id="r1", sweep_id=None), Clock())
    journal.write(record_of([RIGHT], 0))
    shutil.rmtree(folder)
    with pytest.raises(ResultsError, match="was removed while it was written"):
        journal.write(record_of([RIGHT], 1))
    with pytest.raises(ResultsError, match="was removed while it was written"):
        journal.close()
    assert not folder.exists()
