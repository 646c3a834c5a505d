"""The list of stored runs as pure data: what the local page and its raw formats show."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from skilleval.report.csv_writer import cell
from skilleval.report.text import json_text

SCHEMA = "skilleval.runs/1"


class RunState(StrEnum):
    """How a run stands: what its gate said, that it is still going on, or why nobody knows.

    Without a gate (`--exit-on-fail`, rules) a run that came to its end is finished: its verdict stands in its report.
    """

    PASSED = "passed"
    FAILED = "failed"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    RUNNING = "running"
    UNREADABLE = "unreadable"


RUN_SHAPES = {
    RunState.PASSED: "✓",
    RunState.FAILED: "✕",
    RunState.FINISHED: "•",
    RunState.INTERRUPTED: "◐",
    RunState.RUNNING: "▶",
    RunState.UNREADABLE: "?",
}
"""Each state with a mark that says it without colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """One stored run. `key` is its folder below the root; `reason` says what a state alone does not.

    Times are UTC in ISO 8601. `finished` means that the run came to its end and nobody asked a gate. Null is not known;
    `shard` is null for a whole run.
    """

    key: str
    run_id: str
    state: RunState
    reason: str = ""
    experiment: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    benchmark_id: str = ""
    benchmark_version: str = ""
    skills: tuple[str, ...] = ()
    scorers: tuple[str, ...] = ()
    n_trials: int | None = None
    n_planned: int | None = None
    shard: int | None = None

    @property
    def is_readable(self) -> bool:
        """Say whether there is a report to look at."""
        return self.state is not RunState.UNREADABLE


SORTS = ("started", "run", "state", "experiment", "benchmark", "skills", "scorers", "trials")
"""By what runs are put in order; a minus in front turns it round."""


SHARDS_TOO = "listed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which runs a reader wants, in which order; empty asks for all. Dates are days of the start in UTC.

    Shards are parts of runs: they are there only where `shards` is `SHARDS_TOO`.
    """

    q: str = ""
    benchmark: str = ""
    skill: str = ""
    scorer: str = ""
    experiment: str = ""
    state: str = ""
    shards: str = ""
    since: str = ""
    until: str = ""
    sort: str = "-started"
    page: int = 1

    def changed(self, **values: Any) -> dict[str, str]:
        """Give the words of an address that asks for the same but these; what is as usual is left out."""
        usual = Asked()
        wished = {one.name: values.get(one.name, getattr(self, one.name)) for one in fields(self)}
        return {name: str(value) for name, value in wished.items() if value != getattr(usual, name)}


def runs_json(entries: Sequence[RunEntry]) -> str:
    """Write the list as one JSON document."""
    rows = [{**asdict(entry), "state": entry.state.value} for entry in entries]
    return json_text({"schema": SCHEMA, "runs": rows}, indent=2) + "\n"


def runs_csv(entries: Sequence[RunEntry]) -> str:
    """Write a row a run; several names stand in one cell, a line each; safe to open in a spreadsheet."""
    names = [one.name for one in fields(RunEntry)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    for entry in entries:
        values: Mapping[str, Any] = asdict(entry)
        writer.writerow([cell(_plain(values[name])) for name in names])
    return out.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, RunState):
        return value.value
    return "\n".join(value) if isinstance(value, tuple) else value
