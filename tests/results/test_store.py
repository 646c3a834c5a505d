"""The store keeps every finished trial, through crashes too, and its tables keep the contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from records import open_journal, record_of, written
from results.conftest import Warned

from skilleval.clock import Clock
from skilleval.domain.attempts import Reply, Status
from skilleval.errors import ResultsError, WriteError
from skilleval.results.find import find_run, runs
from skilleval.results.journal import Journal, read_chunks
from skilleval.results.locks import RunLock
from skilleval.results.rows import RowBuilder
from skilleval.results.schema import (
    SCHEMA_VERSION,
    SCORES,
    TABLES,
    TRIALS,
    TRIES,
    checked,
    polars_schema,
)
from skilleval.results.store import (
    compact,
    create_run,
    is_live,
    journal_path,
    read_manifest,
    remove_stillborn,
    scan_table,
    write_manifest,
    write_text,
)

DONE = Reply(status=Status.COMPLETED, output='{"result":3}', latency_ms=1.5)


def table(folder: Path, name: str) -> pl.DataFrame:
    """Read one table of a run."""
    return scan_table(folder, TABLES[name]).collect()


def test_tables_have_exactly_the_documented_columns(tmp_path: Path) -> None:
    """Names, order and types are those of the schema, and its version is in the file."""
    folder = written(tmp_path, [[DONE]])
    for one in TABLES.values():
        assert scan_table(folder, one).collect_schema() == polars_schema(one)
        (part,) = (folder / one.name).glob("*.parquet")
        metadata = pq.read_schema(part).metadata
        assert metadata[b"skilleval.schema_version"].decode() == SCHEMA_VERSION


def test_a_trial_takes_its_attempt_from_the_last_try(tmp_path: Path) -> None:
    """Retries are rows of `tries`; the trial shows the last one, begun when the first began."""
    failed = Reply(status=Status.SKILL_ERROR, failure_kind="exit_code", exit_code=1, latency_ms=9.0)
    folder = written(tmp_path, [[failed, DONE], [DONE]])
    trials, tries = table(folder, "trials"), table(folder, "tries")
    assert trials["status"].to_list() == ["completed", "completed"]
    assert trials["n_tries"].to_list() == [2, 1]
    assert trials["latency_ms"].to_list() == [1.5, 1.5]
    assert tries["status"].to_list() == ["skill_error", "completed", "completed"]
    assert tries["exit_code"].to_list() == [1, None, None]
    assert trials["started_at"][0] == tries["started_at"][0] < tries["started_at"][1]


def test_c38_outputs_of_any_type_are_kept_as_json_text(tmp_path: Path) -> None:
    """Null, numbers, text and objects in one column; a run of nulls and a normal one can be joined."""
    outputs = [None, "null", "1", "1.5", '"text"', '{"a":[1,null]}', "true"]
    mixed = written(tmp_path / "a", [[Reply(status=Status.COMPLETED, output=one)] for one in outputs])
    nulls = written(tmp_path / "b", [[Reply(status=Status.COMPLETED, output=None)]] * 3)
    assert table(mixed, "trials")["output"].to_list() == outputs
    joined = pl.concat([scan_table(mixed, TRIALS), scan_table(nulls, TRIALS)]).collect()
    assert joined.height == 10


def test_hostile_text_is_kept(tmp_path: Path) -> None:
    """Quotes, line breaks, NUL, line separators, other scripts and lone surrogates never lose a trial."""
    text = 'a"b\\c\n\r\t\x00\u2028\u2029里斯本🙂'
    folder = written(tmp_path, [[Reply(status=Status.COMPLETED, output=json.dumps(text), stderr=text)]])
    assert table(folder, "trials")["stderr"].item() == text
    lone = written(tmp_path, [[Reply(status=Status.COMPLETED, stderr="\ud800 end")]], run_id="r2")
    assert table(lone, "trials")["stderr"].item() == "? end"


def test_passed_is_null_when_ungraded(tmp_path: Path) -> None:
    """An ungraded score is null in score and passed."""
    folder = written(tmp_path, [[Reply(status=Status.SANDBOX_ERROR)]])
    row = table(folder, "scores").row(0, named=True)
    assert (row["verdict"], row["score"], row["passed"]) == ("ungraded", None, None)


def test_an_empty_run_has_empty_tables(tmp_path: Path) -> None:
    """A run that was stopped before its first trial can be read."""
    folder = written(tmp_path, [])
    assert [table(folder, name).height for name in TABLES] == [0, 0, 0, 0]


def test_a_large_run_is_compacted_in_chunks(tmp_path: Path) -> None:
    """Lines longer than a read block, and more of them than fit one, all arrive in order."""
    replies = [
        [Reply(status=Status.COMPLETED, output=json.dumps("x" * 300_000 + str(i)))] for i in range(100)
    ]
    folder = written(tmp_path, replies)
    outputs = table(folder, "trials")["output"]
    assert [json.loads(one)[300_000:] for one in outputs] == [str(i) for i in range(100)]


@pytest.mark.parametrize("tail", [b'{"trial": {"tri', b"\x00" * 5000, b"\xff\xfe garbage", b"x" * 200_000])
def test_c57_a_torn_last_line_is_dropped_with_a_warning(tmp_path: Path, tail: bytes, warned: Warned) -> None:
    """What a crash cut off is left out and told; every whole line is kept."""
    folder = written(tmp_path, [[DONE]] * 3, compacted=False)
    (journal,) = folder.glob("journal-*.jsonl")
    journal.write_bytes(journal.read_bytes() + tail)
    with warned() as messages:
        compact(folder)
    assert table(folder, "trials").height == 3
    assert list(folder.glob("journal-*")) == []
    assert [f"({len(tail)} bytes)" in message for message in messages] == [True]


@pytest.mark.parametrize(
    "damage",
    [
        b'{"trial": {"tri',
        b"[1]",
        b"null",
        b"{}",
        b'{"trial": {}}',
        b"\x00\x00",
        b"\xff",
        b'{"trial":{"trial_id":"\xff"}}',
    ],
)
def test_damage_inside_a_journal_is_an_error(tmp_path: Path, damage: bytes) -> None:
    """A broken line that is not the last is never passed over in silence; it is named, and the file is kept."""
    folder = written(tmp_path, [[DONE]] * 3, compacted=False)
    (journal,) = folder.glob("journal-*.jsonl")
    first, *others = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(first + damage + b"\n" + b"".join(others))
    with pytest.raises(ResultsError, match=r"journal-00000\.jsonl.* cannot be read") as caught:
        compact(folder)
    if b"trial_id" not in damage:  # JSON, but not UTF-8: found only once all lines are read
        assert "journal-00000.jsonl:2 " in caught.value.message
    assert journal.exists()
    assert not list(folder.glob("*/.part-*"))


def test_compacting_twice_changes_nothing(tmp_path: Path) -> None:
    """A crash between writing the tables and removing the journal doubles no row."""
    folder = written(tmp_path, [[DONE]] * 3, compacted=False)
    (journal,) = folder.glob("journal-*.jsonl")
    kept = journal.read_bytes()
    compact(folder)
    journal.write_bytes(kept)
    compact(folder)
    assert table(folder, "trials").height == 3


def test_a_killed_process_loses_no_finished_trial(tmp_path: Path) -> None:
    """Trials written before SIGKILL are read back."""
    program = (
        "import os, signal, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from records import DONE, open_journal, record_of;"
        "folder, journal = open_journal(Path(sys.argv[1]), 'r1');"
        "[journal.write(record_of([DONE], i)) for i in range(50)];"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    tests = str(Path(__file__).parent.parent)
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path), tests], check=False, timeout=60)
    assert done.returncode == -9
    compact(tmp_path / "r1")
    assert table(tmp_path / "r1", "trials").height == 50


def test_readers_leave_a_run_alone_that_somebody_writes(tmp_path: Path) -> None:
    """While a run is locked nobody else makes its tables; who holds the lock does."""
    folder = written(tmp_path, [[DONE]], compacted=False)
    with RunLock(folder) as lock:
        compact(folder)
        assert is_live(folder)
        assert list(folder.glob("journal-*"))
        compact(folder, lock=lock)
        assert not is_live(folder)
    assert table(folder, "trials").height == 1


def test_no_journal_is_written_on(tmp_path: Path) -> None:
    """Each session has a journal of its own: nothing is appended behind a line that was cut off."""
    folder, journal = open_journal(tmp_path, "r1")
    with pytest.raises(ResultsError, match="exists already"):
        Journal(journal.path, RowBuilder(run_id="r1", sweep_id=None), Clock())
    assert journal_path(folder).name == "journal-00001.jsonl"
    journal.close()


def test_write_times_are_joined_in_order(tmp_path: Path) -> None:
    """The time to make a row durable is a column of its trial."""
    folder = written(tmp_path, [[DONE]] * 3, compacted=False)
    compact(folder, write_ms=array("d", [0.1, 0.2, 0.3]))
    assert table(folder, "trials")["write_ms"].to_list() == [0.1, 0.2, 0.3]


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    """The folder of a run is made once."""
    create_run(tmp_path, "r1")
    with pytest.raises(ResultsError, match="exists already"):
        create_run(tmp_path, "r1")


def test_es25_a_database_path_is_refused_with_a_hint(tmp_path: Path) -> None:
    """The peer's habit of a `.db` file is answered with what to write instead."""
    with pytest.raises(ResultsError, match=r"--store .*results") as caught:
        create_run(tmp_path / "results.db", "r1")
    assert caught.value.exit_code == 2


def test_an_unwritable_folder_is_a_clear_error(tmp_path: Path) -> None:
    """A file where the folder should be is named, with what to do."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(ResultsError, match="--output-dir"):
        create_run(tmp_path / "file", "r1")


def test_texts_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """Nothing is left beside a written file, and an unencodable text leaves the old one."""
    path = tmp_path / "report.md"
    write_text(path, "one")
    write_text(path, "two")
    assert path.read_text() == "two"
    assert [one.name for one in tmp_path.iterdir()] == ["report.md"]


def test_the_manifest_round_trips_and_refuses_nan(tmp_path: Path) -> None:
    """A manifest is strict JSON."""
    manifest = {"run_id": "r1", "config": {}, "benchmark": {}, "n_planned": 1, "ü": None}
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest
    with pytest.raises(ValueError, match="JSON compliant"):
        write_manifest(tmp_path, {"x": float("nan")})


@pytest.mark.parametrize("content", ["", "[1]", "{", "{}", '{"run_id": "r"}'])
def test_a_broken_manifest_is_named(tmp_path: Path, content: str) -> None:
    """The file is named in the error."""
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(ResultsError, match=r"manifest\.json"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("version", ["4", "20", "two"])
def test_a_newer_schema_is_refused(tmp_path: Path, version: str) -> None:
    """Rows that a newer skilleval wrote are not guessed at, whether the manifest or a table says so."""
    folder = written(tmp_path, [[DONE]])
    manifest = {"run_id": "r1", "config": {}, "benchmark": {}, "n_planned": 1, "schema_version": version}
    write_manifest(folder, manifest)
    with pytest.raises(ResultsError, match=f"schema version {version}; this skilleval reads up to 3"):
        read_manifest(folder)
    _marked(folder / "trials" / "part-00000.parquet", version, without=())
    with pytest.raises(ResultsError, match=f"schema version {version}"):
        scan_table(folder, TRIALS)


def test_runs_of_schema_version_1_are_read(tmp_path: Path) -> None:
    """Columns that came later are null in old rows, and every old trial had a process of its own."""
    folder = written(tmp_path, [[DONE], [DONE]])
    later = ("call_key", "isolation", "in_flight", "reused_from", "serial_latency_ms", "score_key")
    for name in TABLES:
        _marked(folder / name / "part-00000.parquet", "1", without=later)
    for one in TABLES.values():
        assert scan_table(folder, one).collect_schema() == polars_schema(one)
    trials = table(folder, "trials")
    assert trials["isolation"].to_list() == ["trial", "trial"]
    assert (
        trials.select(name for name in later if name not in {"isolation", "score_key"}).null_count().row(0)
        == (2,) * 4
    )
    assert table(folder, "scores")["score_key"].null_count() == 2


def _marked(part: Path, version: str, *, without: Sequence[str]) -> None:
    """Rewrite a part as another version of the schema."""
    rows = pq.read_table(part)
    kept = rows.select([name for name in rows.column_names if name not in without])
    metadata = {**(rows.schema.metadata or {}), b"skilleval.schema_version": version.encode()}
    pq.write_table(kept.replace_schema_metadata(metadata), part)


def test_rows_without_their_manifest_are_named(tmp_path: Path) -> None:
    """A folder with a journal but no manifest is told as what it is, not looked for elsewhere."""
    folder = written(tmp_path, [[DONE]], compacted=False)
    with pytest.raises(ResultsError, match=r"journal-00000\.jsonl.*no manifest\.json"):
        find_run(str(folder), tmp_path)


def test_runs_are_found_by_id_start_of_id_and_latest(tmp_path: Path) -> None:
    """The newest run is the last by its UTC start; an ambiguous start of an id is refused."""
    for run_id in ("20260101T000000Z-aa", "20260102T000000Z-bb", "20270101T000000Z-cc"):
        write_manifest(tmp_path / "exp" / run_id, {"run_id": run_id})
    assert [one.name[-2:] for one in runs(tmp_path)] == ["aa", "bb", "cc"]
    assert find_run("latest", tmp_path).name.endswith("cc")
    assert find_run("2027", tmp_path).name.endswith("cc")
    assert find_run("bb", tmp_path).name.endswith("bb")
    assert find_run(str(tmp_path / "exp" / "20260101T000000Z-aa"), tmp_path / "none").name.endswith("aa")
    with pytest.raises(ResultsError, match="2 runs"):
        find_run("2026", tmp_path)
    with pytest.raises(ResultsError, match="no run"):
        find_run("zzz", tmp_path)


def test_no_stored_run_says_how_to_get_one(tmp_path: Path) -> None:
    """An empty store is answered with a command."""
    with pytest.raises(ResultsError, match="skilleval demo"):
        find_run("latest", tmp_path)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("score", float("nan")),
        ("score", 1.1),
        ("score", -0.1),
        ("verdict", "maybe"),
        ("weight", float("inf")),
    ],
)
def test_c37_a_value_outside_the_contract_is_refused_on_write(column: str, value: Any) -> None:
    """NaN, infinity, numbers out of range and unknown words never reach a table."""
    row = dict.fromkeys(SCORES.names, "x") | {
        "weight": 1.0,
        "required": True,
        "score": 1.0,
        "verdict": "passed",
        "passed": True,
    }
    good = pl.DataFrame([row], schema=polars_schema(SCORES))
    assert checked(SCORES, good).height == 1
    with pytest.raises(ResultsError, match=f"scores breaks its contract: {column}"):
        checked(SCORES, good.with_columns(pl.lit(value).alias(column)))


def test_null_is_refused_where_a_value_is_promised() -> None:
    """A column that is not nullable never holds null."""
    row: dict[str, Any] = dict.fromkeys(TRIES.names)
    with pytest.raises(ResultsError, match="tries breaks its contract"):
        checked(TRIES, pl.DataFrame([row], schema=polars_schema(TRIES)))


def test_read_chunks_yields_whole_lines(tmp_path: Path) -> None:
    """A chunk never ends inside a line, whatever its size."""
    path = tmp_path / "lines"
    path.write_bytes(b"".join(b"x" * n + b"\n" for n in range(1, 50)) + b"torn")
    for size in (1, 7, 64, 10_000):
        chunks = list(read_chunks(path, size))
        assert all(chunk.endswith(b"\n") for chunk in chunks)
        assert b"".join(chunks) == path.read_bytes().removesuffix(b"torn")


def test_a_full_disk_keeps_what_was_finished(tmp_path: Path) -> None:
    """A line that does not fit is taken back, so that every line in the file is whole."""
    program = (
        "import resource, signal, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from records import DONE, open_journal, record_of; from skilleval.errors import ResultsError;"
        "folder, journal = open_journal(Path(sys.argv[1]), 'r1');"
        "journal.write(record_of([DONE], 0)); size = journal.path.stat().st_size;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, size + 100));\n"
        "try:\n    journal.write(record_of([DONE], 1))\n"
        "except ResultsError as error:\n    print(error); sys.exit(7)"
    )
    tests = str(Path(__file__).parent.parent)
    command = [sys.executable, "-c", program, str(tmp_path), tests]
    done = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    assert "what was finished before is kept" in done.stdout
    compact(tmp_path / "r1")
    assert table(tmp_path / "r1", "trials").height == 1
    assert os.listdir(tmp_path) == ["r1"]  # noqa: PTH208 - names only


def test_a_folder_without_any_run_is_removed_later(tmp_path: Path) -> None:
    """What a kill left between folder and manifest goes; what is young, in use, named otherwise or holds rows stays."""

    def born(name: str, *files: str, age_s: float = 7200.0) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        for file in files:
            (folder / file).write_text("")
        os.utime(folder, (time.time() - age_s,) * 2)
        return folder

    dead = born("20261101T080000Z-000001", ".lock", ".manifest.json.77.tmp")
    empty = born("20261101T080000Z-000002")
    stays = [
        born("20261101T080000Z-000003", ".lock", age_s=1.0),
        born("20261101T080000Z-000004", ".lock", "journal-00000.jsonl"),
        born("mine", ".lock"),
        born("20261101T080000Z-000005", ".lock"),
    ]
    with RunLock(stays[-1]):
        assert remove_stillborn(tmp_path) == [dead, empty]
    assert sorted(tmp_path.iterdir()) == sorted(stays)
    assert remove_stillborn(tmp_path / "nowhere") == []


@pytest.mark.parametrize("may_go_on", [True, False])
def test_only_a_run_with_a_plan_is_said_to_go_on(tmp_path: Path, *, may_go_on: bool) -> None:
    """What was scored from stored attempts has none: after a failure to write it starts again."""
    journal = Journal(
        tmp_path / "journal-00000.jsonl",
        RowBuilder(run_id="r1", sweep_id=None),
        Clock(),
        may_go_on=may_go_on,
    )
    _end_of_device(journal)
    with pytest.raises(WriteError) as caught:
        journal.write(record_of([DONE], 0))
    assert ("--resume" in caught.value.hint) is may_go_on


def _end_of_device(journal: Journal) -> None:
    """Let the journal write to a device that is always full."""
    opened = {link.name: link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()}
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, next(int(name) for name, path in opened.items() if path == journal.path))
    os.close(full)
