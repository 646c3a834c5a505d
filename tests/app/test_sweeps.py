"""The books of a sweep: what leaves none behind, what a stop does to them, how long a job took in all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilleval.app.sweep_jobs import note_run
from skilleval.app.sweeps import StoredLedger, state_of
from skilleval.config.compose import SEARCH, Grid, PlannedJob, SweepJob, SweepPlan
from skilleval.errors import AdapterError, ConfigError
from skilleval.results.store import MANIFEST
from skilleval.results.sweeps import job_path, read_job, read_sweep, write_job

PLAN = SweepPlan(sweep_id="s", experiment="e", sweeper="planned", launcher="basic", request={}, config={})
JOBS = (("runner.seed=1",), ("runner.seed=2",))
GRID = Grid(
    overrides=(),
    values={"runner.seed": ["1", "2"]},
    jobs=tuple(PlannedJob(overrides=job, settings={"runner.seed": job[0][-1]}) for job in JOBS),
)


@pytest.fixture
def ledger(tmp_path: Path) -> StoredLedger:
    """Give the books of a sweep that has not begun."""
    return StoredLedger(folder=tmp_path / "s")


def begun(ledger: StoredLedger, number: int = 0) -> SweepJob:
    """Begin a job of the sweep, which has a run from then on."""
    place = ledger.place(JOBS[number], number)
    ledger.begin(place, JOBS[number])
    run = ledger.folder.parent / f"run{number}"
    run.mkdir(exist_ok=True)
    (run / MANIFEST).write_text("{}")
    note_run(place, run, run.name, planned=1, config_digest="d")
    return place


def change(ledger: StoredLedger, place: SweepJob, **said: Any) -> None:
    """Write other facts into the file of a job."""
    write_job(ledger.folder, place.key, {**(read_job(ledger.folder, place.key) or {}), **said})


def end_by(ledger: StoredLedger, error: Exception) -> None:
    """Let a sweep that is planned end by an exception before its first job."""
    with ledger.opened(PLAN):
        ledger.plan(GRID)
        (ledger.folder / SEARCH).touch()
        raise error


def refuse_after_plan(ledger: StoredLedger, error: Exception) -> None:
    """Let a sweep end like this, and see that the exception is told."""
    with pytest.raises(type(error)):
        end_by(ledger, error)


def test_a_sweep_whose_settings_are_refused_leaves_no_folder(ledger: StoredLedger) -> None:
    """Not even where it was planned already, or a search has its file there."""
    refuse_after_plan(ledger, ConfigError("no such setting"))
    assert not ledger.folder.exists()


def test_a_sweep_that_could_not_be_launched_is_kept(ledger: StoredLedger) -> None:
    """An engine that is down is no fault of the settings: the plan can be gone on with."""
    refuse_after_plan(ledger, AdapterError("the engine is down"))
    assert [job.state for job in read_sweep(ledger.folder).jobs] == ["pending", "pending"]


def test_going_on_that_is_refused_keeps_what_was_there(ledger: StoredLedger) -> None:
    """An option that was removed since is no reason to forget the plan."""
    with ledger.opened(PLAN):
        ledger.plan(GRID)
    refuse_after_plan(ledger, ConfigError("no such option"))
    assert [job.state for job in read_sweep(ledger.folder).jobs] == ["pending", "pending"]


def test_the_jobs_of_a_grid_are_left_before_it_is_planned(ledger: StoredLedger) -> None:
    """They can be checked before anything says that there is a sweep."""
    with ledger.opened(PLAN):
        assert ledger.left(GRID) == JOBS
        assert ledger.left() == ()
        ledger.plan(GRID)
        place = begun(ledger)
        ledger.end(place, {"exit_code": 0})
        assert ledger.left(GRID) == JOBS[1:]


def test_a_stop_is_noted_for_jobs_that_could_not_say_it_themselves(ledger: StoredLedger) -> None:
    """Their processes ended with the sweep; a job that is done, and one that was never started, stay what they are."""
    with ledger.opened(PLAN):
        ledger.plan(GRID)
        begun(ledger)
        ledger.stop()
        (told,) = ledger.outcomes()
    assert (told["state"], told["exit_code"], told["error"]) == ("interrupted", 130, "the job was stopped")
    assert [job.state for job in read_sweep(ledger.folder).jobs] == ["interrupted", "pending"]


def test_a_stop_is_no_matter_of_jobs_that_an_earlier_session_lost(ledger: StoredLedger) -> None:
    """Nobody knows when those ended, so no end is written."""
    with ledger.opened(PLAN):
        ledger.plan(GRID)
        place = begun(ledger)
    change(ledger, place, started_at="2026-01-01T00:00:00.000+00:00")
    with ledger.opened(PLAN):
        ledger.stop()
    assert [job.state for job in read_sweep(ledger.folder).jobs] == ["stopped", "pending"]


def test_a_job_that_lives_on_after_a_stop_says_so(ledger: StoredLedger) -> None:
    """A queue on another machine may start it all the same: it is running from the moment it has a run."""
    with ledger.opened(PLAN):
        ledger.plan(GRID)
        place = ledger.place(JOBS[0], 0)
        ledger.begin(place, JOBS[0])
        ledger.stop()
        assert read_sweep(ledger.folder).jobs[0].state == "interrupted"
        begun_run = ledger.folder.parent / "late"
        begun_run.mkdir()
        note_run(place, begun_run, "late", planned=1, config_digest="d")
    said = json.loads(job_path(ledger.folder, place.key).read_text())
    assert (said["state"], said["exit_code"], said["error"], said["ended_at"]) == (
        "running",
        None,
        None,
        None,
    )


def test_the_time_of_a_job_is_that_of_all_its_sessions(ledger: StoredLedger) -> None:
    """Pauses between sessions are no time of the job."""
    with ledger.opened(PLAN):
        ledger.plan(GRID)
        place = begun(ledger)
        ledger.end(place, {"exit_code": 130})
        times = {"started_at": "2026-01-01T00:00:00.000+00:00", "ended_at": "2026-01-01T00:00:02.000+00:00"}
        change(ledger, place, **times)
        begun(ledger)
        ledger.end(place, {"exit_code": 0})
        change(
            ledger,
            place,
            started_at="2026-01-01T10:00:00.000+00:00",
            ended_at="2026-01-01T10:00:00.500+00:00",
        )
    (job, other) = read_sweep(ledger.folder).jobs
    assert job.duration_ms == 2500
    assert other.duration_ms is None


def test_a_job_that_starts_anew_takes_no_time_from_a_run_that_is_gone(ledger: StoredLedger) -> None:
    """Where its run was lost, only what the new one took counts."""
    with ledger.opened(PLAN):
        ledger.plan(GRID)
        place = begun(ledger)
        ledger.end(place, {"exit_code": 3})
        change(ledger, place, run_dir=str(ledger.folder.parent / "gone"))
        ledger.begin(place, JOBS[0])
    assert (read_job(ledger.folder, place.key) or {})["earlier"] == []


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        ({"exit_code": 0}, "done"),
        ({"exit_code": 1}, "done"),
        ({"exit_code": 2}, "failed"),
        ({"exit_code": 2, "is_refused": True}, "refused"),
        ({"exit_code": 2, "is_refused": False}, "failed"),
        ({"exit_code": 130}, "interrupted"),
        ({"exit_code": 3, "sweep_state": "done"}, "done"),
    ],
)
def test_how_a_job_ended_is_its_state(outcome: dict[str, Any], state: str) -> None:
    """Settings that cannot be used are told from what may work the next time."""
    assert state_of(outcome) == state
