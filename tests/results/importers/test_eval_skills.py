from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from results.importers.foreign import UNITS_RESULTS, eval_skills_report, eval_skills_store, write

from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict
from skilleval.errors import ResultsError
from skilleval.results.importers.base import ImportOptions
from skilleval.results.importers.eval_skills import REPORT
from skilleval.results.importers.eval_skills_store import STORE
from skilleval.results.importers.lines import check_distinct

PLAIN = ImportOptions()


def test_each_result_is_a_trial_with_its_own_status(tmp_path: Path) -> None:
    """Pass and fail completed, an error is the skill's, and a broken call has no score of its own."""
    (run,) = REPORT.read(write(tmp_path / "r.json", [eval_skills_report()]), PLAIN)
    assert run.benchmark.id == "units-mini"
    assert [trial.status for trial in run.trials] == [
        Status.COMPLETED,
        Status.COMPLETED,
        Status.SKILL_ERROR,
    ]
    assert [[check.score for check in trial.checks] for trial in run.trials] == [[1.0], [0.5], []]
    assert [check.rule for trial in run.trials for check in trial.checks] == ["exact", "contains"]
    assert run.trials[2].message == "process exited with code 1"


def test_what_is_not_known_is_null_and_not_zero(tmp_path: Path) -> None:
    """The 0 ms of a broken call is no latency, and inputs, limits and unreported tokens are null."""
    (run,) = REPORT.read(write(tmp_path / "r.json", [eval_skills_report()]), PLAIN)
    first, _, broken = run.trials
    assert (first.latency_ms, first.usage.total_tokens, first.task_weight) == (120.4, 18, 2.0)
    assert (broken.latency_ms, broken.usage.total_tokens, broken.output) == (None, None, None)
    assert (first.input, first.expected, first.timeout_ms, first.model, first.adapter) == (None,) * 5
    assert any("no latency" in remark for remark in run.remarks)


def test_es_07_a_time_out_that_is_told_is_a_time_out(tmp_path: Path) -> None:
    """The status `timeout` stays one; it is neither an error nor a wrong answer."""
    result = {**UNITS_RESULTS[2], "status": "timeout"}
    (run,) = REPORT.read(write(tmp_path / "r.json", [eval_skills_report([result])]), PLAIN)
    assert run.trials[0].status is Status.TIMEOUT


def test_es_19_a_crashed_scorer_leaves_the_attempt_ungraded(tmp_path: Path) -> None:
    """An error of the scorer says nothing of the skill."""
    result = {**UNITS_RESULTS[2], "scorerType": "unknown", "output": "3 km"}
    (run,) = REPORT.read(write(tmp_path / "r.json", [eval_skills_report([result])]), PLAIN)
    (trial,) = run.trials
    assert (trial.status, trial.output, trial.failure_kind) == (
        Status.COMPLETED,
        '"3 km"',
        "scorer_error",
    )
    assert (trial.checks[0].verdict, trial.checks[0].score) == (Verdict.UNGRADED, None)


def test_repeats_are_counted_from_their_runs(tmp_path: Path) -> None:
    """Their run 1 is our repeat 0."""
    results = [{**UNITS_RESULTS[0], "runId": number} for number in (1, 2, 3)]
    (run,) = REPORT.read(write(tmp_path / "r.json", [eval_skills_report(results)]), PLAIN)
    assert [trial.repeat for trial in run.trials] == [0, 1, 2]


def test_es_04_results_of_two_skills_with_one_id_are_refused(tmp_path: Path) -> None:
    """Where every report holds the results of both, nobody can tell whose they are: both places are named."""
    report = eval_skills_report([*UNITS_RESULTS, *UNITS_RESULTS])
    (run,) = REPORT.read(write(tmp_path / "r.json", [report]), PLAIN)
    with pytest.raises(ResultsError, match=r"taskResults\[3\].*once, found again at .*taskResults\[0\]"):
        check_distinct(run)


def test_several_benchmarks_are_several_runs(tmp_path: Path) -> None:
    """A run has one benchmark."""
    reports = [eval_skills_report(), eval_skills_report(benchmark="other"), eval_skills_report(skill="s2")]
    runs = REPORT.read(write(tmp_path / "r.json", reports), PLAIN)
    assert [(run.benchmark.id, len(run.trials)) for run in runs] == [("units-mini", 6), ("other", 3)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"status": "passed"}, "status: expected one of pass, fail, error, timeout, found 'passed'"),
        ({"score": 7}, "score: expected a number from 0 to 1, found 7"),
        ({"score": None}, "score: expected a value, found null"),
        ({"latencyMs": "fast"}, "latencyMs: expected a finite number, found 'fast'"),
        ({"runId": 0}, "runId: expected a number of a run, from 1 on, found 0"),
        ({"taskId": ""}, "taskId: expected an id, found ''"),
    ],
)
def test_a_damaged_result_is_told_with_its_place(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """File, key, what was expected, what was found."""
    path = write(tmp_path / "r.json", [eval_skills_report([{**UNITS_RESULTS[0], **change}])])
    with pytest.raises(ResultsError) as raised:
        REPORT.read(path, PLAIN)
    assert str(path) in str(raised.value)
    assert f"[0].taskResults[0].{said}" in str(raised.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'[{"skillId": "a"', "expected JSON, found line 1, column 17"),
        (b"\xff\xfe\x00", "expected UTF-8 text"),
        (b"[]", "expected at least one report of a skill, found an empty list"),
        (b"{}", "expected a list, found an object"),
        (b"[" * 100_000, "JSON"),
    ],
)
def test_a_file_that_is_no_report_is_told(tmp_path: Path, data: bytes, said: str) -> None:
    """A damaged file is one clear error, whatever it is."""
    path = tmp_path / "r.json"
    path.write_bytes(data)
    with pytest.raises(ResultsError) as raised:
        REPORT.read(path, PLAIN)
    assert said in str(raised.value)


def test_the_store_gives_the_same_trials_as_the_report(tmp_path: Path) -> None:
    """Both hold one object a result; the store knows the adapter too, and the file is left as it was."""
    path = eval_skills_store(tmp_path / "store.db", {"e1": "2026-11-01 08:00:00"})
    before = path.read_bytes()
    (run,) = STORE.read(path, PLAIN)
    (other,) = REPORT.read(write(tmp_path / "r.json", [eval_skills_report()]), PLAIN)
    told = [(one.task_id, one.status, one.latency_ms, one.checks, one.skill_version) for one in run.trials]
    assert told == [
        (one.task_id, one.status, one.latency_ms, one.checks, one.skill_version) for one in other.trials
    ]
    assert {trial.adapter for trial in run.trials} == {"subprocess"}
    assert run.ended_at is not None
    assert run.ended_at.isoformat() == "2026-11-01T08:00:00+00:00"
    assert path.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["r.json", "store.db"]


def test_evaluations_of_one_skill_are_runs_one_after_the_other(tmp_path: Path) -> None:
    """A later evaluation is a later run; the store lost the version of the skill that an earlier one had."""
    evaluations = {"late": "2026-11-02 08:00:00", "early": "2026-11-01 08:00:00"}
    runs = STORE.read(eval_skills_store(tmp_path / "store.db", evaluations), PLAIN)
    assert [run.ended_at.day for run in runs if run.ended_at] == [1, 2]
    assert [{trial.skill_version for trial in run.trials} for run in runs] == [{None}, {"1.2.0"}]
    assert any("version of unit_convert is not known" in remark for remark in runs[0].remarks)


def test_another_database_is_told_by_its_tables(tmp_path: Path) -> None:
    """A SQLite file of somebody else names the tables that were looked for and those that it has."""
    path = tmp_path / "other.db"
    eval_skills_store(path, {})
    with pytest.raises(ResultsError, match="at least one evaluation"):
        STORE.read(path, PLAIN)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(path.read_bytes()[:100] + b"\0" * 50)
    assert STORE.recognises(damaged)
    with pytest.raises(ResultsError, match="expected a SQLite store of eval-skills"):
        STORE.read(damaged, PLAIN)


def test_a_damaged_row_of_the_store_is_told(tmp_path: Path) -> None:
    """The evaluation and the task are named."""
    import sqlite3

    path = eval_skills_store(tmp_path / "store.db", {"e1": "2026-11-01 08:00:00"})
    store = sqlite3.connect(path)
    store.execute("update task_results set data = '{' where task_id = 'u2'")
    store.commit()
    store.close()
    with pytest.raises(ResultsError, match=r"evaluations\.e1\.u2: expected JSON"):
        STORE.read(path, PLAIN)


def test_strangers_are_not_taken_for_reports(tmp_path: Path) -> None:
    """Other JSON, other files and folders are left to other importers."""
    assert REPORT.recognises(write(tmp_path / "r.json", [eval_skills_report()]))
    strangers: tuple[Any, ...] = ({}, [], [1], [{"taskId": 1}])
    for value in strangers:
        assert not REPORT.recognises(write(tmp_path / "s.json", value))
    (tmp_path / "t.json").write_text("no json")
    assert not REPORT.recognises(tmp_path / "t.json")
    assert not REPORT.recognises(tmp_path)
    assert not STORE.recognises(tmp_path / "t.json")
    assert json.loads((tmp_path / "r.json").read_text())
