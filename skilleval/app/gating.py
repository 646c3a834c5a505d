"""From the rules of a gate and stored rows to what each of them says of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from skilleval.analytics.arms import BASELINES, CANDIDATE
from skilleval.analytics.criteria import criterion
from skilleval.analytics.gate_changes import Rows, changes
from skilleval.analytics.gates import (
    WHERE,
    Bound,
    Outcome,
    Rule,
    covered,
    regression_checks,
    threshold_checks,
)
from skilleval.analytics.interval_columns import with_intervals
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.summary import summary
from skilleval.config.settings import GateRule, GateSettings
from skilleval.errors import ConfigError, Problem
from skilleval.report.gates import GateCheck
from skilleval.report.standing import gate_rate
from skilleval.report.value_rules import Kind, kind_of
from skilleval.strict import percent_hint

NO_BASELINE = "no baseline to compare with: name one with --baseline"
NO_ROW = "no row of the run is meant by it"
_ALL = "*"
_A_TRIAL = {
    name: criterion(name, where=WHERE, key="metric").value for name in ("usd_per_trial", "tokens_per_trial")
}
"""What a trial takes, as strategies know it: totals grow with the number of repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The run that regressions are measured against: its id and its rows."""

    run_id: str
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """What rules are held against: the rows of a run, how they become numbers, and perhaps a baseline."""

    rows: Rows
    spec: AnalysisSpec
    baseline: Baseline | None = None
    lacking: str = field(default=NO_BASELINE)


def rules_of(gate: Mapping[str, Any], *, where: str) -> tuple[GateRule, ...]:
    """Read the rules of the gate settings of a stored run; a run older than rules has none.

    Raises:
        ConfigError: a rule is not one.
    """
    return GateSettings.parse(gate, where=where, prefix="gate").rules if gate.get("rules") else ()


def min_completion_rule(gate: Mapping[str, Any]) -> GateRule:
    """Give the oldest key of a gate as a rule."""
    return GateRule(metric="completion_rate", at_least=float(gate["min_completion"]))


def gate_checks(rules: Sequence[GateRule], gated: Gated) -> tuple[GateCheck, ...]:
    """Hold every rule against every row it is about; one that is about nothing fails, unless it skips what is missing.

    Raises:
        ConfigError: a rule names a metric, a column or a bound that there is not.
    """
    return tuple(check for index, rule in enumerate(rules) for check in _checks(index, rule, gated))


def _checks(index: int, settings: GateRule, gated: Gated) -> Iterator[GateCheck]:
    rule = _rule(settings)
    _check_limit(index, rule)
    blank = _blank(index, settings, rule)
    if rule.is_regression and gated.baseline is None:
        yield replace(blank, verdict=Outcome.SKIPPED.value, reason=gated.lacking)
        return
    baseline = gated.baseline.run_id if rule.is_regression and gated.baseline else ""
    try:
        found = _frame(rule, gated).collect()
    except ConfigError as error:
        raise _placed(error, index) from None
    for row in found.iter_rows(named=True):
        known = {key: value for key, value in row.items() if value is not None}
        yield replace(blank, baseline=baseline, **known)
    if found.is_empty():
        missing = Outcome.SKIPPED if rule.skips_missing else Outcome.FAILED
        yield replace(blank, baseline=baseline, verdict=missing.value, reason=NO_ROW)


def _check_limit(index: int, rule: Rule) -> None:
    """Refuse a limit that no share can come to: who writes 90 means 90 %.

    Raises:
        ConfigError: says what to write.
    """
    if rule.relative or kind_of(rule.metric) is not Kind.SHARE or abs(rule.limit) <= 1:
        return
    key = f"[{index}].{'at_most' if rule.at_least is None else 'at_least'}"
    hint = percent_hint(rule.limit)
    problem = Problem(where=WHERE, key=key, expected="a share, 0-1", found=f"{rule.limit:g}", hint=hint)
    raise ConfigError(f"{rule.metric} never reaches its limit", problems=(problem,))


def _frame(rule: Rule, gated: Gated) -> pl.LazyFrame:
    rows = replace(gated.rows, trials=covered(_asked(gated.rows.trials, rule), rule))
    if not rule.is_regression:
        return threshold_checks(_decisive(_figures(rows, rule, gated.spec)), rule)
    assert gated.baseline is not None
    before = gated.baseline.rows
    before = replace(before, trials=_asked(before.trials, rule))
    return regression_checks(changes(before, rows, rule, spec=gated.spec), rule)


def _figures(rows: Rows, rule: Rule, spec: AnalysisSpec) -> pl.LazyFrame:
    """Summarise, with the interval of the metric where an end of it is asked for that a summary does not have."""
    figures = summary(rows.trials, rows.scores, spec=spec)
    if rule.bound is not Bound.POINT:
        figures = with_intervals(figures, rows.trials, rows.scores, metrics=(rule.metric,), spec=spec)
    return figures.with_columns(**_A_TRIAL)


def _asked(trials: pl.LazyFrame, rule: Rule) -> pl.LazyFrame:
    """Leave out baselines of arms, which are hoped to fail, unless the rule names a mode."""
    if "mode" in rule.slice:
        return trials
    mode = pl.col("mode")
    return trials.filter(~(mode.is_in(BASELINES) & (mode == CANDIDATE).any()))


def _decisive(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Count trials that could not be judged as not passed: what nobody can judge must not open a gate."""
    found = rows.collect()
    rates = pl.Series([gate_rate(row) for row in found.iter_rows(named=True)], dtype=pl.Float64)
    decisive = found.with_columns(completion_rate=rates).lazy()
    # The interval is that of the graded trials: its ends cannot lie above what would be left with all of them.
    short = pl.lit(rates) < pl.lit(found["completion_rate"])
    return decisive.with_columns(
        ci_low=pl.when(short).then(pl.min_horizontal("ci_low", "completion_rate")).otherwise("ci_low")
    )


def _rule(settings: GateRule) -> Rule:
    metric = settings.metric if settings.regression is None else settings.regression
    assert metric is not None
    return Rule(
        metric=metric,
        is_regression=settings.regression is not None,
        at_least=settings.at_least,
        at_most=settings.at_most,
        bound=Bound(settings.bound),
        skill=settings.skill,
        scorer=settings.scorer,
        tag=settings.tag,
        slice=settings.slice,
        significance=settings.significance,
        relative=settings.relative,
        skips_missing=settings.missing == "skip",
    )


def _blank(index: int, settings: GateRule, rule: Rule) -> GateCheck:
    """Give what all checks of a rule share."""
    return GateCheck(
        rule=index,
        metric=rule.metric,
        is_regression=rule.is_regression,
        direction="at_most" if rule.at_least is None else "at_least",
        limit=rule.limit,
        bound=rule.bound.value,
        relative=rule.relative,
        significance=rule.significance,
        scope=_scope(settings),
        verdict=Outcome.FAILED.value,
    )


def _scope(settings: GateRule) -> str:
    """Say to what a rule is limited, as it is written."""
    globs = {"skill": settings.skill, "scorer": settings.scorer}
    parts = [f"{name} {glob}" for name, glob in globs.items() if glob != _ALL]
    parts += [] if settings.tag is None else [f"tag {settings.tag}"]
    return ", ".join([*parts, *(f"{name} {glob}" for name, glob in settings.slice.items())])


def _placed(error: ConfigError, index: int) -> ConfigError:
    """Say which of the rules is wrong."""
    problems = tuple(
        Problem(
            where=one.where,
            key=f"[{index}].{one.key}",
            expected=one.expected,
            found=one.found,
            hint=one.hint,
        )
        for one in error.problems
    )
    return ConfigError(error.message, problems=problems)
