"""How far raters of the same attempts agree, beyond what they would by chance.

All of these read the rows of `confusion.ratings` or `confusion.label_ratings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from skilleval.analytics.completion import share, trial_count
from skilleval.analytics.confusion import PAIR, confusion
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import TRIAL_KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence

_TINY = 1e-12
_LEAST_DEFINED = 0.95
_CELLS = ("n_both_passed", "n_only_a", "n_only_b", "n_both_failed")
_PAIRABLE = 2


def _kappa_parts(both: Any, only_a: Any, only_b: Any, neither: Any) -> tuple[Any, Any]:
    """Give the observed agreement and that expected of two raters who say yes as often, but blindly."""
    n = both + only_a + only_b + neither
    a, b = (both + only_a) / n, (both + only_b) / n
    return (both + neither) / n, a * b + (1 - a) * (1 - b)


def pair_agreement(ratings: pl.LazyFrame) -> pl.LazyFrame:
    """Say of every two raters how often they give one verdict, and what that is worth.

    Grain: one row a pair of raters, sorted.
    Columns: those of `confusion`, then `percent_agreement`, `kappa` (null where both give one verdict only, which
        chance explains) and `kappa_reason`.
    Source: Cohen 1960.
    """
    observed, expected = _kappa_parts(*(pl.col(name) for name in _CELLS))
    known = pl.col("n_both") > 0
    varied = known & (expected < 1 - _TINY)
    why = pl.when(~known).then(pl.lit("no trial has a verdict of both"))
    metrics = (
        Metric(name="percent_agreement", expr=pl.when(known).then(observed), unit="share"),
        Metric(
            name="kappa",
            expr=pl.when(varied).then((observed - expected) / (1 - expected)),
            unit="coefficient",
            source="Cohen 1960",
            doc="(observed - expected) / (1 - expected) agreement",
        ),
        Metric(
            name="kappa_reason",
            expr=why.when(~varied).then(pl.lit("both give one verdict only: chance would agree as well")),
            unit="text",
        ),
    )
    return derive(confusion(ratings), metrics=metrics)


def kappa_intervals(ratings: pl.LazyFrame, *, level: float, seed: int, resamples: int) -> pl.DataFrame:
    """Bound Cohen's kappa of every pair by resampling tasks, whose trials are not independent.

    Null with one task, and where the resamples say nothing (all equal, or too many without a kappa).

    Grain: one row a pair of raters, sorted.
    Columns: `rater_a`, `rater_b`, `n_tasks`, `kappa_low`, `kappa_high`, `kappa_method`.
    Source: percentile bootstrap, Efron 1979; clusters are tasks.
    """
    counts = confusion(ratings, by=("task_id",)).filter(pl.col("n_both") > 0).collect()
    rows = [
        {
            **dict(zip(PAIR, pair, strict=True)),
            **_kappa_interval(group, level=level, seed=seed, resamples=resamples),
        }
        for pair, group in counts.group_by(PAIR, maintain_order=True)
    ]
    schema = {
        "rater_a": pl.String(),
        "rater_b": pl.String(),
        "n_tasks": pl.Int64(),
        "kappa_low": pl.Float64(),
        "kappa_high": pl.Float64(),
        "kappa_method": pl.String(),
    }
    return pl.DataFrame(rows, schema=schema)


def _kappa_interval(counts: pl.DataFrame, *, level: float, seed: int, resamples: int) -> dict[str, Any]:
    n = counts.height
    cells = counts.select(_CELLS).to_numpy().astype(np.float64)
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples) @ cells
    with np.errstate(invalid="ignore", divide="ignore"):
        observed, expected = _kappa_parts(*drawn.T)
        kappas = np.where(expected < 1 - _TINY, (observed - expected) / (1 - expected), np.nan)
    defined = kappas[np.isfinite(kappas)]
    facts: dict[str, Any] = {"n_tasks": n}
    if n < _PAIRABLE:
        return facts | {"kappa_method": "no interval: fewer than two tasks have verdicts of both"}
    if len(defined) < _LEAST_DEFINED * resamples:
        return facts | {"kappa_method": "no interval: too many resamples have no kappa"}
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    if high - low < _TINY:
        return facts | {"kappa_method": "no interval: every resample gives the same kappa"}
    method = f"percentile bootstrap over tasks, {resamples} resamples, seed {seed}, level {level:g}"
    return facts | {"kappa_low": float(low), "kappa_high": float(high), "kappa_method": method}


def overall_agreement(ratings: pl.LazyFrame) -> pl.LazyFrame:
    """Say how far all raters together agree, on verdicts and on scores.

    `alpha` takes what is there: nominal for verdicts, interval for scores, and attempts with two values or more count.
    Fleiss' kappa asks for the verdicts of all raters, so that only complete attempts count.

    Grain: one row a kind: `scores`, `verdicts`.
    Columns: `kind`, `n_raters`, `n_trials` (with two values or more), `n_values` (on them), `n_complete` (trials with a
        value of every rater), `percent_agreement` and `fleiss_kappa` (verdicts only), `alpha`, and the reasons where
        `fleiss_kappa` or `alpha` is null.
    Source: Krippendorff 2004, 11; Fleiss 1971.
    """
    units = summarise(_values(ratings), by=("kind", *TRIAL_KEYS), metrics=_of_trial())
    metrics = (*_size(), *_pairs_that_agree(), *_spreads())
    rows = summarise(units, by=("kind",), metrics=metrics)
    return _without_work(derive(rows, metrics=(*_fleiss(), *_alpha())))


def _values(ratings: pl.LazyFrame) -> pl.LazyFrame:
    """Lay verdicts, as 0 and 1, and scores below each other; on two values nominal and interval distances agree."""
    kinds = {"verdicts": pl.col("passed").cast(pl.Float64), "scores": pl.col("score").fill_nan(None)}
    long = pl.concat(
        ratings.select(*TRIAL_KEYS, "rater", pl.lit(kind).alias("kind"), value.alias("value"))
        for kind, value in kinds.items()
    )
    return long.with_columns(n_raters=pl.col("rater").n_unique().over("kind"))


def _of_trial() -> tuple[Metric, ...]:
    value = pl.col("value")
    return (
        Metric(name="m", expr=value.count().cast(pl.Int64), unit="values"),
        Metric(name="mean", expr=value.mean(), unit="share"),
        Metric(name="spread", expr=value.var(ddof=1), unit="share²"),
        Metric(name="n_raters", expr=pl.col("n_raters").first(), unit="raters"),
    )


_M, _MEAN = pl.col("m"), pl.col("mean")
_USED = _M >= _PAIRABLE
_COMPLETE = (pl.col("n_raters") == _M) & _USED


def _size() -> tuple[Metric, ...]:
    return (
        Metric(name="n_raters", expr=pl.col("n_raters").first().cast(pl.Int64), unit="raters"),
        Metric(name="n_trials", expr=trial_count(_USED), unit="trials"),
        Metric(name="n_values", expr=_M.filter(_USED).sum().cast(pl.Int64), unit="values"),
        Metric(name="n_complete", expr=trial_count(_COMPLETE), unit="trials"),
    )


def _agreeing_share() -> pl.Expr:
    """Give the share of the pairs of raters of one attempt that give one verdict."""
    passes = _M * _MEAN
    return (passes * (passes - 1) + (_M - passes) * (_M - passes - 1)) / (_M * (_M - 1))


def _pairs_that_agree() -> tuple[Metric, ...]:
    return (
        Metric(name="agreeing", expr=_agreeing_share().filter(_USED).mean(), unit="share"),
        Metric(name="agreeing_complete", expr=_agreeing_share().filter(_COMPLETE).mean(), unit="share"),
        Metric(name="mean_complete", expr=_MEAN.filter(_COMPLETE).mean(), unit="share"),
    )


def _spreads() -> tuple[Metric, ...]:
    """Give the variance within attempts and that of all values, both from what each attempt has."""
    m, mean, spread = (one.filter(_USED) for one in (_M, _MEAN, pl.col("spread")))
    n, grand = m.sum(), (m * mean).sum() / m.sum()
    between = (m * (mean - grand).pow(2)).sum()
    return (
        Metric(name="within", expr=share((m * spread).sum(), n), unit="share²"),
        Metric(name="total", expr=share(((m - 1) * spread).sum() + between, n - 1), unit="share²"),
    )


def _fleiss() -> tuple[Metric, ...]:
    passing = pl.col("mean_complete")
    expected = passing.pow(2) + (1 - passing).pow(2)
    is_verdict = pl.col("kind") == "verdicts"
    varied = expected < 1 - _TINY
    found = (pl.col("agreeing_complete") - expected) / (1 - expected)
    none = pl.when(pl.col("n_complete") == 0).then(pl.lit("no trial has a verdict of every rater"))
    return (
        Metric(name="percent_agreement", expr=pl.when(is_verdict).then(pl.col("agreeing")), unit="share"),
        Metric(
            name="fleiss_kappa",
            expr=pl.when(is_verdict & varied).then(found),
            unit="coefficient",
            source="Fleiss 1971",
        ),
        Metric(
            name="fleiss_reason",
            expr=pl.when(is_verdict).then(none.when(~varied).then(pl.lit("there is one verdict only"))),
            unit="text",
        ),
    )


def _alpha() -> tuple[Metric, ...]:
    varied = pl.col("total") > _TINY
    none = pl.when(pl.col("n_trials") == 0).then(pl.lit("no trial has two values"))
    one = pl.when(pl.col("kind") == "verdicts").then(pl.lit("verdict")).otherwise(pl.lit("score"))
    return (
        Metric(
            name="alpha",
            expr=pl.when(varied).then(1 - pl.col("within") / pl.col("total")),
            unit="coefficient",
            source="Krippendorff 2004",
            doc="1 - observed / expected disagreement",
        ),
        Metric(
            name="alpha_reason",
            expr=none.when(~varied.fill_null(value=False)).then(pl.format("there is one {} only", one)),
            unit="text",
        ),
    )


def _without_work(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.drop("agreeing", "agreeing_complete", "mean_complete", "within", "total")


def disputed_tasks(ratings: pl.LazyFrame) -> pl.LazyFrame:
    """Order tasks by how much the raters disagree on them, the most disputed first; undisputed ones are left out.

    Grain: one row a task.
    Columns: `task_id`, `n_trials` (with verdicts of two raters or more), `n_split` (on which they are not of one mind),
        `disagreement` (mean over trials of the share of pairs of raters that disagree).
    """
    verdicts = _values(ratings).filter(pl.col("kind") == "verdicts")
    tasks = ratings.select(*TRIAL_KEYS, "task_id").unique()
    units = summarise(verdicts, by=TRIAL_KEYS, metrics=_of_trial()).filter(_USED).join(tasks, on=TRIAL_KEYS)
    apart = 1 - _agreeing_share()
    metrics = (
        Metric(name="n_trials", expr=pl.len().cast(pl.Int64), unit="trials"),
        Metric(name="n_split", expr=trial_count(apart > _TINY), unit="trials"),
        Metric(name="disagreement", expr=apart.mean(), unit="share"),
    )
    found = summarise(units, by=("task_id",), metrics=metrics).filter(pl.col("n_split") > 0)
    return found.sort("disagreement", "n_split", "task_id", descending=[True, True, False])


def verdict_counts(ratings: pl.LazyFrame, *, by: Sequence[str] = ("task_id",)) -> pl.LazyFrame:
    """Count what each rater says.

    Grain: one row `by` × rater, sorted.
    Columns: `by`, `rater`, `n_graded`, `n_passed`.
    """
    passed = pl.col("passed")
    metrics = (
        Metric(name="n_graded", expr=passed.count().cast(pl.Int64), unit="trials"),
        Metric(name="n_passed", expr=trial_count(passed), unit="trials"),
    )
    return summarise(ratings, by=(*by, "rater"), metrics=metrics)
