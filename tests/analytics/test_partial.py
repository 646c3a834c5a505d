from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.spec import AnalysisSpec, ScoringMethod
from skilleval.analytics.summary import summary

SummaryRow = Callable[..., dict[str, Any]]
Spec = Callable[..., AnalysisSpec]
Build = Callable[[list[dict[str, Any]]], pl.LazyFrame]


def test_mean_counts_broken_trials_as_zero_and_leaves_out_ungraded_ones(summary_row: SummaryRow) -> None:
    """Of 1, 0.5, a time-out and an ungraded trial, three have a score and its mean is 0.5."""
    row = summary_row([[1], [0.5], ["timeout"], [None]])
    assert (row["n_scored"], row["partial_score"]) == (3, pytest.approx(0.5))
    assert row["partial_score_reason"] is None


def _weighted(
    trials_of: Build, scores_of: Build, chosen: AnalysisSpec, weights: list[float]
) -> dict[str, Any]:
    names = [str(index) for index in range(len(weights))]
    rows = [{"task_id": n, "trial_id": n, "task_weight": w} for n, w in zip(names, weights, strict=True)]
    values = [1.0, 0.5, None]
    scores = [{"trial_id": n, "score": v} for n, v in zip(names, values, strict=True)]
    return summary(trials_of(rows), scores_of(scores), spec=chosen).collect().row(0, named=True)


def test_weighted_mean_weighs_tasks_and_ignores_the_weight_of_the_ungraded(
    trials_of: Build, scores_of: Build, spec: Spec
) -> None:
    """Weights 3 and 1 on scores 1 and 0.5 give 0.875; the ungraded task's weight of 100 is in no sum."""
    row = _weighted(trials_of, scores_of, spec(scoring_method=ScoringMethod.WEIGHTED_MEAN), [3, 1, 100])
    assert row["partial_score"] == pytest.approx(0.875)


def test_weights_that_sum_to_zero_give_null_and_say_so(
    trials_of: Build, scores_of: Build, spec: Spec
) -> None:
    """There is no mean without weight."""
    row = _weighted(trials_of, scores_of, spec(scoring_method=ScoringMethod.WEIGHTED_MEAN), [0, 0, 1])
    assert row["partial_score"] is None
    assert row["partial_score_reason"] == "the weights of the scored tasks sum to 0"


@pytest.mark.parametrize(("k", "expected"), [(1, 0.375), (2, 0.5)])
def test_es13_pass_at_k_uses_its_k(summary_row: SummaryRow, spec: Spec, k: int, expected: float) -> None:
    """One task with 3 of 4, one with none: k = 1 gives 3/8, k = 2 gives 1/2."""
    chosen = spec(scoring_method=ScoringMethod.PASS_AT_K, k=k)
    assert summary_row([[1, 1, 1, 0], [0, 0, 0, 0]], chosen)["partial_score"] == pytest.approx(expected)


def test_pass_at_k_with_too_few_repeats_is_null_with_its_reason(summary_row: SummaryRow, spec: Spec) -> None:
    """The reason stands beside the null."""
    row = summary_row([[1, 1]], spec(scoring_method=ScoringMethod.PASS_AT_K, k=3))
    assert row["partial_score"] is None
    assert row["partial_score_reason"] == "k = 3 is more than the graded trials of a task (2)"


def test_no_score_at_all_is_null_with_its_reason(summary_row: SummaryRow) -> None:
    """An empty mean is not 0."""
    row = summary_row([[None]])
    assert (row["partial_score"], row["partial_score_reason"]) == (None, "no trial has a score")
