"""From the runs of a sweep to its analysis: each run's rows are scanned and reduced by themselves, job after job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import polars as pl

from skilleval.analytics.effects import MEASURES, Measure
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.sweeps import (
    Setting,
    level_means,
    measure_named,
    settings_of,
    task_values,
    typed,
)
from skilleval.analytics.sweeps_best import best_settings
from skilleval.analytics.sweeps_effects import Judging, crossed_means, interactions, main_effects, too_many
from skilleval.analytics.sweeps_ranks import rank_agreement, rank_flips, skill_ranks
from skilleval.app.sweep_contents import changed_contents
from skilleval.app.sweep_rows import job_rows, read_rows, some_results
from skilleval.errors import Problem, UsageError
from skilleval.report.sweep_build import build_sweep_report
from skilleval.report.sweep_document import SweepAbout, SweepMethod, SweepReport
from skilleval.results.sweeps import Sweep, find_sweep, read_sweep

METRIC: Final = "completion_rate"
MARGIN: Final = 0.05
_FLIPS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFrames:
    """The analysis of a sweep as frames, each described where it is made: `skilleval.analytics.sweeps` and beside.

    `results` is the tidy frame: one row a job × condition × scorer. `jobs` has one row a job, also of those without
    results. `method` says how differences were judged.
    """

    sweep: Sweep
    method: SweepMethod
    warnings: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    settings: pl.DataFrame
    jobs: pl.DataFrame
    results: pl.DataFrame
    levels: pl.DataFrame
    effects: pl.DataFrame
    interactions: pl.DataFrame
    best: pl.DataFrame
    ranks: pl.DataFrame
    agreement: pl.DataFrame
    flips: pl.DataFrame
    crossed: pl.DataFrame


def sweep_frame(sweep: str | Path, *, store: str | Path = "outputs") -> pl.DataFrame:
    """Give all results of a sweep in one tidy frame; `sweep` is a folder, an id, part of an id, or `latest`.

    Grain: one row a job × condition × scorer, of the jobs that are done.
    Columns: `job`, `key`, `run_id`, a typed column a swept setting (`setting.` and its name), what makes a condition,
        then every metric of `docs/methods.md` with its interval.

    Raises:
        ResultsError: the sweep is not found, or none of its jobs has a result.
    """
    found = read_sweep(find_sweep(str(sweep), Path(store)))
    settings = _settings(found)
    read = read_rows(found, settings)
    return typed(some_results(read.results, found, read.reasons), settings)


def sweep_frames(
    sweep: str | Path, *, metric: str = METRIC, margin: float = MARGIN, store: str | Path = "outputs"
) -> SweepFrames:
    """Analyse a sweep: what each setting does to a metric, which settings did best, whether skills change places.

    `metric` is one that every task has of its own (completion_rate, partial_score, error_rate, latency_ms, tokens,
    cost_usd), `margin` a difference of shares that does not matter.

    Raises:
        UsageError: there is no such metric, or the margin is no share.
        ResultsError: the sweep is not found, or none of its jobs has a result.
    """
    measure = _measure(metric, margin)
    found = read_sweep(find_sweep(str(sweep), Path(store)))
    settings = _settings(found)
    read = read_rows(found, settings)
    results = typed(some_results(read.results, found, read.reasons), settings)
    spec = read.specs[0]
    how = Judging(level=spec.level, margin=margin, seed=spec.seed)
    values = task_values(read.tasks.lazy(), settings, measure).collect()
    crossing = interactions(values, settings, measure=measure, how=how)
    ranks = skill_ranks(values, settings, measure=measure)
    return SweepFrames(
        sweep=found,
        method=_method(measure, how, spec),
        warnings=(
            *changed_contents(results, read.benchmarks, found),
            *_warnings(read.specs, found, values, measure),
        ),
        skipped=too_many(settings),
        settings=_settings_frame(settings),
        jobs=typed(job_rows(found, settings, read, values), settings),
        results=results,
        levels=level_means(values, settings, measure=measure, spec=spec),
        effects=main_effects(values, settings, measure=measure, how=how),
        interactions=crossing,
        best=best_settings(values, settings, measure=measure, how=how, resamples=spec.resamples),
        ranks=ranks,
        agreement=rank_agreement(ranks),
        flips=rank_flips(values, settings, measure=measure, how=how, limit=_FLIPS),
        crossed=_crossed(values, settings, crossing),
    )


def analyse_sweep(
    sweep: str | Path, *, metric: str = METRIC, margin: float = MARGIN, store: str | Path = "outputs"
) -> SweepReport:
    """Build the report of a sweep.

    Raises:
        UsageError: there is no such metric, or the margin is no share.
        ResultsError: the sweep is not found, or none of its jobs has a result.
    """
    made = sweep_frames(sweep, metric=metric, margin=margin, store=store)
    frames = {
        name: getattr(made, name)
        for name in (
            "settings",
            "jobs",
            "levels",
            "effects",
            "interactions",
            "best",
            "ranks",
            "agreement",
            "flips",
        )
    }
    return build_sweep_report(
        about=_about(made.sweep),
        method=made.method,
        frames={**frames, "crossed": made.crossed, "results": made.results.select(_told(made.results))},
        skipped=made.skipped,
        warnings=made.warnings,
    )


def _told(results: pl.DataFrame) -> list[str]:
    """Name the columns of results that a report holds."""
    wanted = (
        *(
            "skill_id",
            "skill_version",
            "adapter",
            "model",
            "sandbox",
            "mode",
            "scorer",
            "benchmark_id",
            "n_tasks",
        ),
        *(
            "n_trials",
            "n_graded",
            "n_passed",
            "completion_rate",
            "ci_low",
            "ci_high",
            "ci_method",
            "partial_score",
        ),
        *("error_rate", "p50_ms", "p95_ms", "cost_usd", "reused_cost_usd", "total_tokens", "composite"),
    )
    own = [
        name for name in results.columns if name in {"job", "key", "run_id"} or name.startswith("setting.")
    ]
    return [*own, *(name for name in wanted if name in results.columns)]


def _measure(metric: str, margin: float) -> Measure:
    measure = measure_named(metric)
    if measure is None:
        expected = f"one of {', '.join(one.name for one in MEASURES)}"
        problem = Problem(where="metric", expected=expected, found=metric)
        raise UsageError("settings cannot be held against such a metric", problems=(problem,))
    if not 0 < margin < 1:
        problem = Problem(
            where="margin", expected="a share between 0 and 1, both excluded", found=f"{margin:g}"
        )
        raise UsageError("with this margin nothing could be told", problems=(problem,))
    return measure


def _settings(sweep: Sweep) -> tuple[Setting, ...]:
    return settings_of([job.settings for job in sweep.jobs], sweep.grid if sweep.is_planned else {})


def _settings_frame(settings: Sequence[Setting]) -> pl.DataFrame:
    rows = [{"name": one.name, "levels": list(one.levels), "is_choice": one.is_choice} for one in settings]
    return pl.DataFrame(
        rows, schema={"name": pl.String(), "levels": pl.List(pl.String()), "is_choice": pl.Boolean()}
    )


def _crossed(values: pl.DataFrame, settings: Sequence[Setting], crossing: pl.DataFrame) -> pl.DataFrame:
    """Give the means of the two settings whose interaction is largest; none where all are null."""
    known = crossing.filter(pl.col("effect").is_not_null())
    if not known.height:
        return pl.DataFrame(schema=_NO_MEANS)
    row = known.sort(~pl.col("is_shown"), -pl.col("effect").abs(), maintain_order=True).row(0, named=True)
    return crossed_means(values, settings, (row["setting_a"], row["setting_b"]))


_NO_MEANS = {"setting_a": pl.String(), "mean": pl.Float64()}


def _method(measure: Measure, how: Judging, spec: AnalysisSpec) -> SweepMethod:
    return SweepMethod(
        metric=measure.name,
        kind=measure.kind,
        better=measure.better,
        unit=measure.unit,
        level=how.level,
        margin=how.margin,
        seed=how.seed,
        resamples=spec.resamples,
    )


def _warnings(
    specs: Sequence[AnalysisSpec], sweep: Sweep, values: pl.DataFrame, measure: Measure
) -> Iterator[str]:
    first = specs[0]
    if any(replace(spec, seed=first.seed) != first for spec in specs):
        yield "the jobs follow different formulas (analysis, time limit): settings are judged by those of the first one"
    if not values.height:
        yield f"no task of any job has the metric {measure.name}: nothing is compared"
    if sweep.ended_at is None:
        yield "the sweep has not come to its end: this is what is there so far"


def _about(sweep: Sweep) -> SweepAbout:
    return SweepAbout(
        sweep_id=sweep.sweep_id,
        experiment=sweep.experiment,
        command=sweep.command,
        sweeper=sweep.sweeper,
        launcher=sweep.launcher,
        is_planned=sweep.is_planned,
        started_at=sweep.started_at,
        ended_at=sweep.ended_at,
        n_jobs=len(sweep.jobs),
        by_state=sweep.count(),
        versions=sweep.versions,
    )
