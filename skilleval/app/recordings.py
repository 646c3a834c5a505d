"""A stored run as a recording: its attempts can be replayed, taken over and scored again without running a skill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.adapters.replay import Recorded, ReplayAdapter
from skilleval.domain.records import TrialRecord
from skilleval.domain.trials import Trial
from skilleval.errors import CatalogError, Problem
from skilleval.results.rows import record_from, reply_from
from skilleval.results.schema import JUDGEMENTS, SCORES, TRIALS, TRIES, Table
from skilleval.results.store import compact, scan_table
from skilleval.runner import Past

_KEY = ("skill_id", "task_id", "repeat")
_PIECE = 2000
"""Trials that are read at once: their outputs stand in memory."""


def replay_run(folder: Path) -> ReplayAdapter:
    """Build an adapter that answers with the attempts of a stored run.

    Raises:
        ResultsError: the folder holds no run.
        CatalogError: the run answers one call twice, e.g. under two conditions.
    """
    compact(folder)
    trials = scan_table(folder, TRIALS).collect()
    if trials.select(_KEY).is_duplicated().any():
        problem = Problem(where=str(folder), expected="one attempt a skill, task and repeat", found="several")
        raise CatalogError("the run cannot be replayed", problems=(problem,))
    return ReplayAdapter.of(_recorded(row) for row in trials.iter_rows(named=True))


def _recorded(row: Mapping[str, Any]) -> Recorded:
    return Recorded(
        task_id=row["task_id"], skill_id=row["skill_id"], repeat=row["repeat"], reply=reply_from(row)
    )


def stored_records(folder: Path, trials: Mapping[str, Trial]) -> Iterator[tuple[str, TrialRecord]]:
    """Read finished trials of a run back, in pieces; those it does not hold are left out.

    `trials` says what each stored trial id is the record of; the ids are given back beside the records.
    """
    items = iter(trials.items())
    while piece := dict(islice(items, _PIECE)):
        yield from _piece(folder, piece)


def _piece(folder: Path, trials: Mapping[str, Trial]) -> Iterator[tuple[str, TrialRecord]]:
    tables = (TRIALS, TRIES, SCORES, JUDGEMENTS)
    rows, *others = (_by_trial(folder, table, trials) for table in tables)
    for trial_id, trial in trials.items():
        for row in rows.get(trial_id, ()):
            yield trial_id, record_from(trial, row, *(found.get(trial_id, ()) for found in others))


def _by_trial(folder: Path, table: Table, trials: Mapping[str, Trial]) -> dict[str, list[dict[str, Any]]]:
    wanted = pl.col("trial_id").is_in(list(trials))
    found: dict[str, list[dict[str, Any]]] = {}
    for row in scan_table(folder, table).filter(wanted).collect().iter_rows(named=True):
        found.setdefault(row["trial_id"], []).append(row)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a finished trial stands: the folder and id of its run, and its own id there."""

    folder: Path
    run_id: str
    trial_id: str


class StoredPast:
    """Finished trials of stored runs: the runner's past. They are read in pieces, in the order of the plan.

    `places` says by trial id where the attempt of a trial is to be taken from. What it came from is named in each
    record, unless it `is_own`: of the very run that goes on.
    """

    def __init__(self, trials: Sequence[Trial], places: Mapping[str, Place], *, is_own: bool = False) -> None:
        self._places = places
        self._is_own = is_own
        self._ahead = iter([trial for trial in trials if trial.trial_id in places])
        self._asked: set[str] = set()
        self._records: dict[str, TrialRecord] = {}

    def record(self, trial: Trial) -> TrialRecord | None:
        """Give the record of a trial; null where there is none, or it is there no more."""
        trial_id = trial.trial_id
        if trial_id in self._places and trial_id not in self._asked:
            piece = list(islice(self._ahead, _PIECE))
            self._asked = {one.trial_id for one in piece}
            self._records = dict(self._read(piece))
        return self._records.pop(trial_id, None)

    def _read(self, piece: Sequence[Trial]) -> Iterator[tuple[str, TrialRecord]]:
        runs: dict[tuple[Path, str], dict[str, Trial]] = {}
        for trial in piece:
            place = self._places[trial.trial_id]
            runs.setdefault((place.folder, place.run_id), {})[place.trial_id] = trial
        for (folder, run_id), trials in runs.items():
            for stored_id, record in stored_records(folder, trials):
                yield trials[stored_id].trial_id, record if self._is_own else _taken_over(record, run_id)


def awaiting_judge(folder: Path, trials: Sequence[Trial]) -> StoredPast | None:
    """Give the attempts of a run whose judge failed, so that they are judged again without another call."""
    places = {one.trial_id: Place(folder=folder, run_id=folder.name, trial_id=one.trial_id) for one in trials}
    return StoredPast(trials, places, is_own=True) if places else None


@dataclass(frozen=True, slots=True)
class FirstOf:
    """Several pasts, asked one after the other."""

    pasts: tuple[Past, ...]

    @classmethod
    def of(cls, *pasts: Past | None) -> Past | None:
        """Give the one that there is, or all of them as one; null where there is none."""
        there = tuple(one for one in pasts if one is not None)
        return cls(there) if len(there) > 1 else next(iter(there), None)

    def record(self, trial: Trial) -> TrialRecord | None:
        """Give what the first one knows of a trial."""
        found = (one.record(trial) for one in self.pasts)
        return next((record for record in found if record is not None), None)


def _taken_over(record: TrialRecord, run_id: str) -> TrialRecord:
    """Name the run that made the attempt and each score, which may be an earlier one than it is taken from."""
    scores = tuple(replace(score, reused_from=score.reused_from or run_id) for score in record.scores)
    return replace(record, scores=scores, reused_from=record.reused_from or run_id)
