"""The history of skills: the figures of all stored runs, joined to lines that can be compared, and where they moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.analytics.change_points import ChangePoint, change_points
from skilleval.analytics.interval_columns import interval_columns, with_intervals
from skilleval.analytics.summary import summary
from skilleval.analytics.task_results import task_results
from skilleval.analytics.trend import LINE_KEYS, METHOD_KEYS, TASK_MEANS, numbered_lines, task_matrix
from skilleval.app.finished import Uncounted, finished_runs
from skilleval.app.slicing import check_metric
from skilleval.app.stored import Stored, readable, stored
from skilleval.domain.hashes import content_hash
from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.results.find import runs
from skilleval.results.places import shown_place
from skilleval.results.store import read_manifest
from skilleval.strict import nearest

ALPHA = 0.05
"""The chance that an unchanged history is said to have changed."""

_RATE = "completion_rate"
_DIGEST_LENGTH = 8
_BESIDE = ("skill_version", "skill_digest", "condition_id", "n_tasks", "n_trials", "n_graded")
_FACETS = {
    "benchmark_version": "version of the benchmark",
    "benchmark_digest": "content of the benchmark",
    "scorer_version": "version of the scorer",
    "scorer_settings": "settings of the scorer",
    "formulas": "formulas",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change point of a line, told by its runs. `p_value` is of a permutation test."""

    run_id: str
    after_run_id: str
    before: float
    after: float
    p_value: float
    n_tasks: int
    skill_changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The runs of one skill that can be compared, oldest first; `note` says why no change was looked for, if so."""

    about: Mapping[str, str | None]
    points: tuple[Mapping[str, Any], ...]
    changes: tuple[Change, ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All lines, and what is worth saying about runs that are apart or do not count."""

    metric: str
    lines: tuple[Line, ...]
    notices: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        """Give the timeline as JSON."""
        return {
            "metric": self.metric,
            "alpha": ALPHA,
            "lines": [
                {
                    **line.about,
                    "points": [dict(point) for point in line.points],
                    "changes": [_change_facts(change) for change in line.changes],
                    "note": line.note,
                }
                for line in self.lines
            ],
            "notices": list(self.notices),
        }


def _change_facts(change: Change) -> dict[str, Any]:
    return {name: getattr(change, name) for name in Change.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a history is asked for; null asks for all."""

    metric: str = _RATE
    skill: str | None = None
    benchmark: str | None = None
    scorer: str | None = None


def timeline(store: Path, wanted: Wanted) -> Timeline:
    """Tell the history of skills from all finished runs below a folder.

    Raises:
        ResultsError: there is no run.
        UsageError: no run has such a skill, benchmark, scorer or metric.
    """
    uncounted = Uncounted()
    points, tasks = _read(store, wanted, uncounted)
    if not points:
        raise _nothing(store, wanted, uncounted)
    rows = pl.concat(points, how="vertical_relaxed")
    lined = numbered_lines(_of_scorer(rows, wanted).lazy()).collect()
    means = pl.concat(tasks) if tasks else None
    lines = tuple(_line(one, means) for one in lined.partition_by("line", maintain_order=True))
    return Timeline(metric=wanted.metric, lines=lines, notices=(*uncounted.notices(), *_apart(lines)))


def _read(store: Path, wanted: Wanted, uncounted: Uncounted) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
    """Read the points of all runs, and the task means behind them where the metric is one of tasks."""
    points, tasks = [], []
    for one in _stored(store, wanted, uncounted):
        with readable(one.folder):
            found = _summary(one, wanted.metric)
            points.append(_points(one, _of_skill(found, wanted), wanted.metric))
            if wanted.metric in TASK_MEANS:
                tasks.append(_tasks(one, wanted.metric))
    return [one for one in points if one.height], tasks


def _summary(one: Stored, metric: str) -> pl.DataFrame:
    """Summarise a run, with the interval of the metric where it has one."""
    rows = summary(one.trials, one.scores, spec=one.spec)
    check_metric(metric, rows.collect_schema())
    return with_intervals(rows, one.trials, one.scores, metrics=(metric,), spec=one.spec).collect()


def _of_skill(rows: pl.DataFrame, wanted: Wanted) -> pl.DataFrame:
    return rows if wanted.skill is None else rows.filter(pl.col("skill_id") == wanted.skill)


def _of_scorer(rows: pl.DataFrame, wanted: Wanted) -> pl.DataFrame:
    if wanted.scorer is None:
        return rows
    names = rows["scorer"].unique().drop_nulls().sort().to_list()
    if wanted.scorer not in names:
        raise _misspelt("--scorer", wanted.scorer, names)
    return rows.filter(pl.col("scorer") == wanted.scorer)


def _points(one: Stored, rows: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Give the points of one run.

    Grain: one row a condition × scorer.
    Columns: `LINE_KEYS`, `METHOD_KEYS`, `run_id`, `started_at`, `value`, `low`, `high`, `method` (of both), and counts.
    """
    manifest = one.manifest
    scorers = {name: manifest.get("scorers", {}).get(name, {}) for name in rows["scorer"].drop_nulls()}
    low, high, method = (
        pl.col(name) if name in rows.columns else pl.lit(None, dtype=dtype)
        for name, dtype in zip(interval_columns(metric), (pl.Float64, pl.Float64, pl.String), strict=True)
    )
    return rows.select(
        *LINE_KEYS,
        "benchmark_version",
        *_BESIDE,
        benchmark_digest=pl.lit(str(manifest["benchmark"].get("digest", ""))),
        scorer_version=_looked_up({name: str(one.get("version", "")) for name, one in scorers.items()}),
        scorer_settings=_looked_up({name: content_hash(_settings(one)) for name, one in scorers.items()}),
        formulas=pl.lit(_formulas(one)),
        run_id=pl.lit(manifest["run_id"]),
        started_at=pl.lit(manifest.get("started_at"), dtype=pl.String),
        value=pl.col(metric).cast(pl.Float64),
        low=low,
        high=high,
        method=method,
    )


def _settings(scorer: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": scorer.get("kind"), "options": scorer.get("options")}


def _looked_up(said: Mapping[str, str]) -> pl.Expr:
    return pl.col("scorer").replace_strict(said, default=None, return_dtype=pl.String)


def _formulas(one: Stored) -> str:
    """Name the formulas of a run; seeds move bootstraps within their noise, so that they are none."""
    names = [name for name in one.spec.__slots__ if name not in {"seed", "resamples"}]
    return content_hash({name: str(getattr(one.spec, name)) for name in names})


def _tasks(one: Stored, metric: str) -> pl.DataFrame:
    """Give the task means of one run.

    Grain: one row a condition × scorer × task.
    Columns: `run_id`, `condition_id`, `scorer`, `task_id`, `value`.
    """
    rows = task_results(one.trials, one.scores, spec=one.spec)
    chosen = rows.select("condition_id", "scorer", "task_id", value=pl.col(TASK_MEANS[metric]))
    return chosen.with_columns(run_id=pl.lit(one.manifest["run_id"])).collect()


def _line(points: pl.DataFrame, tasks: pl.DataFrame | None) -> Line:
    about = points.row(0, named=True)
    changes, note = _changes(points, tasks)
    shown = points.drop("line", *LINE_KEYS, *METHOD_KEYS)
    return Line(
        about={name: about[name] for name in (*LINE_KEYS, *METHOD_KEYS)},
        points=tuple(shown.to_dicts()),
        changes=changes,
        note=note,
    )


def _changes(points: pl.DataFrame, tasks: pl.DataFrame | None) -> tuple[tuple[Change, ...], str]:
    """Look for change points among the runs of a line; where it cannot be done, say why."""
    if tasks is None:
        return (), f"changes are looked for in {', '.join(TASK_MEANS)} only"
    if points.height < 2:  # noqa: PLR2004 - one run has nothing to change from
        return (), "one run: nothing to compare it with"
    own = points.select("run_id", "condition_id", "scorer")
    chosen = tasks.join(own, on=list(own.columns), how="semi", nulls_equal=True)
    matrix = task_matrix(chosen, points["run_id"].to_list())
    found = change_points(matrix, alpha=ALPHA, seed=0)
    return tuple(_change(point, points) for point in found), ""


def _change(point: ChangePoint, points: pl.DataFrame) -> Change:
    digests, ids = points["skill_digest"], points["run_id"]
    return Change(
        run_id=ids[point.at],
        after_run_id=ids[point.at - 1],
        before=point.before,
        after=point.after,
        p_value=point.p_value,
        n_tasks=point.n_tasks,
        skill_changed=digests[point.at] != digests[point.at - 1],
    )


def _apart(lines: Sequence[Line]) -> Iterator[str]:
    """Say where one skill has several lines, and what keeps them apart."""
    by_place: dict[tuple[str | None, ...], list[Line]] = {}
    for line in lines:
        by_place.setdefault(tuple(line.about[name] for name in LINE_KEYS), []).append(line)
    for several in by_place.values():
        if len(several) > 1:
            told = [text for key, text in _FACETS.items() if len({line.about[key] for line in several}) > 1]
            skill, scorer = several[0].about["skill_id"], several[0].about["scorer"]
            yield f"{skill} by {scorer}: {len(several)} lines, because runs differ in {' and '.join(told)}"


def _stored(store: Path, wanted: Wanted, uncounted: Uncounted) -> Iterator[Stored]:
    """Give the finished runs with this skill and benchmark, oldest first; joined runs in place of their parts."""
    found = tuple(finished_runs(runs(store), lambda manifest: _fits(manifest, wanted), uncounted))
    for folder in found:
        try:
            if uncounted.is_joined(read_manifest(folder)):
                continue
            yield stored(folder)
        except ResultsError as error:
            uncounted.add(folder, error)


def _fits(manifest: Mapping[str, Any], wanted: Wanted) -> bool:
    skills, benchmark = _named(manifest)
    return wanted.skill in {None, *skills} and wanted.benchmark in {None, benchmark}


def _named(manifest: Mapping[str, Any]) -> tuple[list[str], str]:
    skills = [str(one.get("id")) for one in manifest.get("skills", ()) if isinstance(one, Mapping)]
    return skills, str(manifest["benchmark"].get("id", ""))


def _nothing(store: Path, wanted: Wanted, uncounted: Uncounted) -> UsageError | ResultsError:
    """Say why there is no history: no run at all, or a misspelt name."""
    named = [_named(read_manifest(folder)) for folder in runs(store)]
    skills = sorted({skill for own, _ in named for skill in own})
    benchmarks = sorted({benchmark for _, benchmark in named})
    if wanted.skill is not None and skills and wanted.skill not in skills:
        return _misspelt("--skill", wanted.skill, skills)
    if wanted.benchmark is not None and benchmarks and wanted.benchmark not in benchmarks:
        return _misspelt("--benchmark", wanted.benchmark, benchmarks)
    what = "finished run that fits" if named else "run"
    hints = uncounted.notices() or ("run `skilleval demo`, or name the folder with --store",)
    return ResultsError(f"no {what} is stored below {shown_place(store)}", hint="\n".join(hints))


def _misspelt(option: str, found: str, known: Sequence[str]) -> UsageError:
    problem = Problem(
        where=option, expected=f"one of {', '.join(known)}", found=found, hint=nearest(found, list(known))
    )
    return UsageError("no stored run has this", problems=(problem,))


def content(digest: str | None) -> str:
    """Shorten the digest of a skill for people."""
    return (digest or "")[:_DIGEST_LENGTH]
