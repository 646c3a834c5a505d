"""Going on with a stored run gives what an undisturbed one gives, and runs nothing twice."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cases import case_input
from polars.testing import assert_frame_equal
from recorded_runs import BROKEN, DOWN, NULL, RIGHT, TIMEOUT, WRONG, Workload, write_workload
from samples import task, trials

from skilleval.app.evaluate import Outcome, evaluate
from skilleval.app.resume import Left, check_plan, find_stored, is_unfinished, left_of, what_is_left
from skilleval.domain.records import TrialRecord
from skilleval.domain.trials import Trial
from skilleval.errors import ResultsError, UsageError
from skilleval.outcome import ExitCode
from skilleval.results.locks import RunLock
from skilleval.results.schema import SCHEMA_VERSION, TABLES
from skilleval.results.store import write_manifest

ENDINGS = {"t1": RIGHT, "t2": WRONG, "t3": NULL, "t4": TIMEOUT, "t5": BROKEN, "t6": DOWN, "t7": RIGHT}
RESUME = "runner.resume=true"
ONE = ("runner.concurrency=1",)  # with more workers each of them finishes what it has begun
VOLATILE = {"run_id", "started_at", "ended_at", "queue_ms", "scoring_ms", "write_ms", "in_flight"}


class StopAfter:
    """An observer that stops the run after some trials, as Ctrl-C does, and notes those it sees."""

    def __init__(self, n_trials: int | None = None) -> None:
        self.seen: list[str] = []
        self._n_trials = n_trials

    def __call__(self, record: TrialRecord) -> None:
        """Note one."""
        self.seen.append(record.trial.task.id)
        if self._n_trials is not None and len(self.seen) >= self._n_trials:
            raise asyncio.CancelledError


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """Give seven tasks, one an ending."""
    return write_workload(tmp_path, ENDINGS)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """Give a run that was stopped after two trials, and that no test changes."""
    workload = write_workload(tmp_path_factory.mktemp("stopped"), ENDINGS)
    evaluate(workload.prepared(*ONE), observe=StopAfter(2))
    return workload


def session(workload: Workload, *overrides: str, stop_after: int | None = None) -> tuple[Outcome, list[str]]:
    """Run or go on with the workload; give its outcome and the tasks that really ran."""
    observe = StopAfter(stop_after)
    return evaluate(workload.prepared(RESUME, *ONE, *overrides), observe=observe), observe.seen


def rows(folder: Path) -> dict[str, pl.DataFrame]:
    """Read all tables but what differs between any two runs, in one order."""
    tables = {}
    for name, table in TABLES.items():
        columns = [column for column in table.names if column not in VOLATILE]
        frame = pl.scan_parquet(folder / name / "*.parquet").select(columns).collect()
        tables[name] = frame.sort([column for column in table.key if column not in VOLATILE])
    return tables


def figures(outcome: Outcome) -> Any:
    """Give what the report says, without when it was."""
    report = json.loads(outcome.reports["json"].read_text("utf-8"))
    return {key: value for key, value in report.items() if key not in {"run", "provenance"}}


def same(one: Any, other: Any) -> bool:
    """Compare JSON values; sums depend on the order of rows in their last bit."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12)
    return bool(one == other)


@pytest.mark.parametrize("stops", [(1,), (3, 1, 2), (13, 1)])
def test_an_interrupted_and_resumed_run_equals_an_undisturbed_one(
    workload: Workload, stops: tuple[int, ...]
) -> None:
    """Row by row and figure by figure, null included, however often and wherever it was interrupted."""
    settings = ("scorer=[exact,contains]", "runner.repeats=2", "runner.concurrency=2")
    whole = evaluate(workload.prepared(*settings, out="whole"), observe=StopAfter())
    for stop_after in stops:
        outcome, _ = session(workload, *settings, stop_after=stop_after)
        assert outcome.exit_code in {ExitCode.INTERRUPTED, ExitCode.INFRASTRUCTURE}
    outcome, _ = session(workload, *settings)
    assert outcome.exit_code == whole.exit_code == ExitCode.INFRASTRUCTURE
    for ours, theirs in zip(rows(outcome.folder).values(), rows(whole.folder).values(), strict=True):
        assert_frame_equal(ours, theirs)
    assert same(figures(outcome), figures(whole))


def test_only_what_is_missing_or_lost_to_infrastructure_runs(workload: Workload) -> None:
    """Time-outs and errors of the skill are its results; an outage of the provider is not."""
    _, first = session(workload, stop_after=5)
    assert first == ["t1", "t2", "t3", "t4", "t5"]
    _, second = session(workload)
    assert second == ["t6", "t7"]
    workload.record(ENDINGS | {"t6": RIGHT})
    outcome, third = session(workload)
    assert third == ["t6"]
    assert outcome.statuses == {"completed": 5, "skill_error": 1, "timeout": 1}
    resumes = workload.manifest()["resumes"]
    assert [(one["n_kept"], one["n_missing"], one["n_again"]) for one in resumes] == [
        (5, 2, {}),
        (6, 0, {"provider_error": 1}),
    ]
    assert all(one["stopped_at"] < one["started_at"] < one["ended_at"] for one in resumes)
    assert resumes[-1]["ended_at"] == workload.manifest()["ended_at"]


def test_c57_the_missing_trial_is_found_by_its_id() -> None:
    """A journal that lacks the second of four trials and tore the fourth: exactly the second runs again."""
    case = case_input("C57")
    by_number = dict(zip(case["expected_ids"], trials(task(), repeats=4), strict=True))
    whole = [json.loads(line) for line in case["jsonl"].splitlines() if line.endswith("}")]
    stored = {by_number[one["id"]].trial_id: "completed" for one in whole}
    left = what_is_left(tuple(by_number.values()), stored)
    assert left.pending == (by_number[2],)
    assert (left.n_kept, left.n_missing) == (3, 1)


@pytest.mark.parametrize(
    ("stored", "line"),
    [
        ({}, "0 of 3 trials are kept; to run: 3 missing"),
        ({0: "completed", 1: "blocked"}, "1 of 3 trials are kept; to run: 1 missing, 1 blocked"),
        ({0: "timeout", 1: "skill_error", 2: "completed"}, "all 3 trials are done; nothing is left to run"),
    ],
)
def test_what_is_left_reads_well(stored: Mapping[int, str], line: str) -> None:
    """What is kept, missing and run again, in one line."""
    planned = trials(task(), repeats=3)
    left = what_is_left(planned, {planned[n].trial_id: status for n, status in stored.items()})
    assert str(left) == line
    assert isinstance(left, Left)


def test_without_an_unfinished_run_of_the_plan_a_new_one_starts(workload: Workload) -> None:
    """A finished run is not touched, nor one of another plan; what is asked for decides, not what is newest."""
    workload.record(dict.fromkeys(ENDINGS, RIGHT))
    done, _ = session(workload)
    again, seen = session(workload)
    assert again.folder != done.folder
    assert len(seen) == 7
    stopped, _ = session(workload, "runner.seed=5", stop_after=3)
    other, seen = session(workload, "runner.seed=6")
    assert stopped.folder != other.folder
    assert len(seen) == 7
    resumed, seen = session(workload, "runner.seed=5", "runner.retries=3", "gate.min_completion=0.1")
    assert (resumed.folder, len(seen)) == (stopped.folder, 4)


def test_settings_that_make_no_other_plan_may_change(workload: Workload) -> None:
    """The manifest then holds those that are in force, and the report goes by them."""
    session(workload, stop_after=3)
    outcome, _ = session(workload, "runner.concurrency=2", "gate.min_completion=0.25")
    manifest = workload.manifest()
    assert manifest["config"]["gate"]["min_completion"] == 0.25
    assert manifest["runner"]["concurrency"] == 2
    assert manifest["interrupted"] is False
    trials_of = pl.read_parquet(outcome.folder / "trials" / "*.parquet")
    assert sorted(trials_of["concurrency"].to_list()) == [1, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("runner.seed=9", "runner.seed: expected 0, as the run has it, found 9"),
        ("runner.repeats=2", "runner.repeats: expected 1"),
        ("scorer=contains", "scorers.contains"),
        ("runner.latency=serial", "runner.latency"),
        ("privacy.redact=[secret]", "privacy.redact"),
    ],
)
def test_another_plan_is_refused_with_what_differs(stopped: Workload, change: str, told: str) -> None:
    """What makes other trials or other rows is named with its old and new value."""
    stored = find_stored("latest", stopped.folder / "out", to_write=False)
    with pytest.raises(UsageError, match="its plan is another one now") as caught:
        check_plan(stopped.prepared(change), stored)
    assert told in str(caught.value)


def test_changed_content_is_refused_by_its_place(workload: Workload) -> None:
    """A skill or benchmark whose files changed is named; so is a skill that went or came."""
    evaluate(workload.prepared(*ONE), observe=StopAfter(2))
    stored = find_stored("latest", workload.folder / "out", to_write=False)
    (workload.folder / "skill" / "more.txt").write_text("x")
    asked = json.loads((workload.folder / "tasks.json").read_text())
    (workload.folder / "tasks.json").write_text(json.dumps(asked[:-1]))
    with pytest.raises(UsageError) as caught:
        check_plan(workload.prepared(), stored)
    places = [problem.where for problem in caught.value.problems]
    assert places == [str(workload.folder / "skill"), str(workload.folder / "tasks.json")]
    (workload.folder / "skill").rename(workload.folder / "moved")
    with pytest.raises(UsageError) as caught:
        check_plan(workload.prepared(f"skill_set.paths=[{workload.folder / 'moved'}]"), stored)
    assert [problem.found for problem in caught.value.problems[:2]] == ["recorded", "no such skill"]


def test_another_expectation_is_another_plan(workload: Workload) -> None:
    """What a task expects or weighs reaches no trial id, but a run judges all its trials alike."""
    evaluate(workload.prepared(*ONE), observe=StopAfter(2))
    stored = find_stored("latest", workload.folder / "out", to_write=False)
    path = workload.folder / "tasks.json"
    asked = json.loads(path.read_text())
    for change in ({"expectedOutput": {"type": "exact", "value": 2}}, {"weight": 3}):
        path.write_text(json.dumps([*asked[:-1], asked[-1] | change]))
        with pytest.raises(UsageError, match="its plan is another one now") as caught:
            check_plan(workload.prepared(), stored)
        assert [problem.where for problem in caught.value.problems] == [str(path)]
    outcome, seen = session(workload)
    assert outcome.folder != stored.folder
    assert len(seen) == len(ENDINGS)


def test_the_manifest_of_a_resumed_run_says_what_its_trials_had(workload: Workload) -> None:
    """Its load is that of its trials, not what a session without any asked for; its version is that of new rows."""
    workload.record(dict.fromkeys(ENDINGS, RIGHT))
    first = evaluate(workload.prepared("runner.concurrency=1"), observe=StopAfter())
    write_manifest(first.folder, {**workload.manifest(), "ended_at": None, "schema_version": "1"})
    outcome, seen = session(workload, "runner.concurrency=5")
    manifest = workload.manifest()
    assert (outcome.folder, seen, manifest["schema_version"]) == (first.folder, [], SCHEMA_VERSION)
    assert manifest["runner"] == {"repeats": 1, "concurrency": 1, "lowest_concurrency": 1}
    assert outcome.report.run.concurrency == (1, 1)


def test_a_run_that_another_process_writes_is_refused(stopped: Workload) -> None:
    """Two processes never write one run, and nothing of it is changed by trying."""
    before = stopped.manifest()
    with RunLock(stopped.run_folder()):
        with pytest.raises(ResultsError, match="in use by another process"):
            session(stopped)
        with pytest.raises(ResultsError, match="in use by another process"):
            find_stored("latest", stopped.folder / "out", to_write=True)
    assert stopped.manifest() == before
    find_stored("latest", stopped.folder / "out", to_write=False)


def test_a_dry_look_changes_nothing(stopped: Workload) -> None:
    """Asking what is left reads journals as well as tables, and writes nothing."""
    stored = find_stored("latest", stopped.folder / "out", to_write=False)
    before = {path: path.stat().st_mtime_ns for path in stored.folder.rglob("*")}
    left = left_of(stopped.prepared(), stored)
    assert (left.n_kept, left.n_missing, stored.lock) == (2, 5, None)
    assert {path: path.stat().st_mtime_ns for path in stored.folder.rglob("*")} == before


def test_es17_a_resumed_report_covers_all_trials(workload: Workload) -> None:
    """A run that is done already is reported whole; its end stays when it was, and nothing runs."""
    workload.record(dict.fromkeys(ENDINGS, RIGHT))
    first = evaluate(workload.prepared(), observe=StopAfter())
    ended_at = workload.manifest()["ended_at"]
    manifest = workload.manifest()
    write_manifest(
        first.folder, {**manifest, "ended_at": None, "counts": None}
    )  # as if killed at the very end
    outcome, seen = session(workload)
    assert (outcome.folder, seen, outcome.statuses) == (first.folder, [], {"completed": 7})
    assert outcome.report.summary[0]["completion_rate"] == 1.0
    assert outcome.exit_code is ExitCode.OK
    assert manifest["started_at"] < workload.manifest()["ended_at"] <= ended_at
    assert workload.manifest()["resumes"][0]["stopped_at"] is None


@pytest.mark.parametrize(
    ("changes", "unfinished"),
    [
        ({}, False),
        ({"ended_at": None}, True),
        ({"interrupted": True}, True),
        ({"counts": None}, True),
        ({"n_planned": 5}, True),
        ({"counts": {"trials": 4, "by_status": {"completed": 3, "blocked": 1}}}, True),
        ({"counts": {"trials": 4, "by_status": {"timeout": 3, "skill_error": 1, "blocked": 0}}}, False),
    ],
)
def test_unfinished_is_what_would_run_something(changes: Mapping[str, Any], *, unfinished: bool) -> None:
    """Killed, interrupted, short of trials, or short of those that the infrastructure lost."""
    counts = {"trials": 4, "by_status": {"completed": 4}}
    whole = {"ended_at": "2026-11-01T08:00:00+00:00", "interrupted": False, "counts": counts, "n_planned": 4}
    assert is_unfinished({**whole, **changes}) is unfinished


class Blank:
    """A past that remembers nothing."""

    def record(self, trial: Trial) -> None:
        """Remember nothing."""
        assert trial.trial_id


def test_a_run_of_chosen_attempts_is_not_gone_on_with(
    workload: Workload, caplog: pytest.LogCaptureFixture
) -> None:
    """What took its attempts from elsewhere has no plan of its own: calling skills now would mix two things."""
    with caplog.at_level("WARNING"):
        evaluate(workload.prepared(RESUME, *ONE), observe=StopAfter(2), past=Blank())
    assert "--resume" not in caplog.text
    stored = find_stored("latest", workload.folder / "out", to_write=False)
    with pytest.raises(UsageError, match="does not say what was planned"):
        check_plan(workload.prepared(), stored)
    _, seen = session(workload)
    assert len(seen) == 7


def test_redacted_places_are_counted_over_all_sessions(workload: Workload) -> None:
    """The count of a resumed run covers its former part; where that was killed it is not known."""
    workload.record({name: {**line, "message": "secret"} for name, line in ENDINGS.items()})
    hidden = "privacy.redact=[secret]"
    session(workload, hidden, stop_after=3)
    session(workload, hidden)
    assert workload.manifest()["privacy"]["n_redacted"] == 10  # seven messages, three again in reasons
    write_manifest(
        workload.run_folder(), {**workload.manifest(), "ended_at": None, "privacy": {"n_redacted": None}}
    )
    session(workload, hidden)
    assert workload.manifest()["privacy"]["n_redacted"] is None
