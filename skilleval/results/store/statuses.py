"""How each stored trial ended, read from tables and journals alike, without writing anything."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from skilleval.results.schema import TRIALS
from skilleval.results.store.folders import journals, parts
from skilleval.results.store.lines import read_frames
from skilleval.results.store.parts import scan_table


def read_statuses(folder: Path) -> dict[str, str]:
    """Give the status of every stored trial by its id; what was written last counts.

    Raises:
        ResultsError: a table or a journal is damaged.
    """
    statuses: dict[str, str] = {}
    if parts(folder, TRIALS.name):
        statuses.update(scan_table(folder, TRIALS).select("trial_id", "status").collect().iter_rows())
    for path in journals(folder).values():
        for frame in read_frames(path):
            status = pl.col("tries").list.last().struct.field("status")
            trial_id = pl.col("trial").struct.field("trial_id")
            statuses.update(frame.select(trial_id, status).iter_rows())
    return statuses
