"""`skilleval sweep report`: what the settings of a sweep do."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.conftest import Run
from stored_runs import TASKS, Runs
from swept import stored_sweep


@pytest.fixture
def sweep(folder: Path) -> Path:
    """Give a sweep of two models in the working folder."""
    return stored_sweep(Runs(folder / "work"), {("a", "0"): TASKS[:7], ("b", "0"): ()})


def test_the_report_says_the_verdict_and_where_the_page_is(run: Run, sweep: Path) -> None:
    """Sentences first, then the differences; the page lies in the folder of the sweep."""
    store = sweep.parent.parent
    done = run("sweep", "report", "--store", store)
    assert done.code == 0, done.err
    assert done.out.startswith("completion depends on model: b +87.5 pp [")
    assert f"html:     {sweep / 'report.html'}" in done.out
    assert "<h2" in (sweep / "report.html").read_text(encoding="utf-8")


def test_the_document_holds_the_report_and_its_files(run: Run, sweep: Path) -> None:
    """With `--json` one document is all that stdout has."""
    done = run("sweep", "report", sweep, "--format", "md", "csv", "--output", "out", "--json")
    assert done.code == 0, done.err
    assert sorted(done.document["reports"]) == ["csv", "markdown"]
    assert done.document["effects"][0]["effect"] == 0.875
    assert (done.folder / "out" / "report.csv").is_file()


def test_what_cannot_be_done_is_said_in_words(run: Run, sweep: Path) -> None:
    """No traceback, and a code that is not zero."""
    wrongs = (
        ["--metric", "beauty"],
        ["--format", "word"],
        ["--margin", "2"],
        ["nowhere"],
        ["--template", "sweep"],
    )
    for wrong in wrongs:
        done = run("sweep", "report", *wrong, "--store", sweep.parent.parent)
        assert done.code != 0
        assert done.err
