"""Runs for notebooks: the tables of one as frames, and what the manifests of many say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from skilleval.app.slicing import at
from skilleval.errors import ResultsError
from skilleval.results.find import find_run, runs
from skilleval.results.places import is_elsewhere, local_place
from skilleval.results.schema import JUDGEMENTS, SCORES, TRIALS, TRIES, Table
from skilleval.results.store import compact, read_manifest, scan_table
from skilleval.sharding import is_shard


@dataclass(frozen=True, slots=True)
class Run:
    """One stored run. Its tables are lazy: nothing is read before a frame is collected.

    The columns of each table, with their units, stand in `docs/results.md`.
    """

    folder: Path

    @property
    def run_id(self) -> str:
        """The id of the run, which sorts by its start."""
        return str(self.manifest["run_id"])

    @property
    def manifest(self) -> Mapping[str, Any]:
        """All that is needed to understand the rows and to run them again, as it stands in `manifest.json`."""
        return read_manifest(self.folder)

    def trials(self) -> pl.LazyFrame:
        """Give the trials.

        Grain: one row a trial: one repeat of one task under one condition.
        """
        return self._table(TRIALS)

    def tries(self) -> pl.LazyFrame:
        """Give the tries.

        Grain: one row an execution inside a trial; the last one is the attempt.
        """
        return self._table(TRIES)

    def scores(self) -> pl.LazyFrame:
        """Give the scores.

        Grain: one row a check of a scorer on a trial.
        """
        return self._table(SCORES)

    def judgements(self) -> pl.LazyFrame:
        """Give the calls of judges.

        Grain: one row a call of a judge model.
        """
        return self._table(JUDGEMENTS)

    def _table(self, table: Table) -> pl.LazyFrame:
        compact(self.folder)  # what a killed run left in its journal
        return scan_table(self.folder, table)


def open_run(reference: str | Path, *, store: str | Path = "outputs") -> Run:
    """Find a stored run by its folder, its id or a part of it, or as `latest`.

    Raises:
        ResultsError: nothing fits, or more than one run does.
    """
    return Run(find_run(str(reference), Path(store)))


_FACTS: Final[Mapping[str, tuple[tuple[str, ...], Any]]] = {
    "run_id": (("run_id",), pl.String()),
    "sweep_id": (("sweep_id",), pl.String()),
    "experiment": (("experiment",), pl.String()),
    "started_at": (("started_at",), pl.String()),
    "ended_at": (("ended_at",), pl.String()),
    "interrupted": (("interrupted",), pl.Boolean()),
    "exit_code": (("exit_code",), pl.Int64()),
    "benchmark_id": (("benchmark", "id"), pl.String()),
    "benchmark_version": (("benchmark", "version"), pl.String()),
    "benchmark_digest": (("benchmark", "digest"), pl.String()),
    "n_tasks": (("benchmark", "n_tasks"), pl.Int64()),
    "shard": (("plan", "shard"), pl.Int64()),
    "n_planned": (("n_planned",), pl.Int64()),
    "n_trials": (("counts", "trials"), pl.Int64()),
    "repeats": (("runner", "repeats"), pl.Int64()),
    "concurrency": (("runner", "concurrency"), pl.Int64()),
    "seed": (("seeds", "runner"), pl.Int64()),
    "sandbox": (("sandbox", "name"), pl.String()),
    "skilleval_version": (("versions", "skilleval"), pl.String()),
    "git_commit": (("git", "commit"), pl.String()),
    "schema_version": (("schema_version",), pl.String()),
}
_TIMES = ("started_at", "ended_at")


def scan_runs(path: str | Path = "outputs") -> pl.LazyFrame:
    """Give what the manifests of all runs below a folder say; a manifest that cannot be read is left out.

    Grain: one row a run, oldest first.
    Columns: `folder`, `run_id`, `sweep_id`, `experiment`, `started_at` and `ended_at` (UTC; null while it runs or if it
        was killed), `interrupted`, `exit_code`, `benchmark_id`, `benchmark_version`, `benchmark_digest`, `n_tasks`,
        `shard` (null for a whole run), `n_planned` and `n_trials` (trials), `repeats`, `concurrency`, `seed`,
        `sandbox`, `skilleval_version`, `git_commit`, `schema_version`, `skills` and `scorers` (lists of names).

    Raises:
        ResultsError: there is no such folder.
    """
    root = local_place(path)
    if not root.is_dir() and not is_elsewhere(path):
        msg = f"there is no folder {root}"
        raise ResultsError(msg, hint="name the folder of stored runs, e.g. outputs")
    rows = [row for folder in runs(root) if (row := _facts(folder)) is not None]
    schema = {name: dtype for name, (_, dtype) in _FACTS.items()}
    lists = dict.fromkeys(("skills", "scorers"), pl.List(pl.String()))
    frame = pl.LazyFrame(rows, schema={"folder": pl.String(), **schema, **lists})
    return frame.with_columns(pl.col(_TIMES).str.to_datetime(time_unit="us", time_zone="UTC", strict=False))


def _facts(folder: Path) -> dict[str, Any] | None:
    try:
        manifest = read_manifest(folder)
    except ResultsError:
        return None
    facts = {name: _typed(at(manifest, place), dtype) for name, (place, dtype) in _FACTS.items()}
    return {
        "folder": str(folder),
        **facts,
        "shard": facts["shard"] if is_shard(manifest) else None,
        "skills": _names(manifest.get("skills")),
        "scorers": list(manifest.get("scorers") or {}),
    }


def _typed(value: Any, dtype: pl.DataType) -> Any:
    """Keep a value that is of its column's type; null for any other, which is not known to us."""
    if dtype == pl.Boolean():
        return value if isinstance(value, bool) else None
    if dtype == pl.Int64():
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    return value if isinstance(value, str) else None


def _names(skills: object) -> list[str] | None:
    if not isinstance(skills, Sequence):
        return None
    return [str(one.get("id")) for one in skills if isinstance(one, Mapping)]
