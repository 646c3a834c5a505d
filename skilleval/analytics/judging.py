"""What judging took and how far it can be trusted: kept apart from what the skills and their models consumed."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.arms import PAIR_KEYS
from skilleval.analytics.completion import trial_count
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.outcomes import CONDITION_KEYS, TRIAL_KEYS
from skilleval.domain.scores import EVIDENCE_NOT_FOUND

JUDGE_ERROR = "judge_error"

_SPENT = {
    "input_tokens": "tokens",
    "output_tokens": "tokens",
    "total_tokens": "tokens",
    "cached_tokens": "tokens",
    "cost_usd": "USD",
    "latency_ms": "ms",
}


def judge_spend(judgements: pl.LazyFrame) -> pl.LazyFrame:
    """Sum what each judge took for each scorer.

    Grain: one row a judge model × scorer, sorted.
    Columns: `model`, `scorer`, `n_calls`, `n_failed` (calls whose reply could not be used), `n_usage` and `n_cost`
        (calls that reported tokens, that have a price), then the sums of tokens, `cost_usd` and `latency_ms`; null
        where no call reported any.
    """
    usage = pl.any_horizontal(pl.col("input_tokens", "output_tokens", "total_tokens").is_not_null())
    counts = (
        Metric(name="n_calls", expr=pl.len().cast(pl.Int64), unit="calls"),
        Metric(name="n_failed", expr=trial_count(pl.col("failure_kind").is_not_null()), unit="calls"),
        Metric(name="n_usage", expr=trial_count(usage), unit="calls"),
        Metric(name="n_cost", expr=trial_count(pl.col("cost_usd").is_not_null()), unit="calls"),
    )
    sums = [
        Metric(
            name=name,
            expr=pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).sum()),
            unit=unit,
            doc="sum of what was reported",
        )
        for name, unit in _SPENT.items()
    ]
    return summarise(judgements, by=("model", "scorer"), metrics=(*counts, *sums))


def judge_errors(trials: pl.LazyFrame, scores: pl.LazyFrame) -> pl.LazyFrame:
    """Count the trials of each condition with a check that its judge could not judge.

    Grain: one row a condition × scorer × benchmark version that has any.
    Columns: `CONDITION_KEYS`, `n_judge_errors`.
    """
    keys = [key for key in CONDITION_KEYS if key != "scorer"]
    failed = scores.filter(pl.col("failure_kind") == JUDGE_ERROR).select(*TRIAL_KEYS, "scorer").unique()
    rows = failed.join(trials.select(*TRIAL_KEYS, *keys), on=TRIAL_KEYS, how="inner")
    count = Metric(name="n_judge_errors", expr=pl.len().cast(pl.Int64), unit="trials")
    return summarise(rows, by=CONDITION_KEYS, metrics=(count,))


def judge_remarks(trials: pl.LazyFrame, scores: pl.LazyFrame, judgements: pl.LazyFrame) -> pl.LazyFrame:
    """Give what limits the verdicts of judges on each skill, all of its arms together.

    Grain: one row `PAIR_KEYS` that has anything to tell.
    Columns: `PAIR_KEYS`, `n_judge_errors` (trials), `n_evidence_not_found` (checks), `is_self_judged` (a judge was the
        model that answered).
    """
    keys = [key for key in PAIR_KEYS if key != "scorer"]
    of_trial = trials.select(*TRIAL_KEYS, *keys)
    failed = pl.col("failure_kind") == JUDGE_ERROR
    unfounded = pl.col("reason").str.contains(EVIDENCE_NOT_FOUND, literal=True)
    checks = scores.filter(failed | unfounded).join(of_trial, on=TRIAL_KEYS, how="inner")
    trial = pl.struct(TRIAL_KEYS)
    told = summarise(
        checks,
        by=PAIR_KEYS,
        metrics=(
            Metric(name="n_judge_errors", expr=trial.filter(failed).n_unique().cast(pl.Int64), unit="trials"),
            Metric(name="n_evidence_not_found", expr=trial_count(unfounded), unit="checks"),
        ),
    )
    calls = judgements.select(*TRIAL_KEYS, "scorer", judge="model").unique()
    judged = calls.join(of_trial, on=TRIAL_KEYS, how="inner").filter(pl.col("judge") == pl.col("model"))
    own = judged.select(PAIR_KEYS).unique().with_columns(is_self_judged=pl.lit(value=True))
    joined = told.join(own, on=PAIR_KEYS, how="full", coalesce=True, nulls_equal=True)
    counts = [pl.col(name).fill_null(0) for name in ("n_judge_errors", "n_evidence_not_found")]
    return joined.with_columns(*counts, pl.col("is_self_judged").fill_null(value=False)).sort(PAIR_KEYS)
