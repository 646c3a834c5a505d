"""Finished trials and stored runs for tests, made by the real journal."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from samples import DONE, planned, task, trials

from skilleval.clock import Clock
from skilleval.domain.attempts import Reply, Try
from skilleval.domain.records import TrialRecord
from skilleval.results.journal import Journal
from skilleval.results.rows import RowBuilder
from skilleval.results.store import compact, create_run, journal_path
from skilleval.scorers.exact import ExactOptions, ExactScorer
from skilleval.scorers.panel import Panel

__all__ = ["DONE", "open_journal", "record_of", "written"]

_START = datetime(2026, 11, 1, 8, tzinfo=UTC)
_PANEL = Panel({"exact": ExactScorer(ExactOptions(case_sensitive=True, strip=True, tolerance=0.0))})


def record_of(replies: Sequence[Reply], repeat: int, *, adapter: str = "replay") -> TrialRecord:
    """Give the record of a trial whose tries ended like this, a second apart."""
    trial = trials(task(), skills=(planned(adapter=adapter),), repeats=repeat + 1)[repeat]
    tries = tuple(
        Try(try_index=i, started_at=_START + timedelta(seconds=i), backoff_ms=0.0, reply=reply)
        for i, reply in enumerate(replies)
    )
    return TrialRecord(
        trial=trial,
        tries=tries,
        scores=asyncio.run(_PANEL.hearing(trial, replies[-1]).scores()),
        ended_at=_START + timedelta(seconds=len(replies)),
        queue_ms=0.5,
        scoring_ms=0.1,
        concurrency=2,
    )


def open_journal(root: Path, run_id: str) -> tuple[Path, Journal]:
    """Make a run and open its journal."""
    folder = create_run(root, run_id)
    return folder, Journal(journal_path(folder), RowBuilder(run_id=run_id, sweep_id=None), Clock())


def written(
    root: Path,
    trials_replies: Sequence[Sequence[Reply]],
    *,
    run_id: str = "r1",
    compacted: bool = True,
    adapter: str = "replay",
) -> Path:
    """Write a run of one repeat a list of replies; give its folder."""
    folder, journal = open_journal(root, run_id)
    for repeat, replies in enumerate(trials_replies):
        journal.write(record_of(replies, repeat, adapter=adapter))
    journal.close()
    if compacted:
        compact(folder)
    return folder
