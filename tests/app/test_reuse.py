"""A stored attempt takes the place of a call only where it was asked for, or between the jobs of a sweep."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from counted_skills import Counted, table

from skilleval.results.cache import indexed_runs


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    """Give a skill whose calls are counted."""
    return Counted(tmp_path)


def test_jobs_that_differ_in_scorers_call_no_skill_again(counted: Counted) -> None:
    """The second job judges the attempts of the first, and says where they are from."""
    done = counted.evaluated("-m", "scorer=exact,contains")
    assert counted.n_calls == 2
    first, second = (table(job, "trials") for job in done.document["runs"])
    assert first["reused_from"].to_list() == [None, None]
    assert second["reused_from"].to_list() == [first["run_id"][0]] * 2
    same = ["trial_id", "call_key", "output", "latency_ms", "started_at", "ended_at", "in_flight"]
    assert first.select(same).sort("trial_id").equals(second.select(same).sort("trial_id"))


def test_jobs_that_differ_in_how_skills_are_run_call_them(counted: Counted) -> None:
    """A sweep over the concurrency measures each of them."""
    counted.evaluated("-m", "runner.concurrency=1,2")
    assert counted.n_calls == 4


def test_a_run_of_its_own_calls_every_skill(counted: Counted) -> None:
    """Earlier runs are no reason to call nothing, unless that is asked for."""
    counted.evaluated()
    counted.evaluated()
    assert counted.n_calls == 4


def test_reuse_is_asked_for(counted: Counted) -> None:
    """Attempts of any earlier run are taken over; new tasks, repeats and seeds are called."""
    counted.evaluated()
    again = counted.evaluated("runner.cache=reuse", "--runs", "2")
    assert counted.n_calls == 4
    assert table(again.document, "trials")["reused_from"].null_count() == 2
    assert "2 of 4 attempts reused" in again.document["verdict"]
    (row,) = again.document["summary"]
    assert (row["n_reused"], row["n_latency"]) == (2, 2)


def test_scores_are_taken_over_with_their_attempts(counted: Counted) -> None:
    """The same scorer is not asked again; another one is."""
    first = counted.evaluated("scorer=exact").document
    again = counted.evaluated("runner.cache=reuse", "scorer=[exact,contains]").document
    scores = table(again, "scores").sort("scorer")
    assert scores.select("scorer", "reused_from").unique(maintain_order=True).rows() == [
        ("contains", None),
        ("exact", first["run_id"]),
    ]


def test_the_run_that_made_an_attempt_is_named(counted: Counted) -> None:
    """An attempt that was taken over twice still names its maker, also when that is gone."""
    first = counted.evaluated().document
    counted.evaluated("runner.cache=reuse")
    shutil.rmtree(first["run_dir"])
    third = counted.evaluated("runner.cache=reuse").document
    assert counted.n_calls == 2
    assert table(third, "trials")["reused_from"].unique().to_list() == [first["run_id"]]


def test_a_changed_skill_is_called(counted: Counted) -> None:
    """Its files are part of the key."""
    counted.evaluated()
    (counted.skill / "notes.txt").write_text("new")
    counted.evaluated("runner.cache=reuse")
    assert counted.n_calls == 4


def test_more_retries_are_another_chance(counted: Counted) -> None:
    """What failed with none may pass with some, so such attempts are not taken over."""
    counted.evaluated()
    counted.evaluated("runner.cache=reuse", "--retries", "1")
    assert counted.n_calls == 4


def test_off_neither_finds_nor_leaves_anything(counted: Counted) -> None:
    """Such a run is alone."""
    counted.evaluated("runner.cache=off")
    assert indexed_runs(counted.root / "cache") == ()
    counted.evaluated("runner.cache=auto")
    counted.evaluated("-m", "runner.cache=off", "scorer=exact,contains")
    assert counted.n_calls == 2 + 2 + 4


def test_redacted_attempts_are_not_found_again(counted: Counted) -> None:
    """They are not what the skill said; patterns that met nothing change nothing."""
    counted.evaluated("privacy.redact=['result']")
    assert indexed_runs(counted.root / "cache") == ()
    counted.evaluated("privacy.redact=['absent']")
    assert len(indexed_runs(counted.root / "cache")) == 1


def test_an_index_that_cannot_be_written_costs_no_result(counted: Counted) -> None:
    """The run says so and ends as if there were no cache."""
    (counted.root / "cache").write_text("in the way")
    done = counted.evaluated()
    assert done.code == 0
    assert "not going to be found again" in done.err
