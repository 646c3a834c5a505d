"""Rows and records say the same: what was written can be read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from records import open_journal, record_of

from skilleval.domain.attempts import Reply, Status, Usage
from skilleval.domain.records import TrialRecord
from skilleval.results.rows import record_from
from skilleval.results.schema import SCORES, TRIALS, TRIES, Table
from skilleval.results.store import compact, scan_table

FULL = Reply(
    status=Status.COMPLETED,
    output='{"result":3}',
    latency_ms=12.5,
    spawn_ms=1.25,
    stderr="said",
    exit_code=0,
    output_bytes=12,
    output_encoding_errors=1,
    usage=Usage(input_tokens=1, output_tokens=2, total_tokens=3, cost_usd=0.5),
)
FAILED = Reply(
    status=Status.SKILL_ERROR, failure_kind="exit_code", message="died", stdout="noise", exit_code=1
)


def read_back(root: Path, record: TrialRecord) -> TrialRecord:
    """Write a record as a run and make it of its rows again."""
    folder, journal = open_journal(root, "r1")
    journal.write(record)
    journal.close()
    compact(folder)

    def rows(table: Table) -> list[dict[str, object]]:
        return scan_table(folder, table).collect().to_dicts()

    (trial,) = rows(TRIALS)
    return record_from(record.trial, trial, rows(TRIES), rows(SCORES))


@pytest.mark.parametrize("replies", [[FULL], [FAILED, FULL], [FAILED], [Reply(status=Status.SANDBOX_ERROR)]])
def test_a_record_is_read_back_as_it_was_written(tmp_path: Path, replies: list[Reply]) -> None:
    """Tries, scores, times and what is not known survive the tables."""
    record = record_of(replies, 0)
    assert read_back(tmp_path, record) == record


def test_reuse_and_serial_latency_are_read_back(tmp_path: Path) -> None:
    """So are the columns that only some runs fill."""
    first = record_of([FULL], 0)
    scores = tuple(replace(score, reused_from="r0") for score in first.scores)
    record = replace(first, serial_latency_ms=7.5, reused_from="r0", in_flight=2, scores=scores)
    assert read_back(tmp_path, record) == record


def test_the_keys_are_columns(tmp_path: Path) -> None:
    """Call key and score key stand in the tables, null where there is none."""
    record = record_of([FULL], 0)
    read_back(tmp_path, record)
    trials, scores = (scan_table(tmp_path / "r1", table).collect() for table in (TRIALS, SCORES))
    assert trials["call_key"].to_list() == [record.trial.call_key]
    assert scores["score_key"].to_list() == [record.scores[0].score_key]
    keyless = replace(record, trial=replace(record.trial, call_key=""), scores=())
    read_back(tmp_path / "old", keyless)
    assert scan_table(tmp_path / "old" / "r1", TRIALS).collect()["call_key"].to_list() == [None]
