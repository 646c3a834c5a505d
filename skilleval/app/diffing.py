"""Comparing a candidate with a baseline: two stored runs, or what JSON reports still know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.analytics.effects import effects
from skilleval.analytics.flips import CHECK_VALUES, check_pairs, check_results, flips
from skilleval.analytics.outcomes import CONDITION_KEYS
from skilleval.analytics.regression import condition_pairs
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.summary import summary
from skilleval.analytics.task_pairs import task_pairs
from skilleval.analytics.task_results import TASK_KEYS, TASK_VALUES, repeat_rates, task_results
from skilleval.app.analyse import analysis_spec
from skilleval.app.convert import read_report
from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.report.comparison import warnings
from skilleval.report.diff_build import DiffFrames
from skilleval.report.document import Report
from skilleval.results.find import PREVIOUS, find_run, runs
from skilleval.results.places import shown_place
from skilleval.results.schema import SCORES, TRIALS
from skilleval.results.store import read_manifest, scan_table
from skilleval.sharding import is_shard

COMPARED = ("consistency", "p50_ms", "p95_ms", "composite")
"""The metrics of a summary that no task has of its own: they are set side by side, and not tested."""

_LEVEL, _SEED = 0.95, 0
_OF_SUMMARY = pl.Schema(dict.fromkeys(CONDITION_KEYS, pl.String()) | dict.fromkeys(COMPARED, pl.Float64()))
_CELL = {"n_trials": "n", "n_graded": "n_graded", "n_passed": "n_passed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two runs that are compared. A JSON report has no rows: only verdicts by task are known of it.

    `scorers` gives the version of each scorer, as far as it is known.
    """

    report: Report
    tasks: pl.LazyFrame
    checks: pl.LazyFrame
    scorers: Mapping[str, str]
    spec: AnalysisSpec | None = None
    trials: pl.LazyFrame | None = None
    scores: pl.LazyFrame | None = None


def read_sides(baseline: str, candidate: str, store: Path) -> tuple[Side, Side]:
    """Read both sides; `previous` is the newest earlier run of the other one's benchmark.

    Raises:
        ResultsError: one of them cannot be read, or there is no earlier run.
    """
    if candidate == PREVIOUS:
        raise UsageError(f"`{PREVIOUS}` is a baseline", hint=f"skilleval diff {PREVIOUS} latest")
    if baseline == PREVIOUS:
        baseline = str(earlier_run(find_run(candidate, store), store))
    return read_side(baseline, store), read_side(candidate, store)


def earlier_run(folder: Path, store: Path) -> Path:
    """Find the newest whole run that ended, is older than a run and shares benchmark, a skill and a scorer with it.

    Raises:
        ResultsError: there is none.
    """
    here, own = folder.resolve(), read_manifest(folder)
    stored = [one.resolve() for one in runs(store)]
    for other in reversed(stored[: stored.index(here)] if here in stored else stored):
        if other != here and _is_finished_and_alike(other, own):
            return other
    msg = f"no earlier run of {own['benchmark']['id']} is stored below {shown_place(store)}"
    hint = "a finished one with a skill and a scorer in common; name the baseline, or the folder with --store"
    raise ResultsError(msg, hint=hint)


def _is_finished_and_alike(other: Path, own: Mapping[str, Any]) -> bool:
    """Say whether a run can be a baseline; one whose manifest is damaged cannot, and is nobody's obstacle.

    Without a common scorer, as after `skilleval score`, nothing could be compared, and a gate would skip its rules.
    """
    try:
        said = read_manifest(other)
        is_finished = said.get("ended_at") is not None and not said.get("interrupted")
        is_alike = said["benchmark"]["id"] == own["benchmark"]["id"]
        return is_finished and is_alike and not is_shard(said) and all(_shared(said, own))
    except (ResultsError, KeyError, TypeError):
        return False


def _shared(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Give the ids of the skills and the names of the scorers that two manifests share."""
    skills = [{skill["id"] for skill in manifest["skills"]} for manifest in (one, other)]
    return skills[0] & skills[1], set(one["scorers"]) & set(other["scorers"])


def read_side(reference: str, store: Path) -> Side:
    """Read what a comparison needs of a run or of a JSON report.

    Raises:
        ResultsError: it is neither.
    """
    report, _ = read_report(reference, store)
    if Path(reference).is_file():
        return _of_report(report)
    folder = find_run(reference, store)
    manifest = read_manifest(folder)
    spec = analysis_spec(manifest)
    trials, scores = scan_table(folder, TRIALS), scan_table(folder, SCORES)
    versions = scores.select("scorer", "scorer_version").unique().sort("scorer", "scorer_version").collect()
    return Side(
        report=report,
        tasks=task_results(trials, scores, spec=spec).collect().lazy(),
        checks=check_results(trials, scores).collect().lazy(),
        scorers=_joined(versions.iter_rows()),
        spec=spec,
        trials=trials,
        scores=scores,
    )


def _joined(versions: Any) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for scorer, version in versions:
        found.setdefault(scorer, []).append(version)
    return {scorer: ", ".join(several) for scorer, several in found.items()}


def _of_report(report: Report) -> Side:
    """Take the verdicts by task from a report; everything else of a task is not known."""
    conditions = {(row.get("condition_id"), row.get("scorer")): row for row in report.summary}
    rows = [
        {
            **{key: conditions[cell.condition_id, cell.scorer].get(key) for key in CONDITION_KEYS},
            "task_id": cell.task_id,
            **{name: getattr(cell, source) for name, source in _CELL.items()},
        }
        for cell in report.matrix
        if (cell.condition_id, cell.scorer) in conditions
    ]
    keys = pl.Schema(dict.fromkeys(TASK_KEYS, pl.String()))
    tasks = pl.LazyFrame(rows, schema={**keys, **TASK_VALUES})
    rates = {metric.name: metric.expr for metric in repeat_rates()}
    checks = pl.LazyFrame(schema={**keys, **CHECK_VALUES})
    return Side(report=report, tasks=tasks.with_columns(**rates), checks=checks, scorers={})


def compared(one: Side, other: Side, *, margin: float, level: float) -> DiffFrames:
    """Compute all frames of a comparison."""
    pairs = condition_pairs(one.tasks, other.tasks).collect().lazy()
    tasks = task_pairs(pairs, one.tasks, other.tasks).collect().lazy()
    checks = check_pairs(pairs, one.checks, other.checks)
    found = pl.collect_all(
        [
            pairs,
            tasks,
            effects(tasks, margin=margin, level=level, seed=one.spec.seed if one.spec else _SEED),
            flips(tasks, checks),
            _summary(one, pairs, tasks, "before"),
            _summary(other, pairs, tasks, "after"),
        ]
    )
    names = ("pairs", "tasks", "effects", "flips", "before", "after")
    return DiffFrames(**dict(zip(names, found, strict=True)))


def level_of(one: Side, other: Side) -> float:
    """Give the level of the baseline's analysis; a report does not say it in a way that could be trusted."""
    known = [side.spec.level for side in (one, other) if side.spec is not None]
    return known[0] if known else _LEVEL


def _summary(side: Side, pairs: pl.LazyFrame, tasks: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Summarise the tasks that are compared; of a report the whole, as it stands there.

    Grain: one row a pair.
    Columns: `pair`, then `COMPARED`.
    """
    keys = {"condition_id": f"condition_id_{name}", "scorer": "scorer"}
    places = pairs.filter(pl.col("side") == "both").select(
        "pair", **{key: pl.col(column) for key, column in keys.items()}
    )
    if side.trials is None or side.scores is None or side.spec is None:
        rows = [{key: row.get(key) for key in _OF_SUMMARY} for row in side.report.summary]
        whole = pl.LazyFrame(rows, schema=_OF_SUMMARY)
        return whole.join(places, on=list(keys), nulls_equal=True).select("pair", *COMPARED)
    shapes = {"pair": pl.Int64(), **dict.fromkeys(COMPARED, pl.Float64())}
    found = [
        summary(_only(side.trials, pair, tasks), side.scores, spec=side.spec)
        .filter(pl.col("scorer").eq_missing(pl.lit(pair["scorer"], dtype=pl.String)))
        .select(pl.lit(pair["pair"]).alias("pair"), *COMPARED)
        .select(pl.col(column).cast(dtype) for column, dtype in shapes.items())
        for pair in places.collect().to_dicts()
    ]
    return pl.concat([pl.LazyFrame(schema=shapes), *found])


def _only(trials: pl.LazyFrame, pair: Mapping[str, Any], tasks: pl.LazyFrame) -> pl.LazyFrame:
    counted = tasks.filter((pl.col("pair") == pair["pair"]) & pl.col("left_out").is_null()).select("task_id")
    return trials.filter(pl.col("condition_id") == pair["condition_id"]).join(
        counted, on="task_id", how="semi"
    )


def differences(one: Side, other: Side) -> tuple[str, ...]:
    """Say what differs besides the skills."""
    return (*warnings(one.report, other.report), *_scorer_versions(one, other))


def _scorer_versions(one: Side, other: Side) -> Sequence[str]:
    return [
        f"scorer {name} has another version ({one.scorers[name]} and {other.scorers[name]}): it may judge otherwise"
        for name in one.scorers
        if name in other.scorers and one.scorers[name] != other.scorers[name]
    ]


def nothing_shared(one: Side, other: Side) -> ResultsError:
    """Say what either side has, where nothing of it is shared."""
    said = [
        ", ".join(
            sorted(
                {
                    f"{row.get('skill_id')} on {row.get('benchmark_id')} by {row.get('scorer')}"
                    for row in side.report.summary
                }
            )
        )
        for side in (one, other)
    ]
    problems = tuple(
        Problem(
            where=role,
            expected="a skill, scorer, mode and benchmark that the other run has too",
            found=text or "none",
        )
        for role, text in zip(("baseline", "candidate"), said, strict=True)
    )
    return ResultsError("the runs have nothing to compare", problems=problems)
