from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skilleval.analytics.spec import AnalysisSpec

SummaryRow = Callable[..., dict[str, Any]]
Spec = Callable[..., AnalysisSpec]


def test_the_parts_stand_beside_the_blend(summary_row: SummaryRow) -> None:
    """Half right, a quarter broken, p95 at a fifth of the limit: every part and the weighted mean are known."""
    row = summary_row([[1], [1], [0.5], ["skill_error"]], latency_ms=200.0)
    assert (row["completion_rate"], row["partial_score"]) == (0.5, 0.625)
    assert row["latency_term"] == pytest.approx(0.2)
    assert row["speed"] == pytest.approx(0.5 * 0.8)
    assert row["reliability"] == pytest.approx(0.5 * 0.75)
    assert row["composite"] == pytest.approx(0.5 * 0.5 + 0.2 * 0.625 + 0.15 * 0.4 + 0.15 * 0.375)


@pytest.mark.parametrize("cell", [0, "skill_error", "timeout"])
def test_es09_nothing_right_earns_nothing(summary_row: SummaryRow, cell: object) -> None:
    """Neither a fast wrong answer nor a quick crash has any composite score."""
    row = summary_row([[cell], [cell]], latency_ms=15.0)
    assert (row["speed"], row["reliability"], row["composite"]) == (0.0, 0.0, 0.0)


def test_a_skill_that_never_started_has_no_speed_rather_than_an_unknown_one(summary_row: SummaryRow) -> None:
    """Without success there is nothing to earn, so an unknown latency does not hide the zero."""
    row = summary_row([["skill_error"], ["skill_error"]], latency_ms=None)
    assert (row["latency_term"], row["speed"], row["composite"]) == (None, 0.0, 0.0)


def test_es09_partial_credit_and_weights_reach_the_composite(summary_row: SummaryRow) -> None:
    """Wrong answers with partial credit score above wrong answers without."""
    assert summary_row([[0.5]], latency_ms=15.0)["composite"] == pytest.approx(0.2 * 0.5)


def test_everything_right_at_no_time_scores_one(summary_row: SummaryRow, spec: Spec) -> None:
    """The best possible result is 1 whatever the weights sum to."""
    heavy = spec(weights={"completion": 5.0, "partial": 2.0, "speed": 1.5, "reliability": 1.5})
    assert summary_row([[1]], heavy, latency_ms=0.0)["composite"] == pytest.approx(1.0)


def test_latency_beyond_the_limit_costs_no_more_than_the_limit(summary_row: SummaryRow) -> None:
    """The latency term is held in [0, 1]."""
    row = summary_row([[1]], latency_ms=9000.0)
    assert (row["latency_term"], row["speed"]) == (1.0, 0.0)


def test_an_unknown_part_that_has_weight_makes_the_composite_null(
    summary_row: SummaryRow, spec: Spec
) -> None:
    """Without a latency limit there is no speed, and a blend without one of its parts is another blend."""
    row = summary_row([[1]], spec(max_latency_ms=None), latency_ms=5.0)
    assert (row["latency_term"], row["speed"], row["composite"]) == (None, None, None)


def test_an_unknown_part_without_weight_does_not_matter(summary_row: SummaryRow, spec: Spec) -> None:
    """With speed weighted 0 the limit need not be known."""
    chosen = spec(max_latency_ms=None, weights={"speed": 0.0})
    assert summary_row([[1]], chosen)["composite"] == pytest.approx(1.0)


def test_no_verdict_gives_no_composite(summary_row: SummaryRow) -> None:
    """A condition that was never graded is not a bad one."""
    assert summary_row([[None], ["blocked"]], latency_ms=5.0)["composite"] is None
