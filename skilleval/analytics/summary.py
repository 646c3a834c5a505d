"""The summary: one row of everything known about a condition under one scorer."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.completion import COMPLETION, COUNTS
from skilleval.analytics.composite import composite_metrics
from skilleval.analytics.consistency import CONSISTENCY
from skilleval.analytics.distribution import DISTRIBUTION
from skilleval.analytics.eval_skills import seed_metrics, with_seed_composite
from skilleval.analytics.metric import derive, summarise
from skilleval.analytics.outcomes import (
    CONDITION_KEYS,
    trial_outcomes,
    with_counted_latency,
    with_group_counts,
)
from skilleval.analytics.partial import partial_metrics, partial_reasons
from skilleval.analytics.pass_k import pass_k_metrics
from skilleval.analytics.spec import AnalysisSpec, Preset
from skilleval.analytics.uncertainty import UNCERTAINTY, completion_interval, effective_n


def summary(trials: pl.LazyFrame, scores: pl.LazyFrame, *, spec: AnalysisSpec) -> pl.LazyFrame:
    """Summarise stored rows by the formulas of the preset; see `docs/methods.md` for each of them.

    Both presets give the same columns; what a preset does not define is null.

    Grain: one row a condition × scorer × benchmark version, sorted.
    Columns: `CONDITION_KEYS`, then the metrics.
    """
    outcomes = with_counted_latency(trial_outcomes(trials, scores), spec)
    rows = with_group_counts(outcomes, by=CONDITION_KEYS)
    ours = _default(rows, spec)
    if spec.preset == Preset.DEFAULT:
        return ours
    theirs = _eval_skills(rows, spec)
    known = set(theirs.collect_schema().names())
    return theirs.select(
        pl.col(name).cast(dtype) if name in known else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in ours.collect_schema().items()
    )


def _default(rows: pl.LazyFrame, spec: AnalysisSpec) -> pl.LazyFrame:
    grouped = (
        *COMPLETION,
        *partial_metrics(spec),
        *pass_k_metrics(spec.k),
        *CONSISTENCY,
        *UNCERTAINTY,
        *DISTRIBUTION,
    )
    summarised = summarise(rows, by=CONDITION_KEYS, metrics=grouped)
    reasoned = derive(summarised, metrics=(effective_n(), *partial_reasons(spec)))
    return derive(reasoned, metrics=(*completion_interval(spec), *composite_metrics(spec)))


def _eval_skills(rows: pl.LazyFrame, spec: AnalysisSpec) -> pl.LazyFrame:
    grouped = (*COUNTS, *seed_metrics(spec))
    return with_seed_composite(summarise(rows, by=CONDITION_KEYS, metrics=grouped), spec)
