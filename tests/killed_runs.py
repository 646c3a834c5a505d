"""A run as a killed process leaves it: a manifest without an end, and a journal whose last line is cut off."""

from __future__ import annotations

import shutil
from pathlib import Path

from recorded_runs import RIGHT, Workload, write_workload

from skilleval.app.evaluate import evaluate
from skilleval.domain.records import TrialRecord

FINISHED = 3


class _Copy:
    """An observer that copies the folder of a run when it has finished some trials."""

    def __init__(self, workload: Workload, target: Path) -> None:
        self._workload, self._target = workload, target
        self._seen = 0

    def __call__(self, _: TrialRecord) -> None:
        self._seen += 1
        if self._seen == FINISHED:
            shutil.copytree(self._workload.run_folder(), self._target)


def killed_run(place: Path, target: Path) -> Path:
    """Make a run of six trials in a place, and what was left of it after three in the target; give the target."""
    place.mkdir(parents=True)
    workload = write_workload(place, {f"t{number}": RIGHT for number in range(6)})
    evaluate(workload.prepared("runner.concurrency=1"), observe=_Copy(workload, target))
    (journal,) = target.glob("journal-*.jsonl")
    with journal.open("ab") as file:
        file.write(b'{"trial": {"trial_id": "cut o')
    return target
