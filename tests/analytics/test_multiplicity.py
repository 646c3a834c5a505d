from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from skilleval.analytics.multiplicity import benjamini_hochberg, holm

P = [0.001, 0.008, 0.039, 0.041, 0.30]


def adjusted(values: Sequence[float | None]) -> tuple[list[float | None], list[float | None]]:
    """Adjust p values by both methods."""
    frame = pl.DataFrame({"p": values}, schema={"p": pl.Float64()})
    found = frame.select(holm=holm(pl.col("p")), bh=benjamini_hochberg(pl.col("p")))
    return found["holm"].to_list(), found["bh"].to_list()


def test_the_worked_values() -> None:
    """Five p values of the fact sheet, in whatever order they come."""
    by_holm, by_bh = adjusted(P)
    assert by_holm == pytest.approx([0.005, 0.032, 0.117, 0.117, 0.3])
    assert by_bh == pytest.approx([0.005, 0.02, 0.05125, 0.05125, 0.3])
    assert adjusted(P[::-1])[0] == pytest.approx([0.3, 0.117, 0.117, 0.032, 0.005])


def test_what_was_not_tested_counts_for_nothing() -> None:
    """A null stays null and makes no p value larger; nothing at all gives nothing."""
    by_holm, by_bh = adjusted([None, 0.01, None, 0.04])
    assert by_holm == [None, pytest.approx(0.02), None, pytest.approx(0.04)]
    assert by_bh == [None, pytest.approx(0.02), None, pytest.approx(0.04)]
    assert adjusted([]) == ([], [])
    assert adjusted([None]) == ([None], [None])


def test_families_are_adjusted_apart() -> None:
    """Within a family of its own a single p value stays what it is."""
    frame = pl.DataFrame({"f": ["a", "b", "a"], "p": [0.01, 0.02, 0.03]})
    found = frame.select(holm=holm(pl.col("p")).over("f"), bh=benjamini_hochberg(pl.col("p")).over("f"))
    assert found["holm"].to_list() == pytest.approx([0.02, 0.02, 0.03])
    assert found["bh"].to_list() == pytest.approx([0.02, 0.02, 0.03])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.01001, 0.04, 0.2, 0.5, 1.0]), min_size=1, max_size=12))
def test_statsmodels_agrees(values: list[float]) -> None:
    """Both methods equal those of statsmodels, ties included."""
    by_holm, by_bh = adjusted(list(values))
    assert by_holm == pytest.approx(list(multipletests(values, method="holm")[1]))
    assert by_bh == pytest.approx(list(multipletests(values, method="fdr_bh")[1]))
