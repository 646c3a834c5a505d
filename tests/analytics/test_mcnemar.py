from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as reference

from skilleval.analytics.mcnemar import mcnemar
from skilleval.analytics.metric import derive


def judged(lost: int | None, gained: int | None) -> dict[str, Any]:
    """Test one pair of counts."""
    rows = pl.LazyFrame(
        {"lost": [lost], "gained": [gained]}, schema={"lost": pl.Int64(), "gained": pl.Int64()}
    )
    found = derive(rows, metrics=mcnemar(pl.col("lost"), pl.col("gained")))
    return found.collect().row(0, named=True)


def test_the_worked_values() -> None:
    """Nine on one side only and two on the other: 0.06543 exactly, 0.038574 as mid-p, odds 4.5."""
    row = judged(2, 9)
    assert row["mcnemar_exact"] == pytest.approx(0.06543, abs=1e-6)
    assert row["mcnemar_mid_p"] == pytest.approx(0.038574, abs=1e-6)
    assert row["odds_ratio"] == 4.5
    assert judged(9, 2)["mcnemar_exact"] == row["mcnemar_exact"]


def test_no_task_that_ended_differently_shows_nothing() -> None:
    """Without a discordant pair p is 1, and the odds are not known."""
    row = judged(0, 0)
    assert (row["mcnemar_exact"], row["mcnemar_mid_p"], row["odds_ratio"]) == (1.0, 1.0, None)


def test_unknown_counts_give_null() -> None:
    """Where tasks were repeated there is no such test."""
    assert {judged(None, None)[name] for name in ("mcnemar_exact", "mcnemar_mid_p", "odds_ratio")} == {None}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40))
def test_statsmodels_agrees(lost: int, gained: int) -> None:
    """The exact test equals that of statsmodels; mid-p never exceeds it."""
    row = judged(lost, gained)
    expected = float(reference([[0, lost], [gained, 0]], exact=True).pvalue)
    assert row["mcnemar_exact"] == pytest.approx(expected)
    assert 0 < row["mcnemar_mid_p"] <= row["mcnemar_exact"]
