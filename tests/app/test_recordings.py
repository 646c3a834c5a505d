"""Stored attempts are read back in pieces, under the trials of today."""

from __future__ import annotations

from pathlib import Path

from records import written
from samples import task, trials

from skilleval.app.recordings import Place, StoredPast, stored_records
from skilleval.domain.attempts import Reply, Status


def replies(n: int) -> list[list[Reply]]:
    """Give one reply a repeat, each with its own output."""
    return [[Reply(status=Status.COMPLETED, output=str(i))] for i in range(n)]


def test_records_come_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    """Whatever the order in the run; a trial that it does not hold is left out."""
    folder = written(tmp_path, replies(3))
    laid_out = trials(task(), repeats=4)
    wanted = {trial.trial_id: trial for trial in reversed(laid_out)}
    outputs = [record.attempt.output for _, record in stored_records(folder, wanted)]
    assert outputs == ["2", "1", "0"]


def test_the_past_answers_trial_by_trial(tmp_path: Path) -> None:
    """Attempts of two runs, under one plan; each names the run that made it."""
    first = written(tmp_path, replies(2), run_id="r1")
    second = written(tmp_path, replies(3), run_id="r2")
    laid_out = trials(task(), repeats=4)
    places = {
        laid_out[0].trial_id: Place(folder=first, run_id="r1", trial_id=laid_out[0].trial_id),
        laid_out[2].trial_id: Place(folder=second, run_id="r2", trial_id=laid_out[2].trial_id),
        laid_out[3].trial_id: Place(folder=second, run_id="r2", trial_id="gone"),
    }
    past = StoredPast(laid_out, places)
    found = [past.record(trial) for trial in laid_out]
    assert [record and record.reused_from for record in found] == ["r1", None, "r2", None]
    assert [record and record.attempt.output for record in found] == ["0", None, "2", None]
    assert {score.reused_from for record in found if record for score in record.scores} == {"r1", "r2"}


def test_a_plan_longer_than_a_piece_is_answered_whole(tmp_path: Path) -> None:
    """The pieces follow the plan, so no attempt is missed wherever it stands in it."""
    n_stored, gap = 5, 1000
    folder = written(tmp_path, replies(n_stored))
    kept, laid_out = trials(task(), repeats=n_stored), trials(task(), repeats=n_stored * gap)
    stands = {index * gap: trial.trial_id for index, trial in enumerate(kept)}
    places = {
        one.trial_id: Place(folder=folder, run_id="r1", trial_id=stands.get(index, "gone"))
        for index, one in enumerate(laid_out)
    }
    past = StoredPast(laid_out, places)
    found = {index: record for index, one in enumerate(laid_out) if (record := past.record(one)) is not None}
    assert {index: record.attempt.output for index, record in found.items()} == {
        index * gap: str(index) for index in range(n_stored)
    }
