"""The same config and the same attempts give the same rows and the same numbers, whatever happens at once."""

from __future__ import annotations

from pathlib import Path

from joined_rows import findings, rows, same_numbers
from recorded_runs import BROKEN, NULL, RIGHT, TIMEOUT, WRONG, write_workload

from skilleval.app.evaluate import evaluate
from skilleval.domain.records import TrialRecord

ENDINGS = (RIGHT, WRONG, RIGHT, TIMEOUT, RIGHT, BROKEN, NULL)
SETTINGS = ("runner.repeats=3", "scorer=[exact,contains]", "analysis.interval=bca", "runner.seed=7")


def _nobody(record: TrialRecord) -> None:
    assert record.tries


def test_running_again_changes_nothing_but_ids_and_times(tmp_path: Path) -> None:
    """One trial at a time or eight at once: sorted rows are identical, and so are metrics, intervals and verdicts."""
    workload = write_workload(tmp_path, {f"t{n}": ENDINGS[n % len(ENDINGS)] for n in range(14)})
    one, again, many = (
        evaluate(workload.prepared(*SETTINGS, f"runner.concurrency={n}"), observe=_nobody).folder
        for n in (1, 1, 8)
    )
    assert rows(one) == rows(again) == rows(many)
    assert findings(one) == findings(again)
    assert same_numbers(findings(many), findings(one))


def test_the_seed_decides_which_trials_there_are(tmp_path: Path) -> None:
    """Another seed gives each trial another seed and another id; what was recorded comes to the same."""
    workload = write_workload(tmp_path, {f"t{n}": ENDINGS[n % len(ENDINGS)] for n in range(7)})
    one, other = (
        evaluate(workload.prepared("runner.repeats=2", f"runner.seed={seed}"), observe=_nobody)
        for seed in (7, 8)
    )
    for key in ("seed", "trial_id"):
        before, after = ({row[key] for row in rows(run.folder)["trials"]} for run in (one, other))
        assert len(before) == len(after) == 14
        assert before.isdisjoint(after)
    assert one.statuses == other.statuses
