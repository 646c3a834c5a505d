"""Where a skill is good and where it is not: the completion rate of the tasks that share a tag."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.completion import COMPLETION, COUNTS
from skilleval.analytics.eval_skills import seed_metrics, with_seed_composite
from skilleval.analytics.metric import derive, summarise
from skilleval.analytics.outcomes import (
    CONDITION_KEYS,
    trial_outcomes,
    with_counted_latency,
    with_group_counts,
)
from skilleval.analytics.spec import AnalysisSpec, Preset
from skilleval.analytics.uncertainty import UNCERTAINTY, completion_interval, effective_n

_KEYS = ("tag", *CONDITION_KEYS)
_SHOWN = ("n_tasks", "n_graded", "n_passed", "completion_rate", "ci_low", "ci_high")


def by_tag(trials: pl.LazyFrame, scores: pl.LazyFrame, *, spec: AnalysisSpec) -> pl.LazyFrame:
    """Give the completion of the tasks of each tag, by the formulas of the preset.

    A task with several tags counts under each of them, a task without any under none.

    Grain: one row a tag × condition × scorer × benchmark version, sorted.
    Columns: `tag`, `CONDITION_KEYS`, `n_tasks`, `n_graded`, `n_passed`, `completion_rate`, `ci_low`, `ci_high`.
    """
    outcomes = with_counted_latency(trial_outcomes(trials, scores), spec)
    tags = pl.col("task_tags").list.unique(maintain_order=True)
    tagged = outcomes.with_columns(tag=tags).explode("tag").filter(pl.col("tag").is_not_null())
    rows = with_group_counts(tagged, by=_KEYS)
    measured = _default(rows, spec) if spec.preset == Preset.DEFAULT else _eval_skills(rows, spec)
    return measured.select(*_KEYS, *_SHOWN)


def _default(rows: pl.LazyFrame, spec: AnalysisSpec) -> pl.LazyFrame:
    measured = summarise(rows, by=_KEYS, metrics=(*COMPLETION, *UNCERTAINTY))
    return derive(derive(measured, metrics=(effective_n(),)), metrics=completion_interval(spec))


def _eval_skills(rows: pl.LazyFrame, spec: AnalysisSpec) -> pl.LazyFrame:
    return with_seed_composite(summarise(rows, by=_KEYS, metrics=(*COUNTS, *seed_metrics(spec))), spec)
