from __future__ import annotations

import math

import numpy as np
import pytest
from fits import Estimate, line_of, mean_of


def test_points_on_a_line_give_that_line() -> None:
    """Exact points give back what they were made of, with intervals of no width."""
    line = line_of([1, 2, 3, 10], [5, 7, 9, 23])
    assert (line.fixed.value, line.each.value) == pytest.approx((3, 2))
    assert line.each.low == pytest.approx(2)
    assert line.at(100) == pytest.approx(203)


def test_equal_costs_have_no_slope() -> None:
    """Costs that are all the same give a flat line whose bounds are numbers."""
    line = line_of([1, 2, 3], [4, 4, 4])
    assert (line.fixed, line.each) == (
        Estimate(value=4, low=4, high=4, n=3),
        Estimate(value=0, low=0, high=0, n=3),
    )


def test_intervals_hold_the_slope_as_often_as_they_say() -> None:
    """Over noisy lines, about 95 % of the intervals hold the true slope."""
    rng = np.random.default_rng(0)
    sizes = [1, 2, 4, 8, 16, 32]
    held = 0
    for _ in range(400):
        each = line_of(sizes, [1 + 0.5 * size + rng.normal(0, 1) for size in sizes]).each
        assert each.low is not None
        assert each.high is not None
        held += each.low <= 0.5 <= each.high
    assert held / 400 == pytest.approx(0.95, abs=0.03)


def test_a_mean_has_the_interval_of_t() -> None:
    """The interval of two samples is t(0.975, 1) standard errors to both sides."""
    found = mean_of([1.0, 3.0])
    assert found.value == 2
    assert found.high == pytest.approx(2 + math.tan(math.pi * 0.475))


@pytest.mark.parametrize("found", [mean_of([3.0]), line_of([1, 2], [3, 4]).each])
def test_too_few_samples_have_no_interval(found: Estimate) -> None:
    """Where nothing is known of the spread, the bounds are null."""
    assert (found.low, found.high) == (None, None)


def test_another_unit_keeps_the_interval() -> None:
    """Seconds become milliseconds with their bounds."""
    assert Estimate(value=1, low=0.5, high=None, n=3) * 1000 == Estimate(value=1000, low=500, high=None, n=3)
