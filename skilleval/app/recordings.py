"""A stored run as a recording: its attempts can be replayed without running a skill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skilleval.adapters.replay import Recorded, ReplayAdapter
from skilleval.domain import Reply, Status, Usage
from skilleval.errors import CatalogError, Problem
from skilleval.results.schema import TRIALS
from skilleval.results.store import compact, scan_table

_KEY = ("skill_id", "task_id", "repeat")
_USAGE = ("input_tokens", "output_tokens", "total_tokens", "cost_usd")
_REPLY = (
    "output",
    "failure_kind",
    "message",
    "latency_ms",
    "stdout",
    "stderr",
    "exit_code",
    "output_bytes",
    "output_encoding_errors",
)


def replay_run(folder: Path) -> ReplayAdapter:
    """Build an adapter that answers with the attempts of a stored run.

    Raises:
        ResultsError: the folder holds no run.
        CatalogError: the run answers one call twice, e.g. under two conditions.
    """
    compact(folder)
    trials = scan_table(folder, TRIALS).select(*_KEY, "status", *_REPLY, *_USAGE).collect()
    if trials.select(_KEY).is_duplicated().any():
        problem = Problem(where=str(folder), expected="one attempt a skill, task and repeat", found="several")
        raise CatalogError("the run cannot be replayed", problems=(problem,))
    return ReplayAdapter.of(_recorded(row) for row in trials.iter_rows(named=True))


def _recorded(row: dict[str, Any]) -> Recorded:
    reply = Reply(
        status=Status(row["status"]),
        usage=Usage(**{name: row[name] for name in _USAGE}),
        **{name: row[name] for name in _REPLY},
    )
    return Recorded(task_id=row["task_id"], skill_id=row["skill_id"], repeat=row["repeat"], reply=reply)
