from __future__ import annotations

import fcntl
import json
import shutil
from pathlib import Path

import pytest
from killed_runs import FINISHED, killed_run
from stored_runs import TASKS, Runs
from written_runs import contents, write_run

from skilleval.app.analyse import analyse
from skilleval.app.compare import compare
from skilleval.app.run_list import RunList
from skilleval.app.run_reader import RunReader
from skilleval.app.timeline import Wanted, timeline
from skilleval.errors import ResultsError, UsageError
from skilleval.report import json_writer
from skilleval.report.run_list import RunEntry


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give two runs that came to their end, and one that was killed."""
    place = tmp_path_factory.mktemp("runs")
    runs = Runs(place / "work")
    runs.run(wrong=TASKS[:4])
    runs.run()
    killed_run(place / "other", runs.store / "killed")
    return runs.store


@pytest.fixture
def runs(store: Path) -> RunList:
    """List them."""
    return RunList(store)


def entries(runs: RunList) -> tuple[RunEntry, RunEntry, RunEntry]:
    """Give them: the killed one, the older one and the newer one."""
    found = {entry.key: entry for entry in runs.entries()}
    killed = found.pop("killed")
    older, newer = sorted(found.values(), key=lambda entry: entry.started_at or "")
    return killed, older, newer


def test_reports_and_comparisons_are_those_of_the_commands(runs: RunList, store: Path) -> None:
    """What is shown says to the last digit what `report convert`, `diff` and `history` say; nothing is written."""
    before = contents(store)
    _, older, newer = entries(runs)
    reader = RunReader(runs)
    assert reader.report(newer, "json") == json_writer.render(analyse(store / newer.key))
    diff = compare(
        str(store / older.key), str(store / newer.key), store=store, labels=(older.run_id, newer.run_id)
    )
    assert json.loads(reader.diff(older, newer, "json")) == json.loads(json.dumps(diff.to_json()))
    told = reader.course(runs.entries(), Wanted(skill="recorded"))
    assert told.facts()["lines"] == timeline(store, Wanted(skill="recorded")).facts()["lines"]
    assert contents(store) == before


def test_a_run_that_goes_on_says_so(runs: RunList, store: Path) -> None:
    """Of a live run the report holds what is finished, and when that was."""
    with (store / "killed" / ".lock").open("r") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        live, *_ = entries(runs)
        report = json.loads(RunReader(runs).report(live, "json"))
    assert report["run"]["n_trials"] == FINISHED
    assert "the run is still going on" in report["provenance"]["warnings"][0]
    dead, *_ = entries(runs)
    assert "going on" not in str(json.loads(RunReader(runs).report(dead, "json"))["provenance"]["warnings"])


def test_what_was_made_is_kept_while_the_files_stay(store: Path, tmp_path: Path) -> None:
    """The same text is the same object; a changed manifest makes it anew."""
    shutil.copytree(store, tmp_path / "store")
    runs = RunList(tmp_path / "store")
    _, _, newer = entries(runs)
    reader = RunReader(runs)
    first = reader.report(newer, "json")
    assert reader.report(newer, "json") is first
    path = runs.folder(newer) / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "experiment": "renamed"}))
    assert json.loads(reader.report(entries(runs)[2], "json"))["run"]["experiment"] == "renamed"


def test_a_damaged_run_is_named_by_its_key(store: Path, tmp_path: Path) -> None:
    """An error tells of the run, and not of the view on it that is gone by then."""
    shutil.copytree(store, tmp_path / "store")
    runs = RunList(tmp_path / "store")
    _, older, newer = entries(runs)
    (runs.folder(newer) / "trials" / "part-00000.parquet").write_bytes(b"nothing")
    reader = RunReader(runs)
    with pytest.raises(ResultsError) as of_report:
        reader.report(newer, "json")
    with pytest.raises(ResultsError) as of_diff:
        reader.diff(older, newer, "html")
    for caught in (of_report, of_diff):
        assert newer.key in str(caught.value)
        assert "skilleval-" not in str(caught.value)
    told = reader.course(runs.entries(), Wanted())
    assert [newer.key in notice and "skilleval-" not in notice for notice in told.notices] == [True]


def test_a_format_is_a_name_and_never_a_reference(runs: RunList) -> None:
    """`module:attribute` finds a writer on the command line; in an address it would import whatever it names."""
    _, older, newer = entries(runs)
    reader = RunReader(runs)
    for name in ("os:system", "this:c", "pdf", "../json"):
        with pytest.raises(UsageError, match="no such format"):
            reader.report(newer, name)
        with pytest.raises(UsageError, match="no such format"):
            reader.diff(older, newer, name)


def test_runs_without_an_end_have_no_course(tmp_path: Path) -> None:
    """Where nothing counts, that is said."""
    write_run(tmp_path, "run", ended_at=None)
    runs = RunList(tmp_path)
    with pytest.raises(ResultsError) as caught:
        RunReader(runs).course(runs.entries(), Wanted())
    assert "skilleval-" not in str(caught.value)
