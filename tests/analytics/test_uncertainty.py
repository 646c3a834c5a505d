from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilleval.analytics.intervals import t_quantile, wilson
from skilleval.analytics.spec import AnalysisSpec

SummaryRow = Callable[..., dict[str, Any]]
Spec = Callable[..., AnalysisSpec]

FOUR_BY_THREE = [[1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]]
TABLES = st.lists(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=4), min_size=2, max_size=6)


def _near(*values: float) -> object:
    return pytest.approx(values, abs=5e-7)


def test_four_tasks_by_three_repeats(summary_row: SummaryRow) -> None:
    """Mean 0.583333 has clustered SE 0.209718, 5.526316 effective trials and the interval [0.127941, 0.930896]."""
    row = summary_row(FOUR_BY_THREE)
    assert (row["completion_rate"], row["clustered_se"], row["n_eff"]) == _near(0.583333, 0.209718, 5.526316)
    assert (row["ci_low"], row["ci_high"]) == _near(0.127941, 0.930896)


def test_twenty_of_twenty_has_an_honest_lower_bound(summary_row: SummaryRow) -> None:
    """Where nothing failed the interval is [0.788948, 1] and not a point."""
    row = summary_row([[1]] * 20)
    assert (row["ci_low"], row["ci_high"]) == _near(0.788948, 1.0)


def test_es11_repeats_that_all_agree_add_nothing(summary_row: SummaryRow) -> None:
    """Twenty tasks passed five times each are worth as much as twenty tasks passed once."""
    once, often = summary_row([[1]] * 20), summary_row([[1] * 5] * 20)
    assert often["n_eff"] == pytest.approx(20.0)
    assert (often["ci_low"], often["ci_high"]) == pytest.approx((once["ci_low"], once["ci_high"]))


def test_unequal_repeats(summary_row: SummaryRow) -> None:
    """3 of 4, 1 of 1 and 0 of 2: SE² is 3/49, the design effect 1.75, hence 4 effective trials."""
    row = summary_row([[1, 1, 1, 0], [1], [0, 0]])
    assert row["clustered_se"] == pytest.approx((3 / 49) ** 0.5)
    assert row["n_eff"] == pytest.approx(4.0)


def test_ungraded_trials_are_not_in_the_interval(summary_row: SummaryRow) -> None:
    """Spoiled and ungraded trials, and tasks that have nothing else, change no bound."""
    plain = summary_row(FOUR_BY_THREE)
    spoiled = summary_row([[*FOUR_BY_THREE[0], "blocked"], *FOUR_BY_THREE[1:], [None, "provider_error"]])
    keys = ("clustered_se", "n_eff", "ci_low", "ci_high", "n_graded_tasks")
    assert [spoiled[key] for key in keys] == pytest.approx([plain[key] for key in keys])


def test_one_task_has_no_interval_and_says_why(summary_row: SummaryRow) -> None:
    """Nothing is known of the spread between tasks when there is one."""
    row = summary_row([[1, 0, 1]])
    assert [row[key] for key in ("clustered_se", "n_eff", "ci_low", "ci_high")] == [None] * 4
    assert row["ci_method"] == "no interval: fewer than two tasks have a verdict"


def test_an_interval_names_its_method_and_level(summary_row: SummaryRow, spec: Spec) -> None:
    """The text beside the bounds says how they were made."""
    method = summary_row([[1], [0]], spec(level=0.9))["ci_method"]
    assert method == "Agresti-Coull on n_eff, t with n_graded_tasks - 1 df, clusters = tasks, level 0.9"


def test_wilson_of_42_in_60() -> None:
    """The Wilson interval of 42 of 60 is [0.574913, 0.801018]; of 20 of 20 it is [0.838875, 1]."""
    counts = pl.DataFrame({"c": [42, 20], "n": [60, 20]})
    low, high = wilson(pl.col("c"), pl.col("n"), level=0.95)
    found = counts.select(low=low, high=high).rows()
    assert found[0] == _near(0.574913, 0.801018)
    assert found[1] == _near(0.838875, 1.0)


def test_wilson_of_nothing_is_null() -> None:
    """Without trials there is no rate to bound, and no NaN."""
    low, high = wilson(pl.col("c"), pl.col("n"), level=0.95)
    assert pl.DataFrame({"c": [0], "n": [0]}).select(low=low, high=high).rows() == [(None, None)]


def test_t_quantile() -> None:
    """Student's t has its table values, and null degrees of freedom give null."""
    frame = pl.DataFrame({"df": [1, None, 19]})
    found = frame.select(t_quantile(pl.col("df"), level=0.95)).to_series().to_list()
    assert found == [pytest.approx(12.706205), None, pytest.approx(2.093024)]


@settings(max_examples=40, deadline=None)
@given(tasks=TABLES)
def test_the_interval_holds_its_rate(summary_row: SummaryRow, tasks: list[list[int]]) -> None:
    """Bounds lie in [0, 1], have the rate between them and are never a single point."""
    row = summary_row(tasks)
    assert 0.0 <= row["ci_low"] <= row["completion_rate"] <= row["ci_high"] <= 1.0
    assert row["ci_low"] < row["ci_high"]


@settings(max_examples=25, deadline=None)
@given(tasks=TABLES, levels=st.tuples(st.floats(0.5, 0.999), st.floats(0.5, 0.999)))
def test_the_interval_widens_with_its_level(
    summary_row: SummaryRow, spec: Spec, tasks: list[list[int]], levels: tuple[float, float]
) -> None:
    """More confidence never gives a narrower interval."""
    low, high = sorted(levels)
    narrow, wide = summary_row(tasks, spec(level=low)), summary_row(tasks, spec(level=high))
    assert wide["ci_low"] <= narrow["ci_low"] + 1e-12
    assert wide["ci_high"] >= narrow["ci_high"] - 1e-12
