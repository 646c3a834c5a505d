"""What the jobs of a sweep have in common: cells of settings that are set side by side, over the same tasks.

A cell is a combination of settings. Two levels of one setting are compared only in cells that both have, skill by
skill and task by task, so that no level gains from easier company.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Final

import polars as pl

from skilleval.analytics.completion import trial_count
from skilleval.analytics.distribution import DISTRIBUTION
from skilleval.analytics.effects import MEASURES, Measure
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.uncertainty import (
    Seen,
    clustered_error,
    drawn_bounds,
    mean_bounds,
    mean_method,
    share_bounds,
    share_method,
)

TASK: Final = ("benchmark_id", "task_id")
"""What is sampled: intervals and tests of sweeps are over tasks."""

UNITS: Final = ("skill_id", "mode", "scorer")
"""What is matched with itself where both sides have it; where they share none, a setting replaces it."""

MAX_LEVELS: Final = 6
"""Up to so many levels every two are compared, beyond it each with the first."""

_JUDGING = frozenset(
    {"scorer", "scorers", "benchmark", "analysis", "gate", "runner", "plan", "judge", "second_judge"}
)
_PREFIX = "setting."
_NUMBERS = (pl.Int64(), pl.Float64())


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key that a sweep varies, with its values in their order."""

    name: str
    levels: tuple[str, ...]

    @property
    def column(self) -> str:
        """The column that holds it."""
        return f"{_PREFIX}{self.name}"

    @property
    def is_choice(self) -> bool:
        """Say whether it changes what is evaluated, and not how, how often or on what it is measured."""
        return self.name.lstrip("+").partition(".")[0].partition("/")[0] not in _JUDGING

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Give the levels that are compared, in the order in which they are swept."""
        if len(self.levels) <= MAX_LEVELS:
            return tuple(combinations(self.levels, 2))
        return tuple((self.levels[0], level) for level in self.levels[1:])


def measure_named(name: str) -> Measure | None:
    """Give the metric of this name that every task has of its own; nothing where there is none."""
    return next((one for one in MEASURES if one.name == name), None)


def settings_of(jobs: Iterable[Mapping[str, str]], order: Mapping[str, Sequence[str]]) -> tuple[Setting, ...]:
    """Give the settings that jobs tell apart, with their levels in the order of the sweep, then of the jobs."""
    found: dict[str, dict[str, None]] = {name: dict.fromkeys(levels) for name, levels in order.items()}
    for job in jobs:
        for name, level in job.items():
            found.setdefault(name, {}).setdefault(level)
    return tuple(Setting(name=name, levels=tuple(levels)) for name, levels in found.items())


def typed(frame: pl.DataFrame, settings: Sequence[Setting]) -> pl.DataFrame:
    """Give the columns of settings the type that all of their values have: whole number, number, truth or text."""
    return frame.with_columns(_typed(frame[one.column]) for one in settings if one.column in frame.columns)


def _typed(texts: pl.Series) -> pl.Series:
    known = texts.replace("null", None)
    for dtype in _NUMBERS:
        cast = known.cast(dtype, strict=False)
        if cast.null_count() != known.null_count() or not cast.is_not_null().any():
            continue
        if dtype.is_integer():
            is_same = (cast.cast(pl.String) == known).fill_null(value=True).all()
        else:
            is_same = cast.is_finite().fill_null(value=True).all()
        return cast if is_same else known
    if known.drop_nulls().is_in(["true", "false"]).all() and known.is_not_null().any():
        return (known == "true").alias(texts.name)
    return known


def task_values(tasks: pl.LazyFrame, settings: Sequence[Setting], measure: Measure) -> pl.LazyFrame:
    """Take one metric of the rows of `task_results` of all jobs.

    Grain: one row a job × condition × scorer × task that has the metric.
    Columns: `job`, one a setting, `UNITS`, `TASK`, `value`.
    """
    known = pl.col(measure.column).is_not_null()
    columns = ("job", *(one.column for one in settings), *UNITS, *TASK)
    return tasks.filter(known).select(*columns, value=pl.col(measure.column).cast(pl.Float64))


def matched(
    values: pl.DataFrame, sides: Sequence[Mapping[str, str]], settings: Sequence[Setting]
) -> pl.DataFrame:
    """Set sides next to each other where everything else is equal; a side fixes levels of settings by their columns.

    Grain: one row a cell of the other settings × what is matched (see `UNITS`) × task that all sides have.
    Columns: those keys, then `value_0` … one a side.
    """
    fixed = {column for side in sides for column in side}
    others = [one.column for one in settings if one.column not in fixed]
    parts = [values.filter(_is_at(side)) for side in sides]
    keys = [*others, *shared_units(parts), *TASK]
    frames = [
        summarise(
            part.lazy(), by=keys, metrics=[Metric(name=f"value_{at}", expr=pl.col("value").mean(), unit="")]
        )
        for at, part in enumerate(parts)
    ]
    return reduce(lambda one, more: one.join(more, on=keys, nulls_equal=True), frames).sort(keys).collect()


def shared_units(parts: Sequence[pl.DataFrame]) -> list[str]:
    """Name the units of which all parts have at least one in common."""
    return [name for name in UNITS if set.intersection(*({*part[name].unique()} for part in parts))]


def _is_at(side: Mapping[str, str]) -> pl.Expr:
    return pl.all_horizontal(pl.col(column) == level for column, level in side.items())


def by_task(rows: pl.DataFrame, n_sides: int) -> pl.LazyFrame:
    """Average the matched cells of each task: tasks are what is sampled, cells are not.

    Grain: one row a task.
    Columns: `TASK`, `value_0` … one a side.
    """
    names = [f"value_{at}" for at in range(n_sides)]
    return summarise(
        rows.lazy(), by=TASK, metrics=[Metric(name=name, expr=pl.col(name).mean(), unit="") for name in names]
    )


def cell_count(rows: pl.DataFrame, settings: Sequence[Setting]) -> int:
    """Count the cells of settings in rows; of settings that rows do not tell apart there is one cell."""
    columns = [one.column for one in settings if one.column in rows.columns]
    return rows.select(columns).n_unique() if columns and rows.height else min(rows.height, 1)


def job_means(values: pl.DataFrame) -> pl.DataFrame:
    """Give the mean of each job over its tasks, each the mean of what was measured on it.

    Grain: one row a job.
    Columns: `job`, `mean`, `n_tasks`.
    """
    mean = Metric(name="value", expr=pl.col("value").mean(), unit="its own")
    tasks = summarise(values.lazy(), by=("job", *TASK), metrics=[mean])
    metrics = (
        Metric(name="mean", expr=pl.col("value").mean(), unit="its own"),
        Metric(name="n_tasks", expr=trial_count(pl.col("value").is_not_null()), unit="tasks"),
    )
    return summarise(tasks, by=("job",), metrics=metrics).collect()


def job_spend(trials: pl.LazyFrame) -> pl.LazyFrame:
    """Say what each run took; attempts that it took over cost nothing again.

    Grain: one row a run.
    Columns: `run_id`, `n_trials`, `n_reused`, `cost_usd`, `tokens` (null where nobody said).
    """
    tokens = pl.coalesce("total_tokens", pl.col("input_tokens") + pl.col("output_tokens"))
    own = ~pl.col("is_reused")
    metrics = (
        Metric(name="n_trials", expr=pl.len().cast(pl.Int64), unit="trials"),
        Metric(name="n_reused", expr=trial_count(~own), unit="trials"),
        next(metric for metric in DISTRIBUTION if metric.name == "cost_usd"),
        Metric(
            name="tokens",
            expr=pl.when(tokens.is_not_null().any()).then(tokens.filter(own).sum()),
            unit="tokens",
        ),
    )
    marked = trials.with_columns(is_reused=pl.col("reused_from").is_not_null())
    return summarise(marked, by=("run_id",), metrics=metrics)


def level_means(
    values: pl.DataFrame, settings: Sequence[Setting], *, measure: Measure, spec: AnalysisSpec
) -> pl.DataFrame:
    """Give the mean of a metric at each level, over the cells that all levels of the setting have.

    Where they have none in common, each level is averaged over its own cells, and `is_matched` is false.

    Grain: one row a setting with two levels or more × level.
    Columns: `setting`, `level`, `mean`, `low`, `high`, `ci_method`, `n_tasks`, `n_cells`, `is_matched`.
    """
    parts = [_levels(values, one, settings) for one in settings if len(one.levels) > 1]
    rows = pl.concat([pl.LazyFrame(schema=_LEVEL_ROWS), *parts])
    summed = summarise(
        rows, by=("place", "setting", "rank", "level", "n_cells", "is_matched"), metrics=_level_sums(spec)
    )
    bounded = derive(summed, metrics=_level_bounds(measure, spec))
    columns = ("setting", "level", "mean", "low", "high", "ci_method", "n_tasks", "n_cells", "is_matched")
    ordered = bounded.sort("place", "rank").select(columns).collect()
    names = {one.name: place for place, one in enumerate(settings)}
    return ordered.sort(pl.col("setting").replace_strict(names, return_dtype=pl.Int64), maintain_order=True)


_LEVEL_ROWS = pl.Schema(
    {
        "place": pl.Int64(),
        "setting": pl.String(),
        "rank": pl.Int64(),
        "level": pl.String(),
        "n_cells": pl.Int64(),
        "is_matched": pl.Boolean(),
        "value": pl.Float64(),
    }
)


def _levels(values: pl.DataFrame, setting: Setting, settings: Sequence[Setting]) -> pl.LazyFrame:
    """Give the tasks of each level.

    Grain: one row a level × task.
    """
    present = [level for level in setting.levels if (values[setting.column] == level).any()]
    sides = [{setting.column: level} for level in present]
    together = matched(values, sides, settings) if sides else pl.DataFrame()
    found = []
    for at, level in enumerate(present):
        is_matched = together.height > 0
        own = together if is_matched else matched(values, [sides[at]], settings)
        name = f"value_{at if is_matched else 0}"
        rows = by_task(own, len(present) if is_matched else 1)
        told = {
            "place": pl.lit(settings.index(setting), dtype=pl.Int64),
            "setting": pl.lit(setting.name),
            "rank": pl.lit(setting.levels.index(level), dtype=pl.Int64),
            "level": pl.lit(level),
            "n_cells": pl.lit(cell_count(own, settings), dtype=pl.Int64),
            "is_matched": pl.lit(is_matched),
        }
        found.append(rows.select(**told, value=pl.col(name)))
    return pl.concat([pl.LazyFrame(schema=_LEVEL_ROWS), *found])


def _level_sums(spec: AnalysisSpec) -> tuple[Metric, ...]:
    value, one = pl.col("value"), pl.col("value").is_not_null().cast(pl.Float64)
    low, high = drawn_bounds(value, one, spec)
    return (
        Metric(name="mean", expr=value.mean(), unit="its own"),
        Metric(name="n_tasks", expr=trial_count(value.is_not_null()), unit="tasks"),
        Metric(name="se", expr=clustered_error(value, one), unit="its own", source="Liang and Zeger 1986"),
        Metric(name="drawn_low", expr=low.first(), unit="its own"),
        Metric(name="drawn_high", expr=high.first(), unit="its own"),
    )


def _level_bounds(measure: Measure, spec: AnalysisSpec) -> tuple[Metric, ...]:
    n = pl.col("n_tasks")
    seen = Seen(
        value=pl.col("mean"),
        n=n,
        passed=n,
        clusters=n,
        se=pl.col("se"),
        drawn=(pl.col("drawn_low"), pl.col("drawn_high")),
    )
    is_share = measure.kind == "difference"
    low, high = (share_bounds if is_share else mean_bounds)(seen, spec)
    method = (share_method if is_share else mean_method)(seen, low, spec)
    return (
        Metric(name="low", expr=low, unit="its own"),
        Metric(name="high", expr=high, unit="its own"),
        Metric(name="ci_method", expr=method, unit="text"),
    )
