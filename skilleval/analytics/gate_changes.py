"""How much worse a metric became since a baseline, on the tasks that both sides have: what rules on regressions ask."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from skilleval.analytics.completion import trial_count
from skilleval.analytics.criteria import criterion
from skilleval.analytics.effects import MEASURES, Measure
from skilleval.analytics.gates import WHERE, Rule
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.paired import SAME
from skilleval.analytics.permutation import sign_flip_p
from skilleval.analytics.regression import condition_pairs
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.summary import summary
from skilleval.analytics.task_pairs import task_pairs
from skilleval.analytics.task_results import task_results
from skilleval.errors import ConfigError, Problem

BY_TASK = {measure.name: measure for measure in MEASURES}
"""The metrics that every task has of its own: their change is the mean change of the tasks, and can be tested."""

SIDES = ("before", "after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The stored rows of one run: its trials and its scores."""

    trials: pl.LazyFrame
    scores: pl.LazyFrame


def changes(baseline: Rows, candidate: Rows, rule: Rule, *, spec: AnalysisSpec) -> pl.LazyFrame:
    """Compare the metric of a rule on the tasks that both runs have, with the same input and a verdict.

    Grain: one row a pair of conditions, and one a condition that one side lacks.
    Columns: `skill_id`, `skill_version`, `condition_id` and `scorer` (of the candidate, where it has the row), `side`,
        `before`, `after`, `worse` (positive where it became worse; a share of `before` where the rule is relative, and
        null where that is 0), `worse_by` (the same in the metric's unit),
        `n_tasks` (compared), `n_moved` (tasks whose change is not just what the rule allows), `p_value` (two-sided, of
        what lies beyond the limit; null without a significance).

    Raises:
        ConfigError: the metric cannot become worse, or has no test.
    """
    best_is_low = _best_is_low(rule)
    ours, theirs = (task_results(rows.trials, rows.scores, spec=spec) for rows in (baseline, candidate))
    # Each is read several times below: worked out once, the rows of a gate take a tenth of the time.
    ours, theirs = (frame.lazy() for frame in pl.collect_all([ours, theirs]))
    pairs = condition_pairs(ours, theirs).collect().lazy()
    counted = task_pairs(pairs, ours, theirs).filter(pl.col("left_out").is_null()).collect().lazy()
    if rule.metric in BY_TASK:
        found = _by_task(counted, BY_TASK[rule.metric], rule)
    else:
        found = _of_summary(pairs, counted, (baseline, candidate), rule, spec)
    compared = summarise(found, by=["pair"], metrics=_statistics(rule, best_is_low=best_is_low))
    return (
        pairs.join(compared, on="pair", how="left")
        .sort("pair")
        .with_columns(
            skill_version=pl.coalesce("skill_version_after", "skill_version_before"),
            condition_id=pl.coalesce("condition_id_after", "condition_id_before"),
            p_value=_p_value(rule, spec),
        )
    )


def _best_is_low(rule: Rule) -> bool:
    """Say whether less of the metric is better.

    Raises:
        ConfigError: there is no better direction, or no test where one is asked for.
    """
    if rule.metric in BY_TASK:
        return BY_TASK[rule.metric].better == "lower"
    low = criterion(rule.metric, where=WHERE, key="regression").best_is_low
    if rule.significance is not None:
        expected = f"beside a metric that each task has: {', '.join(BY_TASK)}"
        problem = Problem(where=WHERE, key="significance", expected=expected, found=rule.metric)
        raise ConfigError("the gate has a rule that cannot be checked", problems=(problem,))
    return low


def _by_task(counted: pl.LazyFrame, measure: Measure, rule: Rule) -> pl.LazyFrame:
    """Give the values of both sides.

    Grain: one row a pair × task that is known on both sides.
    """
    values = {side: pl.col(f"{measure.column}_{side}") for side in SIDES}
    rows = counted.select("pair", **values).drop_nulls()
    return rows.with_columns(n_tasks=pl.lit(None, dtype=pl.Int64), tested=rule.significance is not None)


def _of_summary(
    pairs: pl.LazyFrame,
    counted: pl.LazyFrame,
    sides: tuple[Rows, Rows],
    rule: Rule,
    spec: AnalysisSpec,
) -> pl.LazyFrame:
    """Give the metric of both sides' summaries, over the tasks that are compared.

    Grain: one row a pair.
    """
    n_tasks = Metric(name="n_tasks", expr=pl.len().cast(pl.Int64), unit="tasks")
    found = summarise(counted, by=["pair"], metrics=(n_tasks,))
    value = criterion(rule.metric, where=WHERE, key="regression").value
    for side, rows in zip(SIDES, sides, strict=True):
        keys = {"condition_id": f"condition_id_{side}", "benchmark_version": f"benchmark_version_{side}"}
        places = pairs.select("pair", "scorer", **{key: pl.col(name) for key, name in keys.items()})
        tasks = counted.select("pair", "task_id").join(places, on="pair")
        kept = rows.trials.join(tasks, on=[*keys, "task_id"], how="semi", nulls_equal=True)
        values = summary(kept, rows.scores, spec=spec).select("scorer", *keys, value.alias(side))
        valued = places.join(values, on=["scorer", *keys], how="inner", nulls_equal=True)
        found = found.join(valued.select("pair", side), on="pair", how="left")
    return found.with_columns(tested=pl.lit(value=False))


def _statistics(rule: Rule, *, best_is_low: bool) -> tuple[Metric, ...]:
    before, after = pl.col("before"), pl.col("after")
    worse = after - before if best_is_low else before - after
    mean = worse.mean()
    if rule.relative:
        mean = pl.when(before.mean().abs() > SAME).then(worse.mean() / before.mean())
    # What the rule allows is taken off each task, so that the test asks whether the rest is chance.
    beyond = worse - (rule.limit * before.mean() if rule.relative else rule.limit)
    return (
        Metric(name="before", expr=before.mean(), unit="its own", doc="mean of the tasks"),
        Metric(name="after", expr=after.mean(), unit="its own", doc="mean of the tasks"),
        Metric(name="worse", expr=mean, unit="its own", doc="mean over tasks of what became worse"),
        Metric(name="worse_by", expr=worse.mean(), unit="its own", doc="never a share of the baseline"),
        Metric(
            name="n_tasks",
            expr=pl.coalesce(pl.col("n_tasks").first(), pl.len().cast(pl.Int64)),
            unit="tasks",
            doc="tasks that are compared",
        ),
        Metric(name="n_moved", expr=trial_count(beyond.abs() > SAME), unit="tasks"),
        Metric(name="beyond", expr=beyond.filter(pl.col("tested")), unit="list of its own"),
    )


def _p_value(rule: Rule, spec: AnalysisSpec) -> pl.Expr:
    if rule.significance is None:
        return pl.lit(None, dtype=pl.Float64)
    return sign_flip_p(pl.col("beyond").fill_null([]), seed=spec.seed)
