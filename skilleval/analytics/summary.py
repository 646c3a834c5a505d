"""The summary: one row of everything known about a condition under one scorer."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skilleval.analytics.completion import COMPLETION, COUNTS
from skilleval.analytics.composite import composite_metrics
from skilleval.analytics.consistency import CONSISTENCY
from skilleval.analytics.distribution import DISTRIBUTION, PERCENTILES, SORTED_VALUES
from skilleval.analytics.eval_skills import seed_metrics, with_seed_composite
from skilleval.analytics.grains import summarise_outcomes
from skilleval.analytics.metric import derive
from skilleval.analytics.outcomes import CONDITION_KEYS, conditions, trial_outcomes, with_counted_latency
from skilleval.analytics.partial import partial_metrics, partial_reasons
from skilleval.analytics.pass_k import pass_k_metrics
from skilleval.analytics.spec import AnalysisSpec, Preset
from skilleval.analytics.uncertainty import completion_interval, effective_n, family, uncertainty_metrics


def summary(trials: pl.LazyFrame, scores: pl.LazyFrame, *, spec: AnalysisSpec) -> pl.LazyFrame:
    """Summarise stored rows by the formulas of the preset; see `docs/methods.md` for each of them.

    Grain: one row a condition × scorer × benchmark version, sorted.
    Columns: `CONDITION_KEYS`, then the metrics.
    """
    outcomes = with_counted_latency(trial_outcomes(trials, scores), spec)
    return summary_of(outcomes, by=CONDITION_KEYS, spec=spec, groups=conditions(trials, scores))


def summary_of(
    outcomes: pl.LazyFrame, *, by: Sequence[str], spec: AnalysisSpec, groups: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """Summarise outcomes that have a counted latency, by any of their columns.

    Both presets give the same columns; what a preset does not define is null. `groups` are the distinct values of `by`,
    where there is a shorter way to them than through the outcomes.

    Grain: one row a distinct value of `by`, sorted by it.
    Columns: `by`, then the metrics.
    """
    if spec.preset == Preset.DEFAULT:
        return _default(outcomes, by, spec, groups)
    theirs = _eval_skills(outcomes, by, spec, groups)
    known = set(theirs.collect_schema().names())
    # Of no rows, because only the names and types are asked for.
    ours = _default(pl.LazyFrame(schema=outcomes.collect_schema()), by, spec, None)
    return theirs.select(
        pl.col(name).cast(dtype) if name in known else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in ours.collect_schema().items()
    )


def _default(
    outcomes: pl.LazyFrame, by: Sequence[str], spec: AnalysisSpec, groups: pl.LazyFrame | None
) -> pl.LazyFrame:
    rated = (
        *COMPLETION,
        *partial_metrics(spec),
        *pass_k_metrics(spec.k),
        *CONSISTENCY,
        *uncertainty_metrics(spec),
    )
    summarised = summarise_outcomes(
        outcomes.with_columns(sampled_family=family(spec)),
        by=by,
        metrics=(*rated, *SORTED_VALUES, *DISTRIBUTION),
        groups=groups,
    )
    placed = derive(summarised, metrics=PERCENTILES).select(
        *by, *(metric.name for metric in (*rated, *PERCENTILES, *DISTRIBUTION))
    )
    reasoned = derive(placed, metrics=(effective_n(), *partial_reasons(spec)))
    return derive(reasoned, metrics=(*completion_interval(spec), *composite_metrics(spec)))


def _eval_skills(
    outcomes: pl.LazyFrame, by: Sequence[str], spec: AnalysisSpec, groups: pl.LazyFrame | None
) -> pl.LazyFrame:
    grouped = (*COUNTS, *seed_metrics(spec))
    summarised = summarise_outcomes(outcomes, by=by, metrics=grouped, groups=groups)
    return with_seed_composite(summarised, spec)
