"""Item analysis of stored runs: what each task of a benchmark adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.analytics.items import counted_findings, items, reliability, subject_values
from skilleval.app.stored import outcomes_of, readable, stored_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The tables of `analytics.items`: one row a task, and one row a benchmark × scorer."""

    tasks: pl.DataFrame
    tests: pl.DataFrame

    def findings(self) -> dict[str, int]:
        """Count the tasks by finding."""
        return counted_findings(self.tasks["finding"].to_list())

    def facts(self) -> dict[str, Any]:
        """Give both tables as JSON."""
        return {
            "tests": self.tests.to_dicts(),
            "findings": self.findings(),
            "tasks": self.tasks.to_dicts(),
        }


def analyse_items(references: Sequence[str], *, store: Path) -> Items:
    """Analyse the tasks of stored runs (folder, id, `latest`), all their conditions together.

    Raises:
        UsageError: no run is named.
        ResultsError: a run cannot be read.
    """
    found = stored_runs(references, store)
    with readable(found[0].folder):
        values = subject_values(outcomes_of(found)).collect().lazy()
        return Items(tasks=items(values).collect(), tests=reliability(values).collect())
