from __future__ import annotations

import pytest

from skilleval.report.standing import Doubt, Standing, doubt, gate_rate, passes_gate, standing


@pytest.mark.parametrize(
    ("rate", "low", "high", "stands"),
    [
        (0.9, 0.8, 0.95, Standing.REACHED),
        (0.9, 0.7, 0.95, Standing.REACHED),
        (0.9, 0.7 - 1e-12, 0.95, Standing.REACHED),
        (0.75, 0.6, 0.85, Standing.OPEN),
        (0.65, 0.5, 0.7, Standing.OPEN),
        (0.5, 0.4, 0.69, Standing.MISSED),
        (1.0, None, None, Standing.OPEN),
        (0.69, None, None, Standing.OPEN),
        (None, None, None, Standing.UNGRADED),
    ],
)
def test_only_a_whole_interval_on_one_side_decides(
    rate: float | None, low: float | None, high: float | None, stands: Standing
) -> None:
    """An interval that holds the threshold decides nothing, and neither does a rate without an interval."""
    assert standing({"completion_rate": rate, "ci_low": low, "ci_high": high}, 0.7) is stands


@pytest.mark.parametrize(("ci_low", "ci_high"), [(0.0, 0.991), (None, None)])
def test_a_skill_that_passes_nothing_has_missed(ci_low: float | None, ci_high: float | None) -> None:
    """However few trials there are, none passed is a failure; only a gate at 0 is met by it."""
    row = {"completion_rate": 0.0, "n_graded": 1, "n_passed": 0, "ci_low": ci_low, "ci_high": ci_high}
    assert standing(row, 0.7) is Standing.MISSED
    assert standing(row | {"ci_low": 0.0, "ci_high": 0.5}, 0.0) is Standing.REACHED


def test_trials_without_a_verdict_leave_open_what_they_could_turn() -> None:
    """Bounds on both sides of the threshold outweigh any interval; bounds on one side leave it in force."""
    row = {"completion_rate": 1.0, "n_graded": 1, "n_passed": 1, "ci_low": 0.8, "ci_high": 1.0}
    straddling = row | {"completion_low": 0.5, "completion_high": 1.0}
    assert standing(straddling, 0.7) is Standing.OPEN
    assert doubt(straddling, 0.7) is Doubt.LOST
    assert standing(row | {"completion_low": 0.7, "completion_high": 1.0}, 0.7) is Standing.REACHED


def test_nothing_graded_is_ungraded_whatever_the_rate() -> None:
    """A preset that counts ungraded trials as failures does not make them verdicts."""
    assert standing({"completion_rate": 0.0, "n_graded": 0}, 0.7) is Standing.UNGRADED


def test_each_doubt_has_a_name() -> None:
    """A missing interval and a wide one are told apart; where nothing is open there is no doubt."""
    assert doubt({"ci_low": None, "ci_high": None}, 0.7) is Doubt.NO_INTERVAL
    assert doubt({"ci_low": 0.6, "ci_high": 0.8}, 0.7) is Doubt.WIDE
    assert doubt({"ci_low": 0.7, "ci_high": 0.8}, 0.7) is None


def test_at_a_gate_what_could_not_be_judged_has_not_passed() -> None:
    """Ungraded trials are in the denominator there; what the infrastructure spoiled is not, and no row is no pass."""
    row = {"completion_rate": 1.0, "n_graded": 1, "n_passed": 1, "n_ungraded": 2, "n_infrastructure": 5}
    assert gate_rate(row) == 1 / 3
    assert not passes_gate(row, 0.9)
    assert passes_gate(row, 1 / 3)
    assert passes_gate(row | {"n_ungraded": 0}, 0.9)
    assert gate_rate({"completion_rate": None, "n_ungraded": 1}) is None
    assert not passes_gate({"completion_rate": None}, 0.0)


def test_a_preset_that_counts_ungraded_trials_already_is_not_corrected_twice() -> None:
    """The lower of both rates decides."""
    row = {"completion_rate": 0.25, "n_graded": 2, "n_passed": 1, "n_ungraded": 1}
    assert gate_rate(row) == 0.25
