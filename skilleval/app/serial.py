"""The second pass of `runner.latency=serial`: each completed trial is called once more, with the machine to itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.app.recordings import stored_records
from skilleval.domain.hashes import canonical_json
from skilleval.domain.records import TrialRecord
from skilleval.domain.trials import Trial
from skilleval.results.schema import TRIALS
from skilleval.results.store import read_unmeasured, scan_table
from skilleval.runner import Runner, Staged

SERIAL = "serial"
_TITLE = "measuring, one at a time"


def unmeasured(folder: Path, trials: Sequence[Trial]) -> dict[str, Trial]:
    """Give the trials of a run, by id, that the second pass still has to call."""
    ids = read_unmeasured(folder)
    return {trial.trial_id: trial for trial in trials if trial.trial_id in ids}


async def measure_serially(runner: Runner, folder: Path, trials: Sequence[Trial]) -> None:
    """Measure what is not measured yet; each record is written again to the runner's sink with its serial latency.

    The tables of the run must hold the finished trials. Cancelling keeps what is measured.
    """
    left = unmeasured(folder, trials)
    if not left:
        return
    if isinstance(runner.observe, Staged):
        runner.observe.begin(_TITLE, len(left))
    await runner.measure(_as_stored(folder, left))


def _as_stored(folder: Path, trials: Mapping[str, Trial]) -> Iterator[tuple[Trial, TrialRecord]]:
    """Give each trial as it is called, and its record with the task as it is stored: redacted, where that was asked."""
    columns = ("trial_id", "input", "expected")
    rows = scan_table(folder, TRIALS).select(columns).filter(pl.col("trial_id").is_in(list(trials)))
    texts = {name: (asked, expected) for name, asked, expected in rows.collect().iter_rows()}
    for trial_id, record in stored_records(folder, trials):
        yield trials[trial_id], replace(record, trial=_stored_trial(trials[trial_id], *texts[trial_id]))


def _stored_trial(trial: Trial, asked: str, expected: str) -> Trial:
    task = trial.task
    if (asked, expected) == (_text(task.input), _text(task.expected)):
        return trial
    return replace(trial, task=replace(task, input=json.loads(asked), expected=json.loads(expected)))


def _text(value: Mapping[str, Any]) -> str:
    return canonical_json(dict(value))
