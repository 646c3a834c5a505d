"""How each stored trial ended, read from tables and journals alike, without writing anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from skilleval.domain.attempts import Status
from skilleval.domain.scores import NOT_JUDGED
from skilleval.results.schema import SCORES, TRIALS
from skilleval.results.store.folders import journals, parts
from skilleval.results.store.lines import read_frames
from skilleval.results.store.parts import scan_table

_OF_TRIAL = ("trial_id", "reused_from", "serial_latency_ms", "serial_status")


def read_statuses(folder: Path) -> dict[str, str]:
    """Give the status of every stored trial by its id; what was written last counts.

    Raises:
        ResultsError: a table or a journal is damaged.
    """
    statuses: dict[str, str] = {}
    for rows in _rows(folder):
        statuses.update(rows.select("trial_id", "status").iter_rows())
    return statuses


def read_unmeasured(folder: Path) -> set[str]:
    """Give the ids of the completed trials that were not called a second time; what was written last counts.

    A call that failed is not made again: it is a finding. An attempt that was taken over from another run is not
    measured: what it took is known from there, or not at all.

    Raises:
        ResultsError: a table or a journal is damaged.
    """
    completed = pl.col("status") == Status.COMPLETED.value
    unknown = ("reused_from", "serial_latency_ms", "serial_status")
    to_measure: dict[str, bool] = {}
    for rows in _rows(folder):
        wanted = completed & pl.all_horizontal(pl.col(unknown).is_null())
        to_measure.update(rows.select("trial_id", wanted.alias("wanted")).iter_rows())
    return {trial_id for trial_id, wanted in to_measure.items() if wanted}


def read_unjudged(folder: Path) -> set[str]:
    """Give the ids of the trials that have a check whose judge failed or was not asked; what was written last counts.

    Raises:
        ResultsError: a table or a journal is damaged.
    """
    return _with_check(folder, lambda failure_kind: failure_kind.is_not_null())


def read_waiting(folder: Path) -> set[str]:
    """Give the ids of the trials that were called and await their judge; what was written last counts.

    Raises:
        ResultsError: a table or a journal is damaged.
    """
    return _with_check(folder, lambda failure_kind: (failure_kind == NOT_JUDGED).fill_null(value=False))


def _with_check(folder: Path, is_meant: Callable[[pl.Expr], pl.Expr]) -> set[str]:
    """Give the ids of the trials with a check that failed in a way that is meant."""
    found: dict[str, bool] = {}
    if parts(folder, SCORES.name):
        meant = is_meant(pl.col("failure_kind")).any().alias("meant")
        found.update(scan_table(folder, SCORES).group_by("trial_id").agg(meant).collect().iter_rows())
    of_scores = pl.col("scores").list.eval(is_meant(pl.element().struct.field("failure_kind"))).list.any()
    for path in journals(folder).values():
        for frame in read_frames(path):
            rows = frame.select(pl.col("trial").struct.field("trial_id"), of_scores.alias("meant"))
            found.update(rows.iter_rows())
    return {trial_id for trial_id, meant in found.items() if meant}


def _rows(folder: Path) -> Iterator[pl.DataFrame]:
    """Read what is known of each trial: first the tables, then the journals, oldest first."""
    if parts(folder, TRIALS.name):
        yield scan_table(folder, TRIALS).select(*_OF_TRIAL, "status").collect()
    of_trial = [pl.col("trial").struct.field(name) for name in _OF_TRIAL]
    status = pl.col("tries").list.last().struct.field("status")
    for path in journals(folder).values():
        for frame in read_frames(path):
            yield frame.select(*of_trial, status)
