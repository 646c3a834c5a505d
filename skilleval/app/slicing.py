"""Slices of stored runs: by what rows say of themselves, or by what manifests say of their runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.analytics.interval_columns import interval_columns
from skilleval.analytics.slices import SLICINGS, slices
from skilleval.app.stored import Stored, alike, outcomes_of, readable, stored_runs
from skilleval.errors import Problem, UsageError
from skilleval.strict import nearest

MANIFEST_FIELD = "manifest:"
DOMAIN = "domain"
BENCHMARK = "benchmark"
_OF_RUNS: Mapping[str, tuple[str, ...]] = {
    DOMAIN: ("benchmark", "domain"),
    BENCHMARK: ("benchmark", "id"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sliced:
    """Slices with the metrics that were asked for; `keys` are the columns that say what a row is about."""

    by: tuple[str, ...]
    metrics: tuple[str, ...]
    keys: tuple[str, ...]
    rows: pl.DataFrame
    left_out: int

    def facts(self) -> dict[str, Any]:
        """Give the slices as JSON."""
        return {
            "by": list(self.by),
            "metrics": list(self.metrics),
            "n_trials_left_out": self.left_out,
            "slices": self.rows.to_dicts(),
        }


def known_slicings() -> tuple[str, ...]:
    """Name what can be sliced by, manifest fields left out."""
    return (*SLICINGS, *_OF_RUNS)


def slice_runs(
    references: Sequence[str], *, by: Sequence[str], metrics: Sequence[str], store: Path
) -> Sliced:
    """Slice stored runs (folder, id, `latest`).

    Raises:
        UsageError: a slicing or metric is not known, or the runs follow different formulas.
        ResultsError: a run cannot be read.
    """
    _check_slicings(by)
    found = stored_runs(references, store)
    with readable(found[0].folder):
        return _sliced(found, tuple(dict.fromkeys(by)), tuple(dict.fromkeys(metrics)))


def _sliced(found: Sequence[Stored], by: tuple[str, ...], metrics: tuple[str, ...]) -> Sliced:
    outcomes = outcomes_of(found)
    of_runs = [name for name in by if name not in SLICINGS]
    facts = _facts(found, of_runs) if of_runs else None
    parts = [
        slices(outcomes_of(group), by=by, spec=group[0].spec, facts=facts, intervals=metrics)
        for group in alike(found)
    ]
    every = pl.concat(parts, how="diagonal").collect()
    _check_metrics(metrics, every)
    keys = _telling(every, by)
    beside = [name for metric in metrics for name in interval_columns(metric) if name in every.columns]
    counts = ("n_tasks", "n_trials", "n_graded")
    shown = dict.fromkeys((*keys, *counts, *metrics, *beside))
    total = outcomes.select(pl.struct("run_id", "trial_id").n_unique()).collect().item()
    return Sliced(
        by=by,
        metrics=metrics,
        keys=keys,
        rows=every.sort(keys, nulls_last=True, maintain_order=True).select(list(shown)),
        left_out=total - _n_within(outcomes, by, facts),
    )


def _n_within(outcomes: pl.LazyFrame, by: Sequence[str], facts: pl.LazyFrame | None) -> int:
    """Count the trials that are in any slice."""
    rows = outcomes if facts is None else outcomes.join(facts, on="run_id", how="left")
    lists = [SLICINGS.get(name, pl.concat_list(pl.col(name))).list.drop_nulls().list.len() > 0 for name in by]
    within = rows.filter(pl.all_horizontal(lists))
    return int(within.select(pl.struct("run_id", "trial_id").n_unique()).collect().item())


def _telling(rows: pl.DataFrame, by: Sequence[str]) -> tuple[str, ...]:
    """Give the columns that tell rows apart: skill and scorer always, others of the condition where they differ."""
    always = ("skill_id", "scorer")
    others = (
        "skill_version", "skill_digest", "benchmark_id", "benchmark_version", "adapter", "model", "sandbox", "mode",
        "condition_id",
    )  # fmt: skip
    shown = [*by, *always]
    for name in others:
        if rows.select(pl.struct(shown).is_duplicated().any()).item() and rows[name].n_unique() > 1:
            shown.append(name)
    return tuple(dict.fromkeys(shown))


def _facts(found: Sequence[Stored], names: Sequence[str]) -> pl.LazyFrame:
    """Look up what manifests say of their runs; texts, null where a manifest does not say.

    Grain: one row a run.
    Columns: `run_id`, then one a name.
    """
    rows = [
        {"run_id": one.manifest["run_id"], **{name: _text(at(one.manifest, _path(name))) for name in names}}
        for one in found
    ]
    said = {name: [row[name] for row in rows] for name in names}
    for name, values in said.items():
        if all(value is None for value in values):
            raise _unknown_field(name, found[0])
    return pl.LazyFrame(rows, schema={"run_id": pl.String, **dict.fromkeys(names, pl.String)})


def _path(name: str) -> tuple[str, ...]:
    return _OF_RUNS.get(name) or tuple(name.removeprefix(MANIFEST_FIELD).split("."))


def at(manifest: Mapping[str, Any], path: Sequence[str]) -> Any:
    """Give the value at a path of a manifest; null where there is none."""
    value: Any = manifest
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _unknown_field(name: str, one: Stored) -> UsageError:
    path = _path(name)
    depth = next((n for n in range(len(path)) if at(one.manifest, path[: n + 1]) is None), len(path) - 1)
    there = at(one.manifest, path[:depth])
    keys = sorted(there) if isinstance(there, Mapping) else []
    problem = Problem(
        where="--by",
        key=".".join(path),
        expected=f"one of {', '.join(keys)}" if keys else "a field of the manifest",
        found=path[depth],
        hint=nearest(path[depth], keys),
    )
    return UsageError("no run says anything of this", problems=(problem,))


def _check_slicings(by: Sequence[str]) -> None:
    known = known_slicings()
    if not by:
        raise UsageError("nothing to slice by", hint=f"--by {', '.join(known)} or manifest:KEY")
    for name in by:
        if name not in known and not name.startswith(MANIFEST_FIELD):
            expected = f"one of {', '.join(known)}, or {MANIFEST_FIELD}KEY.OF.A.MANIFEST"
            problem = Problem(where="--by", expected=expected, found=name, hint=nearest(name, list(known)))
            raise UsageError("rows cannot be sliced by this", problems=(problem,))


def _check_metrics(metrics: Sequence[str], rows: pl.DataFrame) -> None:
    for name in metrics:
        check_metric(name, rows.schema)


def check_metric(name: str, schema: Mapping[str, Any]) -> None:
    """Check that a metric is a number of the summary.

    Raises:
        UsageError: it is not; names those that are.
    """
    numbers = [key for key, dtype in schema.items() if dtype.is_numeric()]
    if name not in numbers:
        expected, hint = f"one of {', '.join(numbers)}", nearest(name, numbers)
        problem = Problem(where="--metric", expected=expected, found=name, hint=hint)
        raise UsageError("there is no such metric", problems=(problem,))
