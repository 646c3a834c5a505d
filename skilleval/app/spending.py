"""What a run has spent and what its judges still owe, as its rows say."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from skilleval.domain.scores import NOT_JUDGED
from skilleval.results.schema import JUDGEMENTS, SCORES, TRIALS, TRIES
from skilleval.results.store import scan_table


def spent(folder: Path) -> tuple[float, int]:
    """Give the US dollars and tokens of all stored tries and judgements; nothing for a run without tables.

    Attempts that were taken over from another run were paid for there.
    """
    if not (folder / TRIES.name).is_dir():
        return 0.0, 0
    both = (pl.col("cost_usd"), pl.col("total_tokens"))
    taken_over = scan_table(folder, TRIALS).filter(pl.col("reused_from").is_not_null()).select("trial_id")
    tries = scan_table(folder, TRIES).join(taken_over, on="trial_id", how="anti")
    rows = pl.concat([table.select(both) for table in (tries, scan_table(folder, JUDGEMENTS))])
    usd, tokens = rows.select(column.sum() for column in both).collect().row(0)
    return float(usd or 0.0), int(tokens or 0)


def judge_errors(folder: Path) -> int:
    """Count the checks of a run that have no verdict because their judge failed."""
    failed = scan_table(folder, SCORES).filter(pl.col("failure_kind").is_not_null())
    return int(failed.select(pl.len()).collect().item())


def not_judged(folder: Path) -> int:
    """Count the trials of a run that still await their judge: the run ended before it was asked."""
    waiting = scan_table(folder, SCORES).filter(pl.col("failure_kind") == NOT_JUDGED)
    return int(waiting.select(pl.col("trial_id").n_unique()).collect().item())
