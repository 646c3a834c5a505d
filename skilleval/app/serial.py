"""The second pass of `runner.latency=serial`: each completed trial is called once more, with the machine to itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from skilleval.app.recordings import stored_records
from skilleval.domain import Status, Trial
from skilleval.results.schema import TRIALS
from skilleval.results.store import scan_table
from skilleval.runner import Runner, Staged

SERIAL = "serial"
_TITLE = "measuring, one at a time"


def unmeasured(folder: Path, trials: Sequence[Trial]) -> dict[str, Trial]:
    """Give the completed trials of a run, by id, whose serial latency is not known yet.

    An attempt that was taken over from another run is not measured: what it took is known from there, or not at all.
    """
    rows = scan_table(folder, TRIALS).filter(
        pl.col("status") == Status.COMPLETED.value,
        pl.col("serial_latency_ms").is_null(),
        pl.col("reused_from").is_null(),
    )
    ids = set(rows.select("trial_id").collect()["trial_id"])
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
    await runner.measure(record for _, record in stored_records(folder, left))
