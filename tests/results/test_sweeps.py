from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilleval.errors import ResultsError
from skilleval.results.locks import RunLock
from skilleval.results.sweeps import (
    change_sweep,
    find_sweep,
    job_key,
    read_sweep,
    write_job,
    write_sweep,
)

ID = "20261101T080000Z-aaaaaa"


def planned(root: Path, name: str = ID, **said: Any) -> Path:
    """Write a sweep of two jobs, of which none was started."""
    jobs = [
        {"job": number, "key": job_key([text]), "overrides": ["a=1", text], "settings": {"b": text[-1]}}
        for number, text in enumerate(("b=1", "b=2"))
    ]
    write_sweep(root / name, {"sweep_id": name, "grid": {"b": ["1", "2"]}, "jobs": jobs, **said})
    return root / name


def test_a_job_without_a_file_is_pending(tmp_path: Path) -> None:
    """The plan alone says which jobs there are, in the order of their numbers."""
    sweep = read_sweep(planned(tmp_path))
    assert [(job.job, job.state, dict(job.settings)) for job in sweep.jobs] == [
        (0, "pending", {"b": "1"}),
        (1, "pending", {"b": "2"}),
    ]
    assert sweep.count() == {"pending": 2}


def test_a_job_tells_its_own_end(tmp_path: Path) -> None:
    """What a job's file says goes over the plan; its run is found from the folder, wherever that was moved."""
    folder = planned(tmp_path / "old")
    run_dir = (tmp_path / "old" / "run").absolute()
    run_dir.mkdir()
    (run_dir / "manifest.json").touch()
    write_job(folder, job_key(["b=2"]), {"job": 1, "state": "done", "exit_code": 1, "run_dir": run_dir})
    (tmp_path / "old").rename(tmp_path / "new")
    job = read_sweep(tmp_path / "new" / ID).jobs[1]
    assert (job.state, job.exit_code, job.run_dir) == ("done", 1, tmp_path / "new" / "run")
    assert job.overrides == ("a=1", "b=2")


def test_a_running_job_that_nobody_runs_is_stopped(tmp_path: Path) -> None:
    """A job says that it runs until its end; whether it does, the lock of its sweep or of its run knows."""
    folder = planned(tmp_path)
    write_job(folder, job_key(["b=1"]), {"job": 0, "state": "running"})
    assert read_sweep(folder).jobs[0].state == "stopped"
    with RunLock(folder):
        assert read_sweep(folder).jobs[0].state == "running"
    (tmp_path / "run").mkdir()
    write_job(folder, job_key(["b=1"]), {"job": 0, "state": "running", "run_dir": tmp_path / "run"})
    with RunLock(folder):
        assert read_sweep(folder).jobs[0].state == "stopped"
    with RunLock(tmp_path / "run"):
        assert read_sweep(folder).jobs[0].state == "running"


def test_a_job_whose_run_is_gone_is_lost(tmp_path: Path) -> None:
    """What it came to cannot be read any more, so that it is not done; its reason names the run."""
    folder = planned(tmp_path)
    said = {"job": 0, "state": "done", "exit_code": 0, "verdict": "ok", "run_dir": "../run"}
    write_job(folder, job_key(["b=1"]), said)
    job = read_sweep(folder).jobs[0]
    assert (job.state, job.exit_code, job.verdict) == ("lost", None, None)
    assert job.error == f"its run is gone: {tmp_path / 'run'}"


def test_the_key_of_a_job_knows_no_order() -> None:
    """The same overrides in another order are the same job."""
    assert job_key(["a=1", "b=2"]) == job_key(["b=2", "a=1"]) != job_key(["a=1", "b=3"])
    assert len(job_key(["a=1"])) == 12


def test_sweeps_are_found_as_runs_are(tmp_path: Path) -> None:
    """By folder, id, a part of it, or as the latest; within a second the start decides."""
    old = planned(tmp_path / "x", "20261101T080000Z-cccccc", started_at="2026-11-01T08:00:00.100")
    new = planned(tmp_path / "x", "20261101T080000Z-bbbbbb", started_at="2026-11-01T08:00:00.900")
    assert find_sweep("latest", tmp_path) == new
    assert find_sweep("cccccc", tmp_path) == find_sweep(str(old), Path("nowhere")) == old
    with pytest.raises(ResultsError, match="2 sweeps"):
        find_sweep("2026", tmp_path)
    with pytest.raises(ResultsError, match="no sweep is stored"):
        find_sweep("latest", tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ("[]", "it lacks schema"),
        (json.dumps({"schema": "skilleval.sweep/9", "sweep_id": "a", "jobs": []}), "skilleval.sweep/9"),
        (
            json.dumps({"schema": "skilleval.sweep/1", "sweep_id": "a", "jobs": [{"key": "a"}]}),
            "no sweep that can",
        ),
    ],
)
def test_what_is_no_sweep_is_said(tmp_path: Path, text: str, said: str) -> None:
    """A plan that is damaged, or of a newer version, is told of instead of guessed at."""
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(ResultsError, match=said):
        read_sweep(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"job": "x", "state": "done"}', '{"job": 1}'])
def test_a_damaged_job_file_is_said(tmp_path: Path, text: str) -> None:
    """Its name and the way out are told, also where it is JSON that describes no job."""
    folder = planned(tmp_path)
    (folder / "jobs").mkdir()
    (folder / "jobs" / "x.json").write_text(text)
    with pytest.raises(ResultsError, match=r"x\.json (cannot be read|does not describe a job)") as told:
        read_sweep(folder)
    assert told.value.hint == "remove it: its job then counts as not started"


def test_the_end_of_a_sweep_changes_nothing_else(tmp_path: Path) -> None:
    """Its exit code goes into the plan beside what stood there."""
    folder = planned(tmp_path)
    before = json.loads((folder / "sweep.json").read_text())
    change_sweep(folder, exit_code=2)
    assert json.loads((folder / "sweep.json").read_text()) == {**before, "exit_code": 2}
