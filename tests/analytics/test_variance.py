from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f_oneway

from skilleval.analytics.variance import variance_split

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]


def split(grid: Grid, tasks: Sequence[Sequence[object]], measure: str = "completion_rate") -> dict[str, Any]:
    """Split the variance of one condition."""
    rows = variance_split(*grid(tasks)).filter(pl.col("measure") == measure)
    return rows.collect().row(0, named=True)


def test_four_tasks_by_three_repeats(grid: Grid) -> None:
    """The worked data have ICC 0.419355 and F 3.166667; the variances are 0.120370 and 0.166667."""
    row = split(grid, [[1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]])
    assert (row["icc"], row["f_ratio"]) == pytest.approx((0.419355, 3.166667), abs=5e-7)
    assert row["repeat_variance"] == pytest.approx(1 / 6)
    assert row["task_variance"] == pytest.approx((19 / 36 - 1 / 6) / 3)
    assert row["total_variance"] == pytest.approx(row["task_variance"] + row["repeat_variance"])


@settings(max_examples=30, deadline=None)
@given(
    tasks=st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=5), min_size=2, max_size=6
    )
)
def test_the_f_ratio_is_that_of_scipy(grid: Grid, tasks: list[list[float]]) -> None:
    """For any scores, also with unequal repeats, F is that of analysis of variance; variances are never negative."""
    row = split(grid, tasks, "partial_score")
    assert row["task_variance"] >= 0
    if any(len(set(task)) > 1 for task in tasks):
        assert row["f_ratio"] == pytest.approx(f_oneway(*tasks).statistic, rel=1e-6, abs=1e-9)
    else:
        assert row["f_ratio"] is None


def test_single_repeats_show_only_the_total(grid: Grid) -> None:
    """With one repeat a task nothing is known of the variance between repeats, and it is null."""
    row = split(grid, [[1], [1], [0], [1]])
    parts = (row["task_variance"], row["repeat_variance"], row["icc"])
    assert parts == (None, None, None)
    assert row["total_variance"] == pytest.approx(0.25)


def test_one_task_and_no_task_have_no_variance(grid: Grid) -> None:
    """One task shows no spread between tasks; a condition without a verdict has no row."""
    row = split(grid, [[1, 0, 1]])
    assert (row["task_variance"], row["total_variance"]) == (None, None)
    assert row["repeat_variance"] == pytest.approx(1 / 3)
    assert variance_split(*grid([[None, "blocked"]])).collect().is_empty()


def test_tasks_that_agree_between_themselves_have_no_variance_between_them(grid: Grid) -> None:
    """Where repeats differ more than tasks the estimate is 0 and the correlation negative."""
    row = split(grid, [[1, 0], [0, 1], [1, 0]])
    assert (row["task_variance"], row["icc"]) == (0.0, pytest.approx(-1.0))


def test_repeats_that_agree_have_no_variance_between_them(grid: Grid) -> None:
    """Equal scores whose squares do not add up exactly leave no variance, no F, and a correlation of 1."""
    row = split(grid, [[0.1] * 3, [0.7] * 3, [0.3] * 3], "partial_score")
    assert (row["repeat_variance"], row["f_ratio"], row["icc"]) == (0.0, None, 1.0)
    level = split(grid, [[0.1] * 3] * 4, "partial_score")
    assert (level["total_variance"], level["f_ratio"], level["icc"]) == (0.0, None, None)
