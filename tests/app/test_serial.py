"""Latency that is measured one at a time: what each call costs when nothing else runs."""

from __future__ import annotations

import asyncio
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from counted_skills import Counted, table
from records import record_of
from samples import DONE, planned, task, trials
from small_skills import said, write_skill, write_tasks

from skilleval.adapters.replay import Recorded, ReplayAdapter
from skilleval.app.serial import measure_serially, unmeasured
from skilleval.clock import Clock
from skilleval.domain import Reply, Status, TrialRecord
from skilleval.results.journal import Journal
from skilleval.results.rows import RowBuilder
from skilleval.results.schema import TRIALS
from skilleval.results.store import compact, create_run, journal_path, scan_table
from skilleval.runner import Runner, RunnerOptions, Staged
from skilleval.scorers.panel import Panel

_BUSY = """import json, sys, time
request = json.load(sys.stdin)
while time.process_time() < 0.08:
    pass
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
