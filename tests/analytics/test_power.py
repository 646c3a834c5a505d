from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from skilleval.analytics.power import (
    Goal,
    Variances,
    from_rate,
    of_difference,
    plans,
    repeats_needed,
    size_reached,
    tasks_needed,
    tasks_needed_t,
    whole,
)
from skilleval.errors import UsageError

FIVE_POINTS = Goal(size=0.05, level=0.95, power=0.8)
WORKED = of_difference(Variances(between_tasks=0.09, between_repeats=0.16), 0.5)


def test_the_smallest_change_that_two_hundred_tasks_show() -> None:
    """With sd 0.45, 200 tasks show a change of 0.089146; one task shows none."""
    assert size_reached(0.45**2, 200, level=0.95, power=0.8) == pytest.approx(0.089146, abs=5e-7)
    assert size_reached(0.45**2, 1, level=0.95, power=0.8) is None


def test_the_tasks_for_a_change_of_five_points() -> None:
    """An sd of 0.45 and a change of 0.05 ask for 635.76 tasks, by Student's t for 637.68."""
    assert tasks_needed(0.45**2, FIVE_POINTS) == pytest.approx(635.76, abs=0.005)
    assert tasks_needed_t(0.45**2, FIVE_POINTS) == pytest.approx(637.68, abs=0.005)


@pytest.mark.parametrize(("repeats", "tasks"), [(1, 1287.2), (3, 617.4), (10, 383.0)])
def test_repeats_save_tasks(repeats: int, tasks: float) -> None:
    """Variances 0.09 and 0.16 a side ask for 1287.2, 617.4 and 383.0 tasks with 1, 3 and 10 repeats."""
    assert tasks_needed(WORKED.of_mean(repeats), FIVE_POINTS) == pytest.approx(tasks, abs=0.05)


@pytest.mark.parametrize("size", [0.3, 0.15, 0.06, 0.045])
@pytest.mark.parametrize("chance", [0.5, 0.8, 0.95])
def test_tasks_by_t_are_those_of_statsmodels(size: float, chance: float) -> None:
    """The non-central t gives the numbers of another implementation, a small chance of the wrong sign apart."""
    found = tasks_needed_t(0.2, Goal(size=size, level=0.95, power=chance))
    expected = TTestPower().solve_power(effect_size=size / math.sqrt(0.2), alpha=0.05, power=chance)
    assert found == pytest.approx(float(expected), abs=0.1)


@pytest.mark.parametrize("chance", [None, 0.8])
def test_many_tasks_are_counted_by_a_series_without_a_jump(chance: float | None) -> None:
    """Where the exact number gives way to its series the two differ by less than a hundredth of a task."""
    extra = [
        tasks_needed_t(n, Goal(size=1.0, level=0.95, power=chance))
        - tasks_needed(n, Goal(size=1.0, level=0.95, power=chance))
        for n in ((120.0, 140.0) if chance else (255.0, 265.0))
    ]
    assert extra[0] == pytest.approx(extra[1], abs=0.01)


@settings(max_examples=40, deadline=None)
@given(variance=st.floats(0.01, 0.25), size=st.floats(0.02, 0.3))
def test_the_tasks_that_are_needed_reach_the_margin(variance: float, size: float) -> None:
    """So many tasks give ± of the size or less, one fewer does not."""
    n = whole(tasks_needed_t(variance, Goal(size=size, level=0.95)))
    reached = [size_reached(variance, one, level=0.95, power=None) for one in (n, n - 1)]
    assert reached[0] is not None
    assert reached[0] <= size * (1 + 1e-4)
    assert reached[1] is None or reached[1] >= size * (1 - 1e-4)


def test_a_rate_and_a_correlation_make_variances() -> None:
    """The variance of a verdict is p(1-p), and the correlation says which part of it lies between tasks."""
    found = from_rate(0.7, 0.4)
    assert (found.between_tasks, found.between_repeats) == pytest.approx((0.084, 0.126))


def test_repeats_of_the_tasks_at_hand() -> None:
    """400 tasks are enough with 9 repeats and not with 8; 200 are not with any, for tasks differ; 2000 with one."""
    found = [repeats_needed(WORKED, tasks, FIVE_POINTS) for tasks in (400, 200, 2000)]
    assert found == [9, None, 1]
    eight, nine = (whole(tasks_needed_t(WORKED.of_mean(k), FIVE_POINTS)) for k in (8, 9))
    assert nine <= 400 < eight


def test_of_single_repeats_only_one_repeat_can_be_planned() -> None:
    """Where only the total variance is known, other numbers of repeats are null."""
    single = Variances(between_tasks=0.25, between_repeats=0.0, is_single=True)
    one, three = plans(single, FIVE_POINTS, repeats=(1, 3), tasks=50)
    assert (one.tasks, one.trials) == (787, 787)
    assert (three.variance, three.tasks, three.trials, three.reached) == (None, None, None, None)
    assert repeats_needed(single, 1000, FIVE_POINTS) is None


def test_the_fewest_tasks_are_two() -> None:
    """One task shows no spread, however small the variance."""
    assert whole(tasks_needed_t(0.0, FIVE_POINTS)) == 2
    assert whole(tasks_needed_t(1e-12, Goal(size=0.9, level=0.95))) == 2


@pytest.mark.parametrize(
    ("change", "option"),
    [
        ({"size": 0.0}, "--difference"),
        ({"size": math.nan, "power": None}, "--margin"),
        ({"level": 1.0}, "--level"),
        ({"power": 0.0}, "--power"),
    ],
)
def test_a_goal_no_number_reaches_is_refused(change: dict[str, Any], option: str) -> None:
    """A size of 0, a level of 1 or a power of 0 is one clear error."""
    with pytest.raises(UsageError) as caught:
        Goal(**({"size": 0.1, "level": 0.95, "power": 0.8} | change))
    assert [problem.where for problem in caught.value.problems] == [option]
