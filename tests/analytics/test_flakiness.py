from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.analytics.flakiness import flaky_tasks, flip_chance

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
SummaryRow = Callable[..., dict[str, Any]]


@given(st.lists(st.booleans(), min_size=2, max_size=9))
def test_the_flip_chance_is_the_share_of_pairs_that_disagree(verdicts: list[bool]) -> None:
    """2c(n-c)/(n(n-1)) counts the unordered pairs of repeats with different verdicts."""
    pairs = list(combinations(verdicts, 2))
    counts = pl.DataFrame({"n": [len(verdicts)], "c": [sum(verdicts)]})
    found = counts.select(flip_chance(pl.col("n"), pl.col("c"))).item()
    assert found == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))


def test_three_of_five_flip_by_six_tenths() -> None:
    """Three passes of five flip with 0.6; one trial cannot disagree with itself."""
    counts = pl.DataFrame({"n": [5, 1], "c": [3, 1]})
    assert counts.select(flip_chance(pl.col("n"), pl.col("c"))).to_series().to_list() == [
        pytest.approx(0.6),
        None,
    ]


def test_agreement_stands_beside_the_consistency_that_misses_it(summary_row: SummaryRow) -> None:
    """Two tasks that flip in step are fully consistent by repeats and never agree with themselves."""
    row = summary_row([[1, 0], [0, 1]])
    assert (row["consistency"], row["flip_rate"], row["task_agreement"]) == (1.0, 1.0, 0.0)
    assert summary_row([[1], [0]])["task_agreement"] is None


def test_flaky_tasks_are_ranked_by_how_often_they_flip(grid: Grid) -> None:
    """The most undecided task is first, ties share a rank, and stable or single tasks are not listed."""
    frames = grid(
        [[1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [1], [0, None, "provider_error", 1]]
    )
    found = flaky_tasks(*frames).select("flaky_rank", "task_id", "n_graded", "n_passed", "flip_rate")
    assert found.collect().rows() == [
        (1, "t005", 2, 1, 1.0),
        (2, "t001", 4, 2, pytest.approx(2 / 3)),
        (3, "t000", 4, 3, 0.5),
        (3, "t003", 4, 1, 0.5),
    ]
