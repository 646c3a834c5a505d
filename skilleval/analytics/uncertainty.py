"""How far a rate or a mean can be trusted: intervals whose unit of sampling is the task, or the family of tasks."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from skilleval.analytics.bootstrap import Resampling, bootstrap_interval
from skilleval.analytics.completion import FIRST_OF_TASK, trial_count
from skilleval.analytics.intervals import (
    Bounds,
    agresti_coull,
    clopper_pearson,
    clustered_t,
    one_sided,
    t_quantile,
    wilson,
)
from skilleval.analytics.metric import Metric
from skilleval.analytics.spec import AnalysisSpec, IntervalMethod

TASK_ID = "task_id"
"""The family of a task is the part of its id before the first slash."""

MIN_CLUSTERS = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """What is known of one rate or mean: its value, what it rests on, and bounds that were drawn, if any."""

    value: pl.Expr
    n: pl.Expr
    passed: pl.Expr
    clusters: pl.Expr
    se: pl.Expr
    drawn: Bounds


def family(spec: AnalysisSpec) -> pl.Expr:
    """Give the cluster of a row's task: its family, the task itself where it has none or none is asked for."""
    task = pl.col("task_id")
    if spec.family is None:
        return task
    if spec.family == TASK_ID:
        return pl.coalesce(task.str.extract(r"^([^/]+)/"), task)
    of_family = pl.element().filter(pl.element().str.starts_with(f"{spec.family}:"))
    tag = pl.col("task_tags").list.eval(of_family).list.sort().list.first()
    return pl.coalesce(tag, pl.format("task {}", task))


def cluster_count(wholes: pl.Expr) -> pl.Expr:
    """Count the clusters that have anything; `wholes` gives one value a cluster."""
    return trial_count(wholes > 0)


def clustered_error(parts: pl.Expr, wholes: pl.Expr) -> pl.Expr:
    """Give the standard error of Σ parts / Σ wholes; both give one value a cluster. Null below two clusters.

    Source: Liang and Zeger 1986, with the factor C / (C - 1); Miller 2024, arXiv 2411.00640.
    """
    clusters, whole = cluster_count(wholes), wholes.sum()
    squares = (parts - parts.sum() / whole * wholes).pow(2).sum()
    variance = clusters / (clusters - 1) * squares / (whole * whole)
    return pl.when(clusters >= MIN_CLUSTERS).then(variance.sqrt())


def _passes(spec: AnalysisSpec) -> tuple[pl.Expr, pl.Expr]:
    """Give the passed and the graded trials of each cluster, once a cluster, from the rows of a group."""
    name = "task" if spec.family is None else "family"
    first = FIRST_OF_TASK if spec.family is None else pl.col("is_first_of_family")
    return pl.col(f"{name}_passed").filter(first), pl.col(f"{name}_graded").filter(first)


def uncertainty_metrics(spec: AnalysisSpec) -> tuple[Metric, ...]:
    """Give what the interval of the completion rate needs of a group; the bootstrap draws it here already."""
    passed, graded = _passes(spec)
    noun = _noun(spec)
    drawn = _drawn(passed, graded, spec).struct
    bounds = (
        Metric(name="ci_low", expr=drawn.field("low"), unit="share"),
        Metric(name="ci_high", expr=drawn.field("high"), unit="share"),
    )
    return (
        Metric(name="n_clusters", expr=cluster_count(graded), unit=noun, doc=f"{noun} with a verdict"),
        Metric(
            name="clustered_se",
            expr=clustered_error(passed, graded),
            unit="share",
            source="Liang and Zeger 1986; Miller 2024, arXiv 2411.00640",
            doc=f"cluster-robust, clusters are {noun}, factor C / (C - 1); null with one",
        ),
        *(bounds if spec.interval.is_bootstrap else ()),
    )


def _drawn(parts: pl.Expr, wholes: pl.Expr, spec: AnalysisSpec) -> pl.Expr:
    corrected = spec.interval == IntervalMethod.BCA
    how = Resampling(level=spec.level, resamples=spec.resamples, seed=spec.seed, corrected=corrected)
    return bootstrap_interval(parts, wholes, how)


def drawn_bounds(parts: pl.Expr, wholes: pl.Expr, spec: AnalysisSpec) -> Bounds:
    """Give the bootstrap of a group where it is asked for; else nulls."""
    if not spec.interval.is_bootstrap:
        return pl.lit(None, dtype=pl.Float64), pl.lit(None, dtype=pl.Float64)
    drawn = _drawn(parts, wholes, spec).struct
    return drawn.field("low"), drawn.field("high")


def effective_trials(seen: Seen) -> pl.Expr:
    """Give the number of independent trials that would be worth as much as those that were made.

    Where all trials agree the design effect cannot be seen; then repeats are taken to add nothing.

    Source: Kish 1965.
    """
    most = seen.n / seen.clusters
    effect = seen.se.pow(2) * seen.n / (seen.value * (1 - seen.value))
    agree = (seen.passed == 0) | (seen.passed == seen.n)
    held = pl.when(agree).then(most).otherwise(pl.min_horizontal(pl.max_horizontal(effect, 1.0), most))
    return pl.when(seen.clusters >= MIN_CLUSTERS).then(seen.n / held)


def _completion() -> Seen:
    return Seen(
        value=pl.col("completion_rate"),
        n=pl.col("n_graded"),
        passed=pl.col("n_passed"),
        clusters=pl.col("n_clusters"),
        se=pl.col("clustered_se"),
        drawn=(pl.col("ci_low"), pl.col("ci_high")),
    )


def effective_n() -> Metric:
    """Give the effective number of trials of a summary row."""
    return Metric(
        name="n_eff",
        expr=effective_trials(_completion()),
        unit="trials",
        source="Kish 1965",
        doc="n_graded / design effect, the latter held between 1 and the mean number of graded trials a cluster",
    )


def completion_interval(spec: AnalysisSpec) -> tuple[Metric, ...]:
    """Give the interval of the completion rate on a summary row that has `n_eff`; null with one cluster."""
    seen = _completion()
    low, high = rate_bounds(seen, spec, n_eff=pl.col("n_eff"))
    source = "statistics in docs/methods.md"
    return (
        Metric(name="ci_low", expr=low, unit="share", source=source),
        Metric(name="ci_high", expr=high, unit="share", source=source),
        Metric(name="ci_method", expr=rate_method(seen, low, spec), unit="text"),
    )


def rate_bounds(seen: Seen, spec: AnalysisSpec, *, n_eff: pl.Expr) -> Bounds:
    """Give the interval of a rate by the method that is asked for, in [0, 1]; null below two clusters."""
    low, high = _of_trials(seen, spec, n_eff)
    enough = seen.clusters >= MIN_CLUSTERS
    return pl.when(enough).then(low), pl.when(enough).then(high)


def _of_trials(seen: Seen, spec: AnalysisSpec, n_eff: pl.Expr) -> Bounds:
    match spec.interval:
        case IntervalMethod.AGRESTI_COULL_T:
            df = pl.when(n_eff.is_not_null()).then(seen.clusters - 1)
            return agresti_coull(seen.value, n_eff, t_quantile(df, level=spec.level))
        case IntervalMethod.WILSON_NEFF:
            return wilson(seen.value * n_eff, n_eff, level=spec.level)
        case IntervalMethod.WILSON:
            return wilson(seen.passed, seen.n, level=spec.level)
        case IntervalMethod.CLOPPER_PEARSON:
            return clopper_pearson(seen.passed, seen.n, level=spec.level)
        case _:
            return share_bounds(seen, spec)


def share_bounds(seen: Seen, spec: AnalysisSpec) -> Bounds:
    """Give the interval of a mean of shares, in [0, 1]; one-sided where all clusters have 0 or all have 1.

    The one-sided bound of the chance of a 1 bounds the mean too, whatever else a cluster could have had.
    """
    low, high = mean_bounds(seen, spec)
    enough = seen.clusters >= MIN_CLUSTERS
    least, most = one_sided(seen.value, seen.clusters, level=spec.level)
    return (
        pl.when(enough).then(pl.coalesce(least, low.clip(lower_bound=0.0))),
        pl.when(enough).then(pl.coalesce(most, high.clip(upper_bound=1.0))),
    )


def mean_bounds(seen: Seen, spec: AnalysisSpec) -> Bounds:
    """Give the interval of a mean: the bootstrap where it is asked for, else clustered t. Null without a spread."""
    if spec.interval.is_bootstrap:
        return seen.drawn
    return clustered_t(seen.value, seen.se, seen.clusters, level=spec.level)


def rate_method(seen: Seen, low: pl.Expr, spec: AnalysisSpec) -> pl.Expr:
    """Say how the interval of a rate was made, or why there is none."""
    if spec.interval in _NEED_SPREAD:
        return share_method(seen, low, spec)
    return _reasoned(seen, low, pl.lit(_method(spec.interval, spec)), spec)


def share_method(seen: Seen, low: pl.Expr, spec: AnalysisSpec) -> pl.Expr:
    """Say how the interval of a mean of shares was made, or why there is none."""
    alike = f"one-sided exact bound, all {_noun(spec)} alike, level {spec.level:g}"
    enough = seen.clusters >= MIN_CLUSTERS
    return (
        pl.when(enough & seen.value.is_in([0.0, 1.0]))
        .then(pl.lit(alike))
        .otherwise(mean_method(seen, low, spec))
    )


def mean_method(seen: Seen, low: pl.Expr, spec: AnalysisSpec) -> pl.Expr:
    """Say how the interval of a mean was made, or why there is none."""
    used = spec.interval if spec.interval.is_bootstrap else IntervalMethod.CLUSTERED_T
    return _reasoned(seen, low, pl.lit(_method(used, spec)), spec)


def _reasoned(seen: Seen, low: pl.Expr, said: pl.Expr, spec: AnalysisSpec) -> pl.Expr:
    noun = _noun(spec)
    few = pl.lit(f"no interval: fewer than two {noun} have a verdict")
    flat = pl.lit(f"no interval: all {noun} have the same mean, so that no spread is seen")
    return pl.when(~(seen.clusters >= MIN_CLUSTERS)).then(few).when(low.is_null()).then(flat).otherwise(said)


_NEED_SPREAD = (IntervalMethod.CLUSTERED_T, IntervalMethod.BOOTSTRAP, IntervalMethod.BCA)


def _noun(spec: AnalysisSpec) -> str:
    return "tasks" if spec.family is None else f"families of {spec.family}"


def _method(method: IntervalMethod, spec: AnalysisSpec) -> str:
    clusters, level = f"clusters = {_noun(spec)}", f"level {spec.level:g}"
    df = "n_graded_tasks - 1 df" if spec.family is None else "n_clusters - 1 df"
    draws = f"over {_noun(spec)}, {spec.resamples} resamples, seed {spec.seed}"
    return {
        IntervalMethod.AGRESTI_COULL_T: f"Agresti-Coull on n_eff, t with {df}, {clusters}, {level}",
        IntervalMethod.CLUSTERED_T: f"clustered t, {df}, {clusters}, {level}",
        IntervalMethod.WILSON_NEFF: f"Wilson on n_eff, {clusters}, {level}",
        IntervalMethod.WILSON: f"Wilson, trials taken as independent, {level}",
        IntervalMethod.CLOPPER_PEARSON: f"Clopper-Pearson, trials taken as independent, {level}",
        IntervalMethod.BOOTSTRAP: f"percentile bootstrap {draws}, {level}",
        IntervalMethod.BCA: f"BCa bootstrap {draws}, {level}",
    }[method]
