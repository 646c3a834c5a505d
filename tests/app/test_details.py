from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stored_runs import Runs

from skilleval.app.analyse import analyse
from skilleval.app.details import MAX_TRIALS, max_trials
from skilleval.report.document import Report, from_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of eight tasks, one of which fails."""
    return Runs(tmp_path_factory.mktemp("runs")).run(wrong=["t5"])


def with_setting(folder: Path, **report: Any) -> Report:
    """Analyse a run whose manifest holds these settings of the report."""
    path = folder / "manifest.json"
    before = path.read_text(encoding="utf-8")
    manifest = json.loads(before)
    manifest["config"]["report"] = report
    path.write_text(json.dumps(manifest), encoding="utf-8")
    try:
        return analyse(folder)
    finally:
        path.write_text(before, encoding="utf-8")


def test_every_trial_of_a_run_is_in_its_report(folder: Path) -> None:
    """The written JSON report holds each trial with its texts and checks, passed ones too."""
    report = from_json((folder / "report.json").read_text(encoding="utf-8"))
    assert report == analyse(folder)
    assert report.details is not None
    assert (len(report.details.trials), report.details.n_trials, report.details.is_complete) == (8, 8, True)
    (failed,) = [trial for trial in report.details.trials if trial.verdict == "failed"]
    assert failed.task_id == "t5"
    assert failed.output is not None
    assert json.loads(failed.output.text) == {"result": 2}
    assert [check.verdict for check in failed.checks] == ["failed"]


def test_a_limit_keeps_the_failed_trial(folder: Path) -> None:
    """With room for two trials the failed one is there, and the report says how many there are."""
    details = with_setting(folder, max_trials=2).details
    assert details is not None
    assert (len(details.trials), details.n_trials, details.is_complete) == (2, 8, False)
    assert "t5" in {trial.task_id for trial in details.trials}


def test_nothing_is_shown_where_nothing_is_asked_for(folder: Path) -> None:
    """A limit of none leaves the details out, for those who share a report but not what was said."""
    assert with_setting(folder, max_trials=0).details is None


def test_a_run_older_than_the_setting_is_read(folder: Path) -> None:
    """A manifest without the key shows as many trials as the default says."""
    report = with_setting(folder, formats=["json"])
    assert report.details is not None
    assert max_trials({}) == max_trials({"report": {"max_trials": None}}) == MAX_TRIALS == 10_000
