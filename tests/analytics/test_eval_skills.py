from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from skilleval.analytics.completion import COUNTS
from skilleval.analytics.eval_skills import bootstrap_bounds, seed_metrics, with_seed_composite
from skilleval.analytics.outcomes import trial_outcomes, with_counted_latency
from skilleval.analytics.spec import AnalysisSpec, Preset, ScoringMethod
from skilleval.analytics.summary import summary

Spec = Callable[..., AnalysisSpec]
SummaryRow = Callable[..., dict[str, Any]]
Build = Callable[[list[dict[str, Any]]], pl.LazyFrame]
Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]

WEIGHTS = {"completion": 0.5, "partial": 0.0, "speed": 0.2, "reliability": 0.3}


@pytest.fixture(scope="session")
def seed_spec(spec: Spec) -> Spec:
    """Build a spec of the preset with that tool's weights."""
    return lambda **changes: spec(preset=Preset.EVAL_SKILLS, weights=WEIGHTS, **changes)


@pytest.fixture(scope="session")
def units_mini(trials_of: Build, scores_of: Build) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Give the three results of its documented report: pass, fail with partial credit, error."""
    usage = [{"input_tokens": 12, "output_tokens": 6}, {"input_tokens": 10, "output_tokens": 4}, {}]
    rows: list[dict[str, Any]] = [
        {"task_id": "u1", "task_weight": 2.0, "latency_ms": 120.4},
        {"task_id": "u2", "latency_ms": 80.2},
        {"task_id": "u3", "latency_ms": 55.5, "status": "skill_error"},
    ]
    trials = [{"trial_id": row["task_id"]} | row | used for row, used in zip(rows, usage, strict=True)]
    scores = [
        {"trial_id": "u1", "score": 1.0},
        {"trial_id": "u2", "score": 0.5},
        {"trial_id": "u3", "score": 0.0},
    ]
    return trials_of(trials), scores_of(scores)


def test_the_documented_report(units_mini: tuple[pl.LazyFrame, pl.LazyFrame], seed_spec: Spec) -> None:
    """Every number of the report of `units-mini` is reproduced, rounding included."""
    chosen = seed_spec(scoring_method=ScoringMethod.WEIGHTED_MEAN)
    row = summary(*units_mini, spec=chosen).collect().row(0, named=True)
    expected = {
        "completion_rate": 0.3333,
        "partial_score": 0.625,
        "error_rate": 0.3333,
        "consistency": 1.0,
        "composite": 0.5427,
        "p50_ms": 80.0,
        "p95_ms": 120.0,
        "p99_ms": 120.0,
        "input_tokens": 22,
        "output_tokens": 10,
        "total_tokens": 32,
        "cost_usd": None,
        "ci_low": None,
    }
    assert {key: row[key] for key in expected} == expected


def test_all_errors_score_a_fifth(summary_row: SummaryRow, seed_spec: Spec) -> None:
    """Failed calls have no latency there, so nothing right still earns the whole credit for speed."""
    row = summary_row([["skill_error"], ["timeout"]], seed_spec(), latency_ms=700.0)
    assert (row["composite"], row["p95_ms"], row["n_latency"]) == (0.2, 0.0, 0)


def test_all_wrong_but_fast_scores_half(summary_row: SummaryRow, seed_spec: Spec) -> None:
    """With p95 at 0.015 of the limit and nothing right the composite is 0.497."""
    assert summary_row([[0], [0]], seed_spec(), latency_ms=15.0)["composite"] == 0.497


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([[1, 1], [0, 1]], 0.75),
        ([[1, 0, 1, 0], [0, 1, 0, 1]], 1.0),
        ([[1], [0]], 1.0),
        ([[1, 0]], 0.5),
    ],
)
def test_consistency_looks_at_the_rates_of_runs(
    summary_row: SummaryRow, seed_spec: Spec, tasks: list[list[int]], expected: float
) -> None:
    """Rates 0.5 and 1 give 0.75; tasks that flip in step, and a single run, count as perfectly consistent."""
    assert summary_row(tasks, seed_spec())["consistency"] == expected


def test_every_trial_is_in_the_denominator(summary_row: SummaryRow, seed_spec: Spec) -> None:
    """What could not be graded, or was spoiled, is an error with score 0 there."""
    row = summary_row([[1], [0.5], [None], ["provider_error"]], seed_spec())
    assert (row["completion_rate"], row["error_rate"], row["partial_score"]) == (0.25, 0.5, 0.375)


def test_pass_at_k_has_k_fixed_at_one(summary_row: SummaryRow, seed_spec: Spec) -> None:
    """Whatever k is asked for, its pass_at_k is the mean share of passes over tasks."""
    chosen = seed_spec(scoring_method=ScoringMethod.PASS_AT_K, k=2)
    assert summary_row([[1, 1, 0, "blocked"], [0, 0]], chosen)["partial_score"] == 0.25


def test_weights_that_sum_to_zero_give_zero(summary_row: SummaryRow, seed_spec: Spec) -> None:
    """Its weighted mean without weight is 0 and not unknown."""
    chosen = seed_spec(scoring_method=ScoringMethod.WEIGHTED_MEAN)
    assert summary_row([[1]], chosen, task_weight=0.0)["partial_score"] == 0.0


def test_half_a_millisecond_rounds_up(summary_row: SummaryRow, seed_spec: Spec) -> None:
    """Percentiles are whole milliseconds, half rounded up also where the even neighbour is below."""
    assert summary_row([[1]], seed_spec(), latency_ms=80.5)["p50_ms"] == 81.0


def test_zero_results_have_conventions(trials_of: Build, scores_of: Build, seed_spec: Spec) -> None:
    """Of nothing, completion, errors, percentiles and composite are 0 and consistency is 1."""
    outcomes = with_counted_latency(trial_outcomes(trials_of([]), scores_of([])), seed_spec())
    windows = [f"{name}_{count}" for name in ("task", "repeat") for count in ("trials", "graded", "passed")]
    firsts = [pl.lit(value=True).alias(f"is_first_of_{name}") for name in ("task", "repeat")]
    rows = outcomes.with_columns(*(pl.lit(0).alias(name) for name in windows), *firsts).clear()
    chosen = seed_spec()
    of_nothing = rows.select(metric.expr.alias(metric.name) for metric in (*COUNTS, *seed_metrics(chosen)))
    row = with_seed_composite(of_nothing, chosen).collect().row(0, named=True)
    names = ("completion_rate", "error_rate", "partial_score", "consistency", "p95_ms", "composite")
    assert [row[name] for name in names] == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]


def test_what_it_does_not_define_is_null(summary_row: SummaryRow, seed_spec: Spec) -> None:
    """Numbers that the other tool does not know are not lent to it."""
    row = summary_row([[1, 0], [1, 1]], seed_spec())
    names = (
        "completion_rate_macro",
        "completion_low",
        "flip_rate",
        "n_flaky_tasks",
        "clustered_se",
        "pass_at_k",
    )
    assert [row[name] for name in names] == [None] * len(names)


def test_the_interval_needs_ten_results(summary_row: SummaryRow, seed_spec: Spec) -> None:
    """Nine results have no interval, ten have one, and the text says which."""
    nine, ten = (summary_row([[1]] * n, seed_spec(seed=7)) for n in (9, 10))
    assert (nine["ci_low"], nine["ci_method"]) == (None, "no interval: fewer than 10 trials")
    assert (ten["ci_low"], ten["ci_high"]) == (1.0, 1.0)
    method = "percentile bootstrap of the mean score over trials, 1000 resamples, seed 7, level 0.95"
    assert ten["ci_method"] == method


def test_the_bootstrap_agrees_with_plain_resampling() -> None:
    """Drawing counts of distinct scores is drawing scores: both give the same bounds but for chance."""
    values = [1.0] * 60 + [0.5] * 20 + [0.0] * 20
    bounds = bootstrap_bounds(pl.Series(values), seed=0)[0]
    random = np.random.default_rng(1)
    means = np.sort(random.choice(values, size=(1000, 100)).mean(axis=1))
    assert (bounds["low"], bounds["high"]) == pytest.approx((means[25], means[975]), abs=0.03)


def test_the_bootstrap_follows_its_seed_and_not_the_order_of_rows() -> None:
    """One seed gives one interval for the same scores in any order; another seed may give another."""
    scores = pl.Series(np.linspace(0, 1, 50))
    again = bootstrap_bounds(scores.reverse(), seed=3)[0]
    assert again == bootstrap_bounds(scores, seed=3)[0]
    assert again != bootstrap_bounds(scores, seed=4)[0]
