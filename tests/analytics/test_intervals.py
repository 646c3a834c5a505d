from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from skilleval.analytics.intervals import Bounds, clopper_pearson, clustered_t, one_sided, t_quantile, wilson

COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
LEVELS = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def values(bounds: Bounds, **columns: list[float | None]) -> list[Any]:
    """Evaluate both ends on a literal frame."""
    low, high = bounds
    return pl.DataFrame(columns, strict=False).select(low=low, high=high).rows()


def test_t_quantile() -> None:
    """Student's t has its table values, and null degrees of freedom give null."""
    frame = pl.DataFrame({"df": [1, None, 19]})
    found = frame.select(t_quantile(pl.col("df"), level=0.95)).to_series().to_list()
    assert found == [pytest.approx(12.706205), None, pytest.approx(2.093024)]


def test_wilson_of_42_in_60() -> None:
    """The Wilson interval of 42 of 60 is [0.574913, 0.801018]; of 20 of 20 it is [0.838875, 1]; of nothing null."""
    found = values(wilson(pl.col("c"), pl.col("n"), level=0.95), c=[42, 20, 0], n=[60, 20, 0])
    assert found[0] == pytest.approx((0.574913, 0.801018), abs=5e-7)
    assert found[1] == pytest.approx((0.838875, 1.0), abs=5e-7)
    assert found[2] == (None, None)


def test_clopper_pearson_of_42_in_60() -> None:
    """The exact interval of 42 of 60 is [0.567917, 0.811549]; none and all end at 0 and 1; of nothing it is null."""
    bounds = clopper_pearson(pl.col("c"), pl.col("n"), level=0.95)
    found = values(bounds, c=[42, 0, 20, 0], n=[60, 20, 20, 0])
    assert found[0] == pytest.approx((0.567917, 0.811549), abs=5e-7)
    assert (found[1][0], found[2][1], found[3]) == (0.0, 1.0, (None, None))


@given(counts=COUNTS, level=LEVELS)
def test_intervals_of_independent_trials_are_those_of_statsmodels(
    counts: tuple[int, int], level: float
) -> None:
    """Wilson and Clopper-Pearson agree with another implementation for any counts and level."""
    c, n = counts
    for method, bounds in (("wilson", wilson), ("beta", clopper_pearson)):
        (found,) = values(bounds(pl.col("c"), pl.col("n"), level=level), c=[c], n=[n])
        expected = proportion_confint(c, n, alpha=1 - level, method=method)
        assert found == pytest.approx(expected, abs=1e-9)


def test_no_failure_in_twenty() -> None:
    """Of 20 that all passed the failure rate is at most 0.139108; the other end is the rate itself."""
    bounds = one_sided(pl.col("rate"), pl.col("n"), level=0.95)
    found = values(bounds, rate=[1.0, 0.0, 0.5], n=[20, 20, 20])
    assert found[0] == (pytest.approx(1 - 0.139108, abs=5e-7), 1.0)
    assert found[1] == (0.0, pytest.approx(0.139108, abs=5e-7))
    assert found[2] == (None, None)


def test_clustered_t_of_four_tasks() -> None:
    """Mean 0.583333 with SE 0.209718 of four tasks gives [-0.084082, 1.250748]."""
    bounds = clustered_t(pl.col("m"), pl.col("se"), pl.col("n"), level=0.95)
    (found,) = values(bounds, m=[7 / 12], se=[0.209718], n=[4])
    assert found == pytest.approx((-0.084082, 1.250748), abs=2e-6)


def test_no_spread_is_no_interval() -> None:
    """A standard error of 0, or what rounding left of it, never makes an interval of width 0."""
    bounds = clustered_t(pl.col("m"), pl.col("se"), pl.col("n"), level=0.95)
    found = values(bounds, m=[0.5, 1e6, 0.5], se=[0.0, 1e-10, None], n=[4, 4, 1])
    assert found == [(None, None)] * 3
