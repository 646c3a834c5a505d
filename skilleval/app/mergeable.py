"""Which runs may be joined into one: their settings, their shards and their trials are held against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

import polars as pl

from skilleval.app.stored import Stored
from skilleval.config.trees import covers, leaves
from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.results.places import shown_place
from skilleval.results.schema import SCHEMA_VERSION
from skilleval.sharding import is_shard

_SHOWN = 10
_FREE: Final = (
    *("skill_set", "benchmark", "plan", "paths", "experiment_name", "report", "budget"),
    *(f"runner.{name}" for name in ("concurrency", "resume", "cache", "jitter")),
    *(f"runner.backoff_{name}" for name in ("base_s", "factor", "max_s")),
)
"""Settings that may differ: they choose trials, say where things lie, or do not change what a row says.

Skills and benchmark are known by their content instead.
"""
_PLACES: Final = ("path",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Something that a joined run is going to lack, and what to do about it."""

    where: str
    what: str
    hint: str = ""

    @property
    def problem(self) -> Problem:
        """The gap as a problem."""
        return Problem(where=self.where, expected="all trials of the plan", found=self.what, hint=self.hint)


def check_alike(runs: Sequence[Stored]) -> None:
    """Check that rows of these runs can stand in one table.

    Raises:
        UsageError: their schema, their settings or their plans differ; names what.
    """
    _check_versions(runs)
    if len({is_shard(run.manifest) for run in runs}) > 1:
        problems = tuple(
            Problem(where=str(run.folder), expected="a shard", found="a whole run")
            for run in runs
            if not is_shard(run.manifest)
        )
        raise UsageError("shards of a plan and whole runs cannot be joined", problems=problems[:_SHOWN])
    first = _identity(runs[0].manifest)
    problems = tuple(problem for run in runs[1:] for problem in _differing(first, runs[0], run))
    if problems:
        msg = f"the runs differ in {', '.join(dict.fromkeys(one.key for one in problems[:_SHOWN]))}"
        hint = "join only runs with the same settings; `skilleval diff` and `sweep report` compare others"
        raise UsageError(msg, problems=problems[:_SHOWN], hint=hint)


def _check_versions(runs: Sequence[Stored]) -> None:
    versions = {str(run.manifest.get("schema_version", SCHEMA_VERSION)): run for run in runs}
    if len(versions) > 1:
        problems = tuple(
            Problem(where=str(run.folder), key="schema_version", expected=SCHEMA_VERSION, found=version)
            for version, run in sorted(versions.items())
            if version != SCHEMA_VERSION
        )
        hint = "columns that came later would be null for some of the trials: run those again"
        raise UsageError("the runs have tables of different versions", problems=problems, hint=hint)


def _differing(first: Mapping[str, Any], one: Stored, other: Stored) -> Iterator[Problem]:
    second = _identity(other.manifest)
    for key in sorted({*first, *second}):
        if first.get(key) != second.get(key):
            expected = f"{first.get(key)}, as in {one.folder.name}"
            yield Problem(where=str(other.folder), key=key, expected=expected, found=str(second.get(key)))


def _identity(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Give all in which the runs must be the same."""
    settings = {
        key: _bare(key, value)
        for key, value in leaves(manifest["config"])
        if not any(covers(free, key) for free in _FREE)
    }
    benchmark, sandbox = manifest["benchmark"], manifest.get("sandbox") or {}
    scorers = manifest.get("scorers") or {}
    return {
        **settings,
        **{f"benchmark.{key}": benchmark.get(key) for key in ("id", "version", "digest")},
        **{f"scorers.{name}.version": one.get("version") for name, one in scorers.items()},
        "sandbox.guarantees": sorted(sandbox.get("guarantees") or ()),
        "sandbox.images": (sandbox.get("facts") or {}).get("images"),
        **_plan(manifest),
    }


def _bare(key: str, value: Any) -> Any:
    """Reduce a path to its last name: machines keep the same file in different places."""
    is_place = key.rpartition(".")[2] in _PLACES and isinstance(value, str)
    return PurePath(value).name if is_place else value


def _plan(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the shards of one plan share; whole runs may be of any plan."""
    if not is_shard(manifest):
        return {}
    plan = manifest["plan"]
    return {
        **{f"plan.{key}": plan.get(key) for key in ("digest", "n_trials", "shards", "durations")},
        # Whoever edited a skill between two shards is told which one.
        **{f"skills.{one['id']}.digest": one.get("digest") for one in manifest.get("skills", ())},
    }


def check_overlap(runs: Sequence[Stored]) -> None:
    """Check that no trial stands in two of the runs.

    Raises:
        UsageError: some do; names them, and the runs.
    """
    ids = [run.trials.select("trial_id", pl.lit(at).alias("run")) for at, run in enumerate(runs)]
    several = pl.concat(ids).group_by("trial_id").agg("run").filter(pl.col("run").list.len() > 1)
    found = several.sort("trial_id").collect(engine="streaming")
    if found.is_empty():
        return
    problems = tuple(
        Problem(
            where=f"trial {trial_id}",
            expected="it in one run",
            found=" and ".join(runs[at].folder.name for at in sorted(places)),
        )
        for trial_id, places in found.head(_SHOWN).iter_rows()
    )
    said = "1 trial stands" if found.height == 1 else f"{found.height:,} trials stand"
    raise UsageError(
        f"{said} in more than one of the runs", problems=problems, hint="leave out one of the two runs"
    )


def gaps(runs: Sequence[Stored]) -> list[Gap]:
    """Say what is missing of the whole: shards that are not there, and runs that did not come to their end."""
    found = []
    for run in runs:
        counts = run.manifest.get("counts") or {}
        n, n_planned = counts.get("trials"), run.manifest["n_planned"]
        if run.manifest.get("interrupted") or n is None or n < n_planned:
            hint = f"go on with it: skilleval eval --resume {shown_place(run.folder)}"
            found.append(Gap(where=str(run.folder), what=f"{n or 0:,} of {n_planned:,} trials", hint=hint))
    if is_shard(runs[0].manifest):
        found += _absent_shards(runs)
    return found


def _absent_shards(runs: Sequence[Stored]) -> Iterator[Gap]:
    n_shards = runs[0].manifest["plan"]["shards"]
    present = {run.manifest["plan"]["shard"] for run in runs}
    for shard in range(n_shards):
        if shard not in present:
            hint = f"run it with plan.shards={n_shards} plan.shard={shard}"
            yield Gap(where=f"shard {shard} of {n_shards}", what="no run of it", hint=hint)


def refuse_gaps(found: Sequence[Gap]) -> None:
    """Refuse to call a run whole that is not.

    Raises:
        ResultsError: there are gaps.
    """
    if found:
        problems = tuple(gap.problem for gap in found[:_SHOWN])
        hint = "--allow-missing joins what is there, as an interrupted run"
        said = "1 thing is" if len(found) == 1 else f"{len(found)} things are"
        raise ResultsError(f"{said} missing of the whole", problems=problems, hint=hint)


def planned_in_all(runs: Sequence[Stored]) -> int:
    """Count the trials that the joined run should have."""
    if is_shard(runs[0].manifest):
        return int(runs[0].manifest["plan"]["n_trials"])
    return sum(int(run.manifest["n_planned"]) for run in runs)


def check_some(runs: Sequence[Stored], absent: Sequence[Gap] = ()) -> None:
    """Check that there is something to join, and that each shard is there once; `absent` runs are told of elsewhere.

    Raises:
        UsageError: there is not.
    """
    if not runs:
        raise UsageError("there is no run to join", hint="name runs, a sweep, or a folder that holds shards")
    if len(runs) == 1 and not absent and not is_shard(runs[0].manifest):
        msg = f"{shown_place(runs[0].folder)} is a whole run: there is nothing to join it with"
        raise UsageError(msg, hint="name two runs or more, a sweep, or a folder that holds shards")
    by_shard: dict[int, list[Path]] = {}
    for run in runs:
        if is_shard(run.manifest):
            by_shard.setdefault(run.manifest["plan"]["shard"], []).append(run.folder)
    twice = {shard: folders for shard, folders in by_shard.items() if len(folders) > 1}
    if twice and len({run.manifest["plan"]["digest"] for run in runs if is_shard(run.manifest)}) == 1:
        problems = tuple(
            Problem(where=f"shard {shard}", expected="one run", found=", ".join(f.name for f in folders))
            for shard, folders in sorted(twice.items())
        )
        raise UsageError(
            "a shard is there more than once", problems=problems[:_SHOWN], hint="name the runs that count"
        )
