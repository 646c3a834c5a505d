from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SummaryRow = Callable[..., dict[str, Any]]

MIXED: list[list[object]] = [[1, 0], ["timeout", 1], ["skill_error", None], ["provider_error", "blocked"]]


def test_every_way_to_end_is_counted_apart(summary_row: SummaryRow) -> None:
    """Passed, wrong, cut off, broken, spoiled and ungraded are six different numbers."""
    row = summary_row(MIXED)
    found = {key: value for key, value in row.items() if key.startswith(("n_", "min_")) and value}
    assert {key: found.get(key, 0) for key in EXPECTED_COUNTS} == EXPECTED_COUNTS


EXPECTED_COUNTS = {
    "n_tasks": 4,
    "n_trials": 8,
    "n_repeats": 2,
    "n_graded": 5,
    "n_graded_tasks": 3,
    "min_task_graded": 0,
    "n_passed": 2,
    "n_failed": 1,
    "n_timeout": 1,
    "n_skill_error": 1,
    "n_infrastructure": 2,
    "n_ungraded": 1,
}


def test_the_denominator_leaves_out_what_has_no_verdict(summary_row: SummaryRow) -> None:
    """Time-outs and skill errors count as failures, infrastructure errors and ungraded trials do not count."""
    row = summary_row(MIXED)
    assert row["completion_rate"] == pytest.approx(2 / 5)
    assert row["error_rate"] == pytest.approx(4 / 8)
    assert row["infrastructure_rate"] == pytest.approx(2 / 8)


def test_bounds_of_a_rate_with_errors(summary_row: SummaryRow) -> None:
    """42 passes, 12 failures and 6 errors of 60: excluded 0.777778, bounds 0.7 and 0.8, error rate 0.1."""
    cells: list[object] = [1] * 42 + [0] * 12 + ["provider_error"] * 6
    row = summary_row([[cell] for cell in cells])
    assert row["completion_rate"] == pytest.approx(0.777778, abs=5e-7)
    assert (row["completion_low"], row["completion_high"]) == pytest.approx((0.7, 0.8))
    assert row["error_rate"] == pytest.approx(0.1)


def test_errors_of_the_skill_are_failures_in_the_rate_and_in_both_bounds(summary_row: SummaryRow) -> None:
    """42 passes, 12 failures and 6 errors of the skill: 0.7 in every reading."""
    cells: list[object] = [1] * 42 + [0] * 12 + ["skill_error"] * 6
    row = summary_row([[cell] for cell in cells])
    assert (row["completion_rate"], row["completion_low"], row["completion_high"]) == pytest.approx(
        (0.7,) * 3
    )


def test_macro_and_micro_differ_where_repeats_are_missing(summary_row: SummaryRow) -> None:
    """Over trials 3 of 4 passed; over tasks it is the mean of 1 and 0."""
    row = summary_row([[1, 1, 1], [0]])
    assert row["completion_rate"] == pytest.approx(0.75)
    assert row["completion_rate_macro"] == pytest.approx(0.5)


def test_a_rate_of_nothing_is_null(summary_row: SummaryRow) -> None:
    """With no graded trial there is no rate, and the bounds say that everything is possible."""
    row = summary_row([[None], ["sandbox_error"]])
    assert (row["completion_rate"], row["completion_rate_macro"]) == (None, None)
    assert (row["completion_low"], row["completion_high"]) == (0.0, 1.0)
