"""The rules of a gate, held against a summary, or against what became of a baseline: which hold, and by how much."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import polars as pl

from skilleval.analytics.interval_columns import interval_columns
from skilleval.errors import ConfigError, Problem
from skilleval.strict import nearest

TOLERANCE = 1e-9
"""A rate is a quotient of sums: no verdict may hang on the order in which they were added."""

WHERE = "gate.rules"
"""The setting that rules stand in."""

_NAMES = ("skill_id", "skill_version", "condition_id", "scorer")
_REASONS = {
    "partial_score": "partial_score_reason",
    "pass_at_k": "pass_k_reason",
    "pass_hat_k": "pass_k_reason",
}
"""Which column says why a metric is null."""

CHECK_COLUMNS = (
    *_NAMES,
    *("value", "before", "after", "margin", "p_value", "n_tasks", "verdict", "reason"),
)


class Outcome(StrEnum):
    """What a rule says of a row; `skipped` says nothing, and names the reason."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Bound(StrEnum):
    """Which figure a threshold is held against: what was seen, or an end of its interval."""

    LOW = "low"
    POINT = "point"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a gate: a threshold on a metric, or with `is_regression` on how much worse it became.

    `skill` and `scorer` are globs of names, `slice` maps columns of the trials to globs, `tag` is a tag of tasks.
    `relative` measures a regression in shares of the baseline; with a `significance` chance must be ruled out too.
    """

    metric: str
    is_regression: bool = False
    at_least: float | None = None
    at_most: float | None = None
    bound: Bound = Bound.POINT
    skill: str = "*"
    scorer: str = "*"
    tag: str | None = None
    slice: Mapping[str, str] = field(default_factory=dict)
    significance: float | None = None
    relative: bool = False
    skips_missing: bool = False

    @property
    def limit(self) -> float:
        """The number that is not to be passed."""
        limit = self.at_most if self.at_least is None else self.at_least
        assert limit is not None
        return limit

    @property
    def slack(self) -> float:
        """How far beyond the limit still counts as on it."""
        return TOLERANCE * max(1.0, abs(self.limit))


def covered(trials: pl.LazyFrame, rule: Rule) -> pl.LazyFrame:
    """Keep the trials of the tag and the slice that a rule is about.

    Grain: unchanged, one row a trial.

    Raises:
        ConfigError: the slice names a column that trials do not have, or that is no text.
    """
    texts = [name for name, dtype in trials.collect_schema().items() if dtype == pl.String]
    conditions = [] if rule.tag is None else [pl.col("task_tags").list.contains(rule.tag)]
    for name, glob in rule.slice.items():
        if name not in texts:
            raise _unknown(f"slice.{name}", "a column of the trials that holds text", name, texts)
        conditions.append(_fits(name, glob))
    return trials.filter(*conditions) if conditions else trials


def threshold_checks(summary: pl.LazyFrame, rule: Rule) -> pl.LazyFrame:
    """Hold every row of a summary against a threshold.

    A metric that is not known fails the rule, unless the rule skips what is missing.

    Grain: one row a row of the summary that the rule is about.
    Columns: `CHECK_COLUMNS`: the ids, `value`, `margin` (how far on the good side of the limit; negative where it
        fails), `n_tasks`, `verdict`, `reason` (why nothing is known); what belongs to regressions is null.

    Raises:
        ConfigError: there is no such metric, or it has no interval.
    """
    name = _column(summary, rule)
    value = pl.col(name).cast(pl.Float64).fill_nan(None)
    margin = value - rule.limit if rule.at_least is not None else rule.limit - value
    known = summary.filter(_fits("skill_id", rule.skill), _fits("scorer", rule.scorer))
    told = _REASONS.get(name) if rule.bound is Bound.POINT else interval_columns(rule.metric)[2]
    why = pl.col(told) if told else pl.lit(None, dtype=pl.String)
    said = pl.coalesce(why, pl.lit(f"{name} is not known"))
    return known.with_columns(
        value=value,
        before=pl.lit(None, dtype=pl.Float64),
        after=value,
        margin=margin,
        p_value=pl.lit(None, dtype=pl.Float64),
        verdict=_verdict(margin, rule),
        reason=pl.when(value.is_null()).then(said),
    ).select(CHECK_COLUMNS)


def regression_checks(changes: pl.LazyFrame, rule: Rule) -> pl.LazyFrame:
    """Hold what became of a baseline against the most that a metric may get worse.

    With a significance a change beyond the limit fails only where chance is no explanation of what lies beyond it. A
    row that one side lacks is skipped.

    Grain: one row a row of `changes` that the rule is about.
    Columns: `CHECK_COLUMNS`; `value` is how much worse it became, `before` and `after` are the metric itself.

    Source: Schuirmann 1987 for the margin, Fisher 1935 for the test.
    """
    value = pl.col("worse").fill_nan(None)
    margin = rule.limit - value
    by_size = _verdict(margin, rule)
    lone = pl.col("side") != "both"
    is_beyond = margin < -rule.slack
    by_chance = pl.lit(value=False)
    if rule.significance is not None:
        by_chance = is_beyond & (pl.col("p_value") >= rule.significance).fill_null(value=False)
    from_zero = value.is_null() & (pl.col("worse_by") <= TOLERANCE).fill_null(value=False)
    skipped = pl.when(lone).then(pl.lit(Outcome.SKIPPED.value))
    lenient = pl.when(by_chance | from_zero).then(pl.lit(Outcome.PASSED.value))
    return (
        changes.filter(_fits("skill_id", rule.skill), _fits("scorer", rule.scorer))
        .with_columns(
            value=value,
            margin=margin,
            verdict=pl.coalesce(skipped, lenient, by_size),
            reason=_regression_reason(rule, value, lone, by_chance),
        )
        .select(CHECK_COLUMNS)
    )


def _regression_reason(rule: Rule, value: pl.Expr, lone: pl.Expr, by_chance: pl.Expr) -> pl.Expr:
    new = pl.col("side") == "new"
    shown = pl.when(new).then(pl.lit("not in the baseline")).otherwise(pl.lit("in the baseline only"))
    zero = pl.when(pl.col("worse_by").is_not_null()).then(
        pl.lit("the baseline is 0: there is no share of it")
    )
    unknown = pl.coalesce(zero, pl.lit(f"the change of {rule.metric} is not known"))
    plain = pl.coalesce(pl.when(lone).then(shown), pl.when(value.is_null()).then(unknown))
    if rule.significance is None:
        return plain
    # Of n differences even the most extreme pattern of signs has p = 2 / 2^n.
    too_few = 2.0 / pl.lit(2.0).pow(pl.col("n_moved")) >= rule.significance
    few = pl.lit(f"beyond the limit, but too few tasks changed to show it at {rule.significance:g}")
    chance = pl.lit("beyond the limit, but that could be chance")
    return pl.coalesce(plain, pl.when(by_chance).then(pl.when(too_few).then(few).otherwise(chance)))


def _verdict(margin: pl.Expr, rule: Rule) -> pl.Expr:
    missing = Outcome.SKIPPED if rule.skips_missing else Outcome.FAILED
    return (
        pl.when(margin.is_null())
        .then(pl.lit(missing.value))
        .when(margin >= -rule.slack)
        .then(pl.lit(Outcome.PASSED.value))
        .otherwise(pl.lit(Outcome.FAILED.value))
    )


def _column(summary: pl.LazyFrame, rule: Rule) -> str:
    """Give the column that holds the figure of a rule: the metric, or an end of its interval."""
    check_metric(summary, rule)
    if rule.bound is Bound.POINT:
        return rule.metric
    low, high, _ = interval_columns(rule.metric)
    name = high if rule.bound is Bound.HIGH else low
    if name not in numbers(summary):
        raise _unknown("bound", f"point: {rule.metric} has no interval", rule.bound.value, [])
    return name


def check_metric(summary: pl.LazyFrame, rule: Rule) -> None:
    """Refuse a metric that a summary does not have.

    Raises:
        ConfigError: names the nearest one.
    """
    known = numbers(summary)
    if rule.metric not in known:
        key = "regression" if rule.is_regression else "metric"
        raise _unknown(key, "a metric of the summary", rule.metric, known)


def numbers(summary: pl.LazyFrame) -> list[str]:
    """Name the columns of a summary that hold numbers."""
    return [name for name, dtype in summary.collect_schema().items() if dtype.is_numeric()]


def _unknown(key: str, expected: str, found: str, known: list[str]) -> ConfigError:
    problem = Problem(
        where=WHERE,
        key=key,
        expected=expected,
        found=found,
        hint=nearest(found, known) if known else "",
    )
    return ConfigError("the gate has a rule that cannot be checked", problems=(problem,))


def _fits(name: str, glob: str) -> pl.Expr:
    """Say whether a text fits a glob of `*` and `?`; what is not known fits `*` alone."""
    if glob == "*":
        return pl.lit(value=True)
    parts = (re.escape(part) if part not in {"*", "?"} else {"*": ".*", "?": "."}[part] for part in glob)
    return pl.col(name).str.contains(f"(?s)^{''.join(parts)}$").fill_null(value=False)
