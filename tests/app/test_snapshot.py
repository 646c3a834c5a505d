from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest
from killed_runs import FINISHED, killed_run
from stored_runs import TASKS, Runs
from written_runs import contents

from skilleval.app.analyse import analyse
from skilleval.app.snapshot import signature, snapshot
from skilleval.errors import ResultsError


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a run that came to its end."""
    return Runs(tmp_path_factory.mktemp("finished")).run(wrong=TASKS[:2])


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a run that was killed in the middle of a line of its journal."""
    place = tmp_path_factory.mktemp("killed")
    return killed_run(place / "work", place / "store" / "run")


def test_a_snapshot_reads_as_the_run_does(finished: Path) -> None:
    """The report of the view is that of the run, and the run stays as it was to the byte."""
    before = contents(finished)
    with snapshot(finished, root=finished.parent) as view:
        assert view.name == finished.name
        assert analyse(view) == analyse(finished)
    assert contents(finished) == before
    assert not view.exists()


def test_a_journal_is_read_and_stays(killed: Path) -> None:
    """What a killed run left is made into tables elsewhere: half a line does not count, and stays too."""
    before = contents(killed)
    with snapshot(killed, root=killed.parent) as view:
        report = analyse(view)
    assert (report.run.n_trials, report.run.interrupted) == (FINISHED, True)
    assert contents(killed) == before


def test_a_run_that_is_being_written_can_be_read(killed: Path) -> None:
    """Another process holds the lock and goes on; what it has finished so far is there, and nobody waits."""
    with (killed / ".lock").open("r") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with snapshot(killed, root=killed.parent) as view:
            assert analyse(view).run.n_trials == FINISHED


def test_links_out_of_the_root_are_refused(finished: Path, tmp_path: Path) -> None:
    """A table elsewhere is not read on behalf of who looks at this folder; neither is a pipe, which would wait."""
    run = tmp_path / "root" / "run"
    shutil.copytree(finished, run)
    table = run / "trials" / "part-00001.parquet"
    table.symlink_to(finished / "trials" / "part-00000.parquet")
    with (
        pytest.raises(ResultsError, match="leads out of the folder"),
        snapshot(run, root=tmp_path / "root"),
    ):
        pass
    table.unlink()
    os.mkfifo(table)
    with pytest.raises(ResultsError, match="is no file"), snapshot(run, root=tmp_path / "root"):
        pass


def test_a_changed_run_has_another_signature(finished: Path, tmp_path: Path) -> None:
    """Whatever a report is made of changes the signature; a report beside it does not."""
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    before = signature(run)
    (run / "report.html").write_text("")
    assert signature(run) == before
    (run / "journal-00009.jsonl").write_text("")
    changed = signature(run)
    assert changed != before
    (run / "manifest.json").write_text("{}")
    assert signature(run) not in {before, changed}
