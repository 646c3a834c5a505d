from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from skilleval.analytics.percentile_interval import order_ranks, percentile_intervals, smallest_n

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]


def latencies(values: list[float | None]) -> pl.LazyFrame:
    """Give outcomes of one group, one task a value."""
    return pl.LazyFrame(
        {"group": "g", "task_id": [str(i) for i in range(len(values))], "counted_latency_ms": values},
        schema_overrides={"counted_latency_ms": pl.Float64},
    )


def test_p95_of_two_hundred() -> None:
    """Of 200 values the 184th to the 197th hold p95, with coverage 0.967152."""
    found = order_ranks(200, 0.95, level=0.95)
    assert found is not None
    assert found == pytest.approx((184, 197, 0.967152), abs=5e-7)


@pytest.mark.parametrize(
    ("share", "sides", "n"), [(0.95, 1, 59), (0.99, 1, 299), (0.95, 2, 72), (0.99, 2, 368), (0.5, 2, 6)]
)
def test_the_smallest_n(share: float, sides: int, n: int) -> None:
    """A one-sided 95 % bound of p95 needs 59 values and of p99 299; both sides need more."""
    assert smallest_n(share, level=0.95, sides=sides) == n


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 500),
    share=st.sampled_from([0.1, 0.5, 0.9, 0.95, 0.99]),
    level=st.sampled_from([0.8, 0.95]),
)
def test_ranks_cover_what_they_promise(n: int, share: float, level: float) -> None:
    """Ranks lie in 1..n, cover at least the level by the binomial law, and exist wherever n allows."""
    found = order_ranks(n, share, level=level)
    if n < smallest_n(share, level=level):
        assert found is None
        return
    assert found is not None
    low, high, coverage = found
    assert 1 <= low < high <= n
    assert coverage == pytest.approx(binom.cdf(high - 1, n, share) - binom.cdf(low - 1, n, share))
    assert coverage >= level - 1e-9


def test_the_values_at_the_ranks_are_the_bounds() -> None:
    """Of the latencies 1..200 the bounds of p95 are 184 and 197; latencies that are not known do not count."""
    rows = latencies([None, *(float(value) for value in range(200, 0, -1))])
    found = percentile_intervals(rows, by=("group",), percents=(95,), level=0.95).collect().row(0, named=True)
    assert (found["metric"], found["estimate"], found["low"], found["high"]) == ("p95_ms", 190, 184, 197)
    assert (found["n"], found["n_clusters"]) == (200, 200)
    assert found["method"] == ("order statistics, values taken as independent, coverage 0.9672, level 0.95")


def test_too_few_values_have_no_interval_and_say_how_many_are_needed() -> None:
    """Below the smallest n the bounds are null; of no latency at all the percentile is null too."""
    few = percentile_intervals(latencies([1.0] * 20), by=("group",), percents=(95,), level=0.95).collect()
    assert few.select("estimate", "low", "high", "method").row(0) == (
        1.0,
        None,
        None,
        "no interval: p95 needs 72 values at level 0.95, there are 20",
    )
    none = percentile_intervals(latencies([None]), by=("group",), percents=(50,), level=0.95).collect()
    assert none.select("estimate", "low", "high", "n").row(0) == (None, None, None, 0)


def test_values_that_tie_have_no_interval_of_a_point() -> None:
    """Where both ends would be the same value the bounds are null, with the reason."""
    tied = percentile_intervals(latencies([7.0] * 20), by=("group",), percents=(50,), level=0.95).collect()
    assert tied.select("estimate", "low", "high", "method").row(0) == (
        7.0,
        None,
        None,
        "no interval: the values around p50 are all the same, of 20",
    )
