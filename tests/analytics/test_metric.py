from __future__ import annotations

import polars as pl
from polars.testing import assert_frame_equal

from skilleval.analytics.metric import Metric, derive, summarise

TOTAL = Metric(name="total", expr=pl.col("x").sum(), unit="trials")


def test_a_group_becomes_one_row_and_groups_are_sorted() -> None:
    """Each distinct key gives one row, in the order of the keys and not of the rows."""
    rows = pl.LazyFrame({"key": ["b", "a", "b"], "x": [1, 2, 3]})
    expected = pl.LazyFrame({"key": ["a", "b"], "total": [2, 4]})
    assert_frame_equal(summarise(rows, by=["key"], metrics=[TOTAL]), expected)


def test_a_null_key_is_a_group_of_its_own() -> None:
    """An unknown model is a condition too and is not dropped."""
    rows = pl.LazyFrame({"model": [None, "m", None], "x": [1, 2, 3]})
    expected = pl.LazyFrame({"model": [None, "m"], "total": [4, 2]})
    assert_frame_equal(summarise(rows, by=["model"], metrics=[TOTAL]), expected)


def test_a_derived_metric_reads_the_columns_of_its_row() -> None:
    """Deriving adds a column and keeps the grain."""
    twice = Metric(name="twice", expr=2 * pl.col("total"), unit="trials")
    expected = pl.LazyFrame({"total": [2, 4], "twice": [4, 8]})
    assert_frame_equal(derive(pl.LazyFrame({"total": [2, 4]}), metrics=[twice]), expected)
