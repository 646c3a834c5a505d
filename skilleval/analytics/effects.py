"""What became of each metric between two runs, paired over the tasks they share, and what may be said of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from skilleval.analytics.completion import trial_count
from skilleval.analytics.equivalence import (
    MIN_MOVED,
    detectable,
    few_moved_p,
    tasks_that_decide,
    tost_p,
)
from skilleval.analytics.mcnemar import mcnemar
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.multiplicity import benjamini_hochberg, holm
from skilleval.analytics.paired import (
    SAME,
    interval_method,
    pair_statistics,
    paired_interval,
    sign_flip_test,
    standard_error,
)

UNEQUAL_FLIP_RATES = 0.1
"""Where the chance that two repeats of a task disagree differs by more than this, p values come out too small."""

SAME_RATIO = 1.1
"""Ratios between this and its inverse are taken for no change that matters."""

_LARGEST_LOG = 690.0  # e^690 is about 1e299

_KEYS = ("pair", "metric")
_DIFFERENCE, _P = pl.col("difference"), pl.col("p_value")
_IS_RATIO = pl.col("kind") == "ratio"


class Change(StrEnum):
    """What a comparison shows of one metric."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    EQUIVALENT = "equivalent"
    UNCHANGED = "unchanged"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One metric that every task has of its own.

    A `difference` is candidate less baseline, a `ratio` candidate through baseline. P values are adjusted within a
    `family`: how good the answers are, or what they cost.
    """

    name: str
    column: str
    kind: str
    better: str
    unit: str
    family: str


_QUALITY = {"kind": "difference", "unit": "share", "family": "quality"}
_COST = {"kind": "ratio", "better": "lower", "family": "cost"}

MEASURES = (
    Measure(name="completion_rate", column="completion_rate", better="higher", **_QUALITY),
    Measure(name="partial_score", column="score", better="higher", **_QUALITY),
    Measure(name="error_rate", column="error_rate", better="lower", **_QUALITY),
    Measure(name="latency_ms", column="latency_ms", unit="ms", **_COST),
    Measure(name="tokens", column="tokens", unit="tokens", **_COST),
    Measure(name="cost_usd", column="cost_usd", unit="USD", **_COST),
)


def effects(tasks: pl.LazyFrame, *, margin: float, level: float, seed: int) -> pl.LazyFrame:
    """Compare each metric over the tasks that both sides know, from the rows of `task_pairs`.

    Partial scores that equal the completion rate on every task, and error rates of runs without an error, have no row.

    Grain: one row a pair × metric, sorted by pair, then in the order of `MEASURES`.
    Columns: `pair`, `metric`, `kind`, `better`, `unit`, `family`, `n_tasks`; `before`, `after` (means over tasks,
        geometric ones for ratios); `effect` with `low`, `high`, `ci_method`; `p_value`, `p_method`, `p_holm`, `p_bh`;
        `n_better`, `n_same`, `n_worse` (tasks); `equivalence_p`, `margin`, `detectable`, `n_more` (about how many more
        tasks decide; null where nothing is open); `cohens_h`, `gain`; `mcnemar_exact`, `mcnemar_mid_p`, `odds_ratio`
        (completion with one repeat); `flip_rate_before`, `flip_rate_after`, `is_unequal`; `change` (see `Change`),
        `is_confirmed` (a regression beyond the margin).
    """
    counted = tasks.filter(pl.col("left_out").is_null())
    values = pl.concat([_values(counted, place, measure) for place, measure in enumerate(MEASURES)])
    described = ("place", "kind", "better", "unit", "family")
    rows = summarise(values, by=(*_KEYS, *described), metrics=_statistics())
    beside = summarise(counted, by=("pair",), metrics=_of_completion())
    joined = rows.join(
        beside.with_columns(metric=pl.lit("completion_rate")), on=[*_KEYS], how="left"
    ).with_columns(margin=pl.when(_IS_RATIO).then(_log(SAME_RATIO)).otherwise(margin))
    tested = derive(joined, metrics=_uncertainty(level, seed))
    adjusted = tested.with_columns(p_holm=holm(_P).over("family"), p_bh=benjamini_hochberg(_P).over("family"))
    judged = derive(derive(adjusted, metrics=_judgement(level)), metrics=_consequences(level))
    return _shown(judged).sort("pair", "place").drop("place")


def _ratio(log: pl.Expr) -> pl.Expr:
    # Two tasks that went far apart have bounds that no float holds: they would be 0 and infinite.
    return log.clip(-_LARGEST_LOG, _LARGEST_LOG).exp()


def _log(value: float) -> pl.Expr:
    return pl.lit(value).log()


def _values(tasks: pl.LazyFrame, place: int, measure: Measure) -> pl.LazyFrame:
    """Give the values of one metric that both sides know; of a ratio, their logarithms.

    Grain: one row a pair × task.
    """
    before, after = (pl.col(f"{measure.column}_{side}") for side in ("before", "after"))
    known = before.is_not_null() & after.is_not_null()
    if measure.kind == "ratio":
        before, after, known = before.log(), after.log(), (before > 0) & (after > 0)
    told = {
        "place": pl.lit(place),
        "metric": pl.lit(measure.name),
        **{name: pl.lit(getattr(measure, name)) for name in ("kind", "better", "unit", "family")},
    }
    rows = tasks.filter(known & _says_something(measure))
    return rows.select("pair", before=before, after=after, difference=after - before, **told)


def _says_something(measure: Measure) -> pl.Expr:
    sides = ("before", "after")
    if measure.name == "partial_score":
        apart = [(pl.col(f"score_{side}") - pl.col(f"completion_rate_{side}")).abs() > SAME for side in sides]
        return pl.any_horizontal(*apart).any().over("pair")
    if measure.name == "error_rate":
        return pl.any_horizontal(*(pl.col(f"error_rate_{side}") > 0 for side in sides)).any().over("pair")
    return pl.lit(value=True)


def _statistics() -> tuple[Metric, ...]:
    gain = pl.when(pl.col("better") == "higher").then(_DIFFERENCE).otherwise(-_DIFFERENCE)
    return (
        Metric(name="n_tasks", expr=pl.len().cast(pl.Int64), unit="tasks"),
        Metric(name="before", expr=pl.col("before").mean(), unit="its own"),
        Metric(name="after", expr=pl.col("after").mean(), unit="its own"),
        Metric(name="n_better", expr=trial_count(gain > SAME), unit="tasks"),
        Metric(name="n_same", expr=trial_count(gain.abs() <= SAME), unit="tasks"),
        Metric(name="n_worse", expr=trial_count(gain < -SAME), unit="tasks"),
        *pair_statistics(_DIFFERENCE),
    )


def _of_completion() -> tuple[Metric, ...]:
    """Give what only verdicts have: tasks lost and gained where each was tried once, and how alike repeats are."""
    before, after = pl.col("completion_rate_before"), pl.col("completion_rate_after")
    once = pl.max_horizontal(pl.col("n_graded_before", "n_graded_after").max()) == 1
    return (
        Metric(name="lost", expr=pl.when(once).then(trial_count(before > after)), unit="tasks"),
        Metric(name="gained", expr=pl.when(once).then(trial_count(before < after)), unit="tasks"),
        Metric(name="flip_rate_before", expr=pl.col("flip_rate_before").mean(), unit="share"),
        Metric(name="flip_rate_after", expr=pl.col("flip_rate_after").mean(), unit="share"),
    )


def _uncertainty(level: float, seed: int) -> tuple[Metric, ...]:
    n, moved = pl.col("n_tasks"), pl.col("n_better") + pl.col("n_worse")
    low, high = paired_interval(n, level=level)
    margin = pl.col("margin")
    by_t = tost_p(pl.col("mean"), standard_error(n), n - 1, margin)
    by_count = pl.when(~_IS_RATIO).then(few_moved_p(moved, n, margin))
    needed = tasks_that_decide(
        mean=pl.col("mean"),
        sd=pl.col("sd"),
        n=n,
        n_moved=moved,
        margin=margin,
        level=level,
        n_compared=pl.len().over("family"),
    )
    return (
        Metric(name="low", expr=low, unit="its own"),
        Metric(name="high", expr=high, unit="its own"),
        Metric(
            name="ci_method",
            expr=interval_method(n, level=level, unit="task", where="is known on both sides"),
            unit="text",
        ),
        *sign_flip_test(n, moved, seed=seed),
        Metric(
            name="equivalence_p",
            expr=pl.when(moved < MIN_MOVED).then(by_count).otherwise(by_t),
            unit="probability",
        ),
        Metric(name="detectable", expr=detectable(pl.col("sd"), n, level=level), unit="its own"),
        Metric(name="n_needed", expr=needed, unit="tasks"),
        *mcnemar(pl.col("lost"), pl.col("gained")),
    )


def _judgement(level: float) -> tuple[Metric, ...]:
    """Say what is shown: of an effect both the interval and the adjusted test must be sure."""
    low, high, mean = pl.col("low"), pl.col("high"), pl.col("mean")
    sure = (pl.col("p_holm") <= 1 - level) & ((low > 0) | (high < 0) | low.is_null())
    is_better = (mean > 0) == (pl.col("better") == "higher")
    change = (
        pl.when(sure & (mean != 0) & ~is_better)
        .then(pl.lit(Change.REGRESSED.value))
        .when(sure & (mean != 0) & is_better)
        .then(pl.lit(Change.IMPROVED.value))
        .when(pl.col("equivalence_p") <= 1 - level)
        .then(pl.lit(Change.EQUIVALENT.value))
        .when(pl.col("n_same") == pl.col("n_tasks"))
        .then(pl.lit(Change.UNCHANGED.value))
        .otherwise(pl.lit(Change.INCONCLUSIVE.value))
    )
    return (Metric(name="change", expr=change, unit="text"),)


def _consequences(level: float) -> tuple[Metric, ...]:
    change = pl.col("change")
    # Nearer to zero is the bound that a confirmed regression must still keep beyond the margin.
    nearest = pl.when(pl.col("mean") < 0).then("high").otherwise("low")
    beyond = pl.coalesce(nearest, "mean").abs() > pl.col("margin") + SAME
    is_still = (change == Change.UNCHANGED.value) & ~_IS_RATIO
    is_open = (change == Change.INCONCLUSIVE.value) | is_still
    more = pl.max_horizontal(pl.col("n_needed") - pl.col("n_tasks"), 1)
    h = 2 * (pl.col("after").sqrt().arcsin() - pl.col("before").sqrt().arcsin())
    room = pl.when(pl.col("before") < 1 - SAME).then(1 - pl.col("before"))
    is_rate = pl.col("metric") == "completion_rate"
    unequal = (pl.col("flip_rate_after") - pl.col("flip_rate_before")).abs() > UNEQUAL_FLIP_RATES
    return (
        Metric(name="is_confirmed", expr=(change == Change.REGRESSED.value) & beyond, unit="statement"),
        Metric(name="n_more", expr=pl.when(is_open).then(more), unit="tasks"),
        Metric(
            name="cohens_h",
            expr=pl.when(is_rate).then(h),
            unit="radians",
            source="Cohen 1988",
        ),
        Metric(
            name="gain",
            expr=pl.when(is_rate | (pl.col("metric") == "partial_score")).then(pl.col("mean") / room),
            unit="share",
            source="normalised gain, Hake 1998",
        ),
        Metric(
            name="is_unequal",
            expr=(unequal & (1 - level >= _P)).fill_null(value=False),
            unit="statement",
        ),
    )


def _shown(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Turn logarithms back into ratios that can be written down, and hold differences of shares in [−1, 1].

    Where only a difference beyond 1 would have been found, none would: that is null.
    """
    ends = [pl.col(name) for name in ("before", "after", "margin", "low", "high")]
    effect = pl.when(_IS_RATIO).then(_ratio(pl.col("mean"))).otherwise("mean")
    found = pl.col("detectable")
    detectable = pl.when(_IS_RATIO).then(_ratio(found)).when(found <= 1).then(found)
    back = [
        detectable.alias("detectable"),
        *(
            pl.when(_IS_RATIO).then(_ratio(end)).otherwise(end.clip(-1.0, 1.0)).alias(end.meta.output_name())
            for end in ends
        ),
    ]
    spent = ("mean", "sd", "spread", "differences", "n_needed", "lost", "gained")
    return rows.with_columns(*back, effect=effect).drop(spent)
