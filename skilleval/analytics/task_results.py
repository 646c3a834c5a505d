"""How each task went under each condition: the values that a comparison of two runs is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skilleval.analytics.completion import COMPLETED, share, trial_count
from skilleval.analytics.flakiness import flip_chance
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS, TRIAL_KEYS, trial_outcomes, with_counted_latency

if TYPE_CHECKING:
    from skilleval.analytics.spec import AnalysisSpec

TASK_KEYS = (*CONDITION_KEYS, "task_id")

TASK_VALUES = pl.Schema(
    {name: pl.Int64() for name in ("n_trials", "n_graded", "n_passed")}
    | dict.fromkeys(("score", "error_rate", "latency_ms", "tokens", "cost_usd"), pl.Float64())
    | dict.fromkeys(("input", "expected", "why"), pl.String())
    | dict.fromkeys(("completion_rate", "flip_rate"), pl.Float64())
)
"""The columns of `task_results` beside its keys; a source that does not know one gives nulls."""

_LATENCY = pl.col("counted_latency_ms")


def task_results(trials: pl.LazyFrame, scores: pl.LazyFrame, *, spec: AnalysisSpec) -> pl.LazyFrame:
    """Summarise the repeats of each task.

    Grain: one row a condition × scorer × task, sorted.
    Columns: `TASK_KEYS`; `n_trials`, `n_graded`, `n_passed`; means over trials of `score`, `error_rate`, `latency_ms`
        (as it enters percentiles), `tokens`, `cost_usd` (those of completed attempts); `input` and `expected`; `why`
        (what a trial that did not complete said); `completion_rate`; `flip_rate`, the chance that two repeats disagree.
    """
    outcomes = with_counted_latency(trial_outcomes(trials, scores), spec)
    told = trials.select(*TRIAL_KEYS, "input", "expected", why=_broke())
    rows = outcomes.join(told, on=TRIAL_KEYS, how="left")
    summarised = summarise(rows, by=TASK_KEYS, metrics=(*_counts(), *_means(), *_texts()))
    return derive(summarised, metrics=repeat_rates())


def repeat_rates() -> tuple[Metric, ...]:
    """Give what follows from the passed and graded trials of one task."""
    n, passed = pl.col("n_graded"), pl.col("n_passed")
    return (
        Metric(name="completion_rate", expr=share(passed, n), unit="share"),
        Metric(name="flip_rate", expr=flip_chance(n, passed), unit="share"),
    )


def _broke() -> pl.Expr:
    said = pl.concat_str("failure_kind", "message", separator=": ", ignore_nulls=True)
    return pl.when(~COMPLETED).then(said)


def _counts() -> tuple[Metric, ...]:
    return (
        Metric(name="n_trials", expr=pl.len().cast(pl.Int64), unit="trials", doc="however they ended"),
        Metric(name="n_graded", expr=trial_count(pl.col("graded")), unit="trials"),
        Metric(name="n_passed", expr=trial_count(pl.col("passed").fill_null(value=False)), unit="trials"),
    )


def _means() -> tuple[Metric, ...]:
    tokens = pl.coalesce("total_tokens", pl.col("input_tokens") + pl.col("output_tokens"))
    return (
        Metric(name="score", expr=pl.col("score").mean(), unit="share"),
        Metric(name="error_rate", expr=(~COMPLETED).mean(), unit="share"),
        Metric(name="latency_ms", expr=_LATENCY.mean(), unit="ms"),
        Metric(name="tokens", expr=tokens.filter(COMPLETED).mean(), unit="tokens"),
        Metric(name="cost_usd", expr=pl.col("cost_usd").filter(COMPLETED).mean(), unit="USD"),
    )


def _texts() -> tuple[Metric, ...]:
    return tuple(
        Metric(name=name, expr=pl.col(name).max(), unit="text") for name in ("input", "expected", "why")
    )
