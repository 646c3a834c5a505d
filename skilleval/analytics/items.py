"""Do the tasks of a benchmark measure one thing, and does each of them add something?

Classical test theory: a task is an item, a condition (a skill as it was driven) is a subject, the value of an item is
the mean over its repeats. Repeats are no subjects: they would make noise of one skill look like a difference of skills.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from skilleval.analytics.completion import GRADED, PASSED, share, trial_count
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS

ITEM_KEYS = ("benchmark_id", "benchmark_version", "scorer")
"""What a table of items is about."""

MIN_SUBJECTS = 3
"""Two subjects correlate perfectly or not at all."""

_SAME = 1e-9
_SUBJECT = tuple(key for key in CONDITION_KEYS if key not in ITEM_KEYS)
_VALUE, _REST, _TOTAL = pl.col("value"), pl.col("rest"), pl.col("total")

ADVICE = {
    "ungraded": "nobody was graded on it: mend its scorer or what it expects",
    "all_pass": "everybody passes it: it tells no skill from another; make it harder, or keep it as a smoke test",
    "all_fail": "nobody passes it: check that it can be solved, and what it expects",
    "negative": "skills that do worse elsewhere do better here: check what it expects, and how else it can be read",
}
"""What to do about a finding."""


def subject_values(outcomes: pl.LazyFrame) -> pl.LazyFrame:
    """Give how each subject did on each task, over all its repeats and runs.

    Grain: one row a condition × scorer × task, sorted.
    Columns: `CONDITION_KEYS`, `task_id`, `n_graded`, `n_passed`, `value` (share passed of the graded).
    """
    n, passed = trial_count(GRADED), trial_count(PASSED)
    metrics = (
        Metric(name="n_graded", expr=n, unit="trials"),
        Metric(name="n_passed", expr=passed, unit="trials"),
        Metric(name="value", expr=share(passed, n), unit="share"),
    )
    return summarise(outcomes, by=(*CONDITION_KEYS, "task_id"), metrics=metrics)


def items(values: pl.LazyFrame) -> pl.LazyFrame:
    """Describe each task by the subjects that met it.

    Grain: one row a benchmark version × scorer × task, sorted.
    Columns: `ITEM_KEYS`, `task_id`, `n_subjects` (with a verdict), `n_graded` (trials), `pass_rate` (mean of subjects;
        null where nobody was graded), `item_rest` (correlation with the rest of the test, over the subjects that have a
        verdict on every task somebody has one on; null below three, or where either side does not vary), `finding`
        (`ungraded`, `all_pass`, `all_fail`, `negative`, else null), `advice`.
    """
    described = summarise(
        values,
        by=(*ITEM_KEYS, "task_id"),
        metrics=(
            Metric(name="n_subjects", expr=_VALUE.count().cast(pl.Int64), unit="subjects"),
            Metric(name="n_graded", expr=pl.col("n_graded").sum(), unit="trials"),
            Metric(name="pass_rate", expr=_VALUE.mean(), unit="share"),
        ),
    )
    correlated = summarise(_complete(values), by=(*ITEM_KEYS, "task_id"), metrics=(_item_rest(),))
    joined = described.join(correlated, on=[*ITEM_KEYS, "task_id"], how="left", nulls_equal=True)
    found = joined.with_columns(finding=_finding())
    return found.with_columns(advice=pl.col("finding").replace_strict(ADVICE, return_dtype=pl.String)).sort(
        *ITEM_KEYS, "task_id"
    )


def reliability(values: pl.LazyFrame) -> pl.LazyFrame:
    """Say how far the tasks of a benchmark measure one thing.

    KR-20 where every value is 0 or 1, else Cronbach's alpha, of which it is the special case: k / (k - 1) times 1 less
    the sum of the variances of the items over the variance of the totals, all with ddof 0.

    Grain: one row a benchmark version × scorer, sorted.
    Columns: `ITEM_KEYS`; `n_tasks` (that somebody has a verdict on), `n_subjects` (with a verdict on all of them),
        `alpha` (null with a reason), `method` (`KR-20`, `Cronbach's alpha` or the reason).

    Source: Kuder and Richardson 1937; Cronbach 1951.
    """
    known = values.filter(_VALUE.is_not_null())
    complete = _complete(values)
    n_tasks = Metric(name="n_tasks", expr=pl.col("task_id").n_unique().cast(pl.Int64), unit="tasks")
    joined = _beside(
        summarise(known, by=ITEM_KEYS, metrics=(n_tasks,)), _of_items(complete), _of_totals(complete)
    )
    measured = derive(joined.with_columns(pl.col("n_subjects").fill_null(0)), metrics=_alpha())
    return measured.select(*ITEM_KEYS, "n_tasks", "n_subjects", "alpha", "method").sort(ITEM_KEYS)


def _of_items(complete: pl.LazyFrame) -> pl.LazyFrame:
    """Sum the variances of the items; say whether all their values are 0 or 1."""
    spread = Metric(name="variance", expr=_VALUE.var(ddof=0), unit="share²")
    binary = Metric(name="binary", expr=_VALUE.is_in([0.0, 1.0]).all(), unit="statement")
    metrics = (
        Metric(name="of_items", expr=pl.col("variance").sum(), unit="share²"),
        Metric(name="binary", expr=pl.col("binary").all(), unit="statement"),
    )
    by_item = summarise(complete, by=(*ITEM_KEYS, "task_id"), metrics=(spread, binary))
    return summarise(by_item, by=ITEM_KEYS, metrics=metrics)


def _of_totals(complete: pl.LazyFrame) -> pl.LazyFrame:
    """Give the variance of the totals, and the number of subjects that have one."""
    metrics = (
        Metric(name="n_subjects", expr=pl.len().cast(pl.Int64), unit="subjects"),
        Metric(name="of_totals", expr=_TOTAL.var(ddof=0), unit="share²"),
    )
    totals = complete.select(*ITEM_KEYS, *_SUBJECT, "total").unique()
    return summarise(totals, by=ITEM_KEYS, metrics=metrics)


def _beside(first: pl.LazyFrame, *others: pl.LazyFrame) -> pl.LazyFrame:
    for other in others:
        first = first.join(other, on=list(ITEM_KEYS), how="left", nulls_equal=True)
    return first


def _complete(values: pl.LazyFrame) -> pl.LazyFrame:
    """Keep the subjects that have a verdict on every task somebody has one on, with `total` and `rest` of their values.

    Grain: one row a subject × task.
    """
    known = values.filter(_VALUE.is_not_null())
    n_tasks = pl.col("task_id").n_unique().over(ITEM_KEYS)
    own = pl.len().over(*ITEM_KEYS, *_SUBJECT)
    whole = known.filter(own == n_tasks).sort(*ITEM_KEYS, *_SUBJECT, "task_id")
    summed = whole.with_columns(total=_VALUE.sum().over(*ITEM_KEYS, *_SUBJECT))
    return summed.with_columns(rest=_TOTAL - _VALUE)


def _item_rest() -> Metric:
    varies = (_spread(_VALUE) > _SAME) & (_spread(_REST) > _SAME)
    return Metric(
        name="item_rest",
        expr=pl.when((pl.len() >= MIN_SUBJECTS) & varies).then(pl.corr("value", "rest").fill_nan(None)),
        unit="correlation",
        source="corrected item-total correlation",
    )


def _spread(value: pl.Expr) -> pl.Expr:
    return value.max() - value.min()


def _finding() -> pl.Expr:
    rate = pl.col("pass_rate")
    several = pl.col("n_subjects") > 0
    return (
        pl.when(~several)
        .then(pl.lit("ungraded"))
        .when(rate >= 1 - _SAME)
        .then(pl.lit("all_pass"))
        .when(rate <= _SAME)
        .then(pl.lit("all_fail"))
        .when(pl.col("item_rest") < -_SAME)
        .then(pl.lit("negative"))
    )


def _alpha() -> tuple[Metric, ...]:
    k, subjects = pl.col("n_tasks"), pl.col("n_subjects")
    enough = (k > 1) & (subjects >= MIN_SUBJECTS) & (pl.col("of_totals") > _SAME)
    value = k / (k - 1) * (1 - pl.col("of_items") / pl.col("of_totals"))
    named = pl.when(pl.col("binary")).then(pl.lit("KR-20")).otherwise(pl.lit("Cronbach's alpha"))
    reason = (
        pl.when(k <= 1)
        .then(pl.lit("not known: fewer than two tasks have a verdict"))
        .when(subjects < MIN_SUBJECTS)
        .then(
            pl.format(
                "not known: {} verdicts on all tasks, and those of three are needed",
                pl.when(subjects == 1)
                .then(pl.lit("1 subject has"))
                .otherwise(pl.format("{} subjects have", subjects)),
            )
        )
        .when(~(pl.col("of_totals") > _SAME))
        .then(pl.lit("not known: all subjects have the same total"))
    )
    return (
        Metric(name="alpha", expr=pl.when(enough).then(value), unit="reliability"),
        Metric(name="method", expr=pl.coalesce(reason, named), unit="text"),
    )


def counted_findings(findings: Sequence[str | None]) -> dict[str, int]:
    """Count findings, those without one left out."""
    known = [one for one in findings if one is not None]
    return {name: known.count(name) for name in ADVICE if name in known}
