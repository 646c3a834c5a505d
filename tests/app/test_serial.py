"""Latency that is measured one at a time: what each call costs when nothing else runs."""

from __future__ import annotations

import asyncio
import json
import statistics
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counted_skills import Counted, table
from records import record_of
from samples import DONE, planned, task, trials
from small_skills import said, write_skill, write_tasks

from skilleval.adapters.replay import Recorded, ReplayAdapter
from skilleval.app.serial import measure_serially, unmeasured
from skilleval.clock import Clock
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.records import TrialRecord
from skilleval.results.journal import Journal
from skilleval.results.rows import RowBuilder
from skilleval.results.schema import TRIALS
from skilleval.results.store import (
    compact,
    create_run,
    journal_path,
    read_manifest,
    scan_table,
    write_manifest,
)
from skilleval.runner import Runner, RunnerOptions, Staged
from skilleval.scorers.panel import Panel

_BUSY = """import json, sys, time
request = json.load(sys.stdin)
while time.process_time() < 0.08:
    pass
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": 1}}))
"""
_ONCE = """import json, os, sys, tempfile
request = json.load(sys.stdin)
tempfile.mkstemp(prefix="called-", dir=ROOT)
if sum(name.startswith("called-") for name in os.listdir(ROOT)) > 2:
    sys.exit(3)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": 1}}))
"""
_OPTIONS = RunnerOptions(
    concurrency=8, retries=0, backoff_base_s=0.0, backoff_factor=1.0, backoff_max_s=0.0, jitter=0.0
)
_ALL = trials(task(), skills=(planned(adapter="replay"),), repeats=4)


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    """Give a skill whose calls are counted."""
    return Counted(tmp_path)


def test_the_serial_latency_is_that_of_a_skill_alone(tmp_path: Path) -> None:
    """Eight busy skills at once on few cores slow each other down; the second pass does not see that."""
    folder = write_skill(tmp_path, "busy")
    (folder / "skill.py").write_text(_BUSY)
    done = said(
        "eval", folder, "--tasks", write_tasks(tmp_path / "tasks.json"), "--output-dir", tmp_path / "out",
        "--runs", "6", "--concurrency", "8", "runner.latency=serial", "sandbox=none", "runner.cache=off", "--json",
    )  # fmt: skip
    rows = table(done.document, "trials")
    assert rows.height == 12
    concurrent = statistics.median(rows["latency_ms"].to_list())
    serial = statistics.median(rows["serial_latency_ms"].to_list())
    assert 80 <= serial < concurrent
    (row,) = done.document["summary"]
    assert row["p50_ms"] == sorted(rows["serial_latency_ms"].to_list())[5]
    assert "measuring, one at a time: 12/12 trials" in done.err


def test_only_the_time_of_the_second_pass_is_kept(counted: Counted) -> None:
    """Each trial is called once more, and there is one row, one try and one score of it as before."""
    done = counted.evaluated("runner.latency=serial")
    assert counted.n_calls == 4
    assert [table(done.document, name).height for name in ("trials", "tries", "scores")] == [2, 2, 2]
    assert table(done.document, "trials")["serial_latency_ms"].null_count() == 0


def test_attempts_that_were_taken_over_are_not_measured(counted: Counted) -> None:
    """Jobs that differ in scorers call no skill, so they measure nothing either."""
    done = counted.evaluated("-m", "scorer=exact,contains", "runner.latency=serial")
    assert counted.n_calls == 4
    first, second = (table(job, "trials").sort("trial_id") for job in done.document["runs"])
    assert second["serial_latency_ms"].equals(first["serial_latency_ms"])


def test_going_on_with_a_measured_run_calls_nothing(counted: Counted) -> None:
    """What is measured stays as it is."""
    first = counted.evaluated("runner.latency=serial").document
    done = said("eval", "--resume", first["run_dir"], "--json")
    assert done.code == 0, done.err
    assert counted.n_calls == 4


def test_redacted_rows_are_measured_as_they_are_stored(counted: Counted) -> None:
    """The second pass neither marks the marks of the first one nor counts its places again."""
    tasks = [{"id": "a", "inputData": {"text": "redacted"}, "expectedOutput": {"type": "exact", "value": 1}}]
    assert counted.skill
    counted.tasks.write_text(json.dumps(tasks))
    redacting = ("privacy.redact=[redacted]", "runner.cache=off")
    once = counted.evaluated(*redacting).document
    twice = counted.evaluated(*redacting, "runner.latency=serial").document
    for name in ("trials", "scores"):
        columns = ["input", "expected", "output"] if name == "trials" else ["reason", "evidence"]
        assert table(twice, name).select(columns).equals(table(once, name).select(columns))
    assert table(twice, "trials")["input"].to_list() == ['{"text":"[redacted]"}']
    assert table(twice, "trials")["serial_status"].to_list() == ["completed"]
    places = [read_manifest(Path(one["run_dir"]))["privacy"]["n_redacted"] for one in (once, twice)]
    assert places[0] == places[1] > 0


def test_a_call_that_failed_is_told_and_not_made_again(counted: Counted) -> None:
    """A skill that breaks when it is called again has no latency; the report says so, and going on calls nothing."""
    (counted.skill / "skill.py").write_text(_ONCE.replace("ROOT", repr(str(counted.root))))
    first = counted.evaluated("runner.latency=serial", "report.formats=[json]").document
    trials = table(first, "trials")
    assert trials["serial_status"].to_list() == ["skill_error"] * 2
    assert trials["serial_latency_ms"].null_count() == 2
    report = json.loads(Path(first["reports"]["json"]).read_text())
    assert any(
        "2 of 2 measuring calls did not complete (2 skill_error)" in one
        for one in report["provenance"]["warnings"]
    )
    marks = len(list(counted.root.glob("called-*")))
    done = said("eval", "--resume", first["run_dir"], "--json")
    assert "nothing is left to run" in done.err
    assert (marks, len(list(counted.root.glob("called-*")))) == (4, 4)


def test_what_is_left_to_measure_is_said(counted: Counted) -> None:
    """A run that was killed in its second pass says how many calls are to come, before it is gone on with as well."""
    first = counted.evaluated("runner.latency=serial", "runner.cache=off").document
    folder = Path(first["run_dir"])
    part = folder / "trials" / "part-00001.parquet"
    rows = pq.read_table(part)
    for name in ("serial_latency_ms", "serial_status"):
        at = rows.schema.get_field_index(name)
        field = rows.schema.field(at)
        rows = rows.set_column(at, field, pa.nulls(rows.num_rows, field.type))
    pq.write_table(rows, part)
    write_manifest(folder, {**read_manifest(folder), "ended_at": None})
    dry = said("eval", "--resume", folder, "--dry-run", "--json").document
    assert (dry["n_to_run"], dry["n_to_measure"]) == (0, 2)
    done = said("eval", "--resume", folder, "--json")
    assert "all 2 trials are done; to measure: 2" in done.err
    assert counted.n_calls == 6


def stored(root: Path, *records: TrialRecord) -> Path:
    """Write a run of some records."""
    folder = create_run(root, "r1")
    journal = Journal(journal_path(folder), RowBuilder(run_id="r1", sweep_id=None), Clock())
    for record in records:
        journal.write(record)
    journal.close()
    compact(folder)
    return folder


def test_only_completed_calls_of_this_run_are_measured(tmp_path: Path) -> None:
    """A time-out has its limit, a measured one its time, and what was taken over is not this run's."""
    folder = stored(
        tmp_path,
        record_of([DONE], 0),
        record_of([Reply(status=Status.TIMEOUT)], 1),
        replace(record_of([DONE], 2), serial_latency_ms=3.0),
        replace(record_of([DONE], 3), reused_from="r0"),
    )
    assert list(unmeasured(folder, _ALL)) == [_ALL[0].trial_id]


class Watching:
    """An observer that notes the passes and stops the work after some trials."""

    def __init__(self, n: int) -> None:
        self.begun: list[tuple[str, int]] = []
        self._left = n

    def begin(self, title: str, total: int) -> None:
        """Note the pass."""
        self.begun.append((title, total))

    def __call__(self, record: TrialRecord) -> None:
        """Stop when it is enough."""
        assert record.serial_latency_ms == 5.0
        self._left -= 1
        if self._left == 0:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()


def test_stopping_keeps_what_is_measured(tmp_path: Path) -> None:
    """After Ctrl-C two of four are measured, and two are left for the next time."""
    folder = stored(tmp_path, *(record_of([DONE], repeat) for repeat in range(4)))
    quick = Reply(status=Status.COMPLETED, output="9", latency_ms=5.0)
    journal = Journal(journal_path(folder), RowBuilder(run_id="r1", sweep_id=None), Clock())
    watching = Watching(2)
    runner = Runner(
        adapters={"replay": ReplayAdapter.of([Recorded(task_id="t1", reply=quick)])},
        judge=Panel({}),
        sink=journal,
        options=_OPTIONS,
        clock=Clock(),
        observe=watching,
    )
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(measure_serially(runner, folder, _ALL))
    journal.close()
    compact(folder)
    assert isinstance(watching, Staged)
    assert watching.begun == [("measuring, one at a time", 4)]
    assert len(unmeasured(folder, _ALL)) == 2
    rows = scan_table(folder, TRIALS).collect()
    assert (rows.height, rows["output"].unique().to_list()) == (4, [DONE.output])
