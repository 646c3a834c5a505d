from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skilleval.analytics.bootstrap import Resampling, bootstrap_bounds, bootstrap_interval

TEN = np.array([0.9, 0.8, 1, 0.6, 0.7, 1, 0.5, 0.9, 0.8, 0.4])


def how(*, corrected: bool = False, resamples: int = 10_000, level: float = 0.95) -> Resampling:
    """Give settings of a bootstrap with seed 0."""
    return Resampling(level=level, resamples=resamples, seed=0, corrected=corrected)


def test_ten_tasks() -> None:
    """The percentile bootstrap of the ten values is [0.63, 0.87], the corrected one [0.62, 0.87]."""
    ones = np.ones(10)
    assert bootstrap_bounds(TEN, ones, how()) == pytest.approx((0.63, 0.87))
    assert bootstrap_bounds(TEN, ones, how(corrected=True)) == pytest.approx((0.62, 0.87))


@pytest.mark.parametrize(("method", "corrected"), [("percentile", False), ("BCa", True)])
def test_bounds_are_those_of_scipy(method: str, corrected: bool) -> None:
    """On skewed values both kinds agree with another implementation but for the luck of the draws."""
    skewed = np.random.default_rng(3).gamma(1.0, size=60)
    result = stats.bootstrap(
        (skewed,), np.mean, n_resamples=20_000, method=method, rng=np.random.default_rng(9)
    )
    expected = result.confidence_interval
    found = bootstrap_bounds(skewed, np.ones(60), how(corrected=corrected, resamples=20_000))
    assert found == pytest.approx((expected.low, expected.high), abs=0.02)


def test_many_clusters_of_few_kinds_are_drawn_alike() -> None:
    """Counts of kinds are drawn instead of clusters where there are few kinds: the same distribution."""
    passes = np.repeat([0.0, 1.0, 2.0, 3.0], [40, 20, 40, 100])
    found = bootstrap_bounds(passes, np.full(200, 3.0), how(resamples=20_000))
    assert found is not None
    mean, se = passes.mean() / 3, passes.std() / 3 / 200**0.5
    assert found == pytest.approx((mean - 1.96 * se, mean + 1.96 * se), abs=0.005)


@pytest.mark.parametrize(
    ("parts", "wholes"), [([1.0], [1.0]), ([1, 1], [1, 1]), ([1, 2], [2, 4]), ([1, 0, 0], [1, 0, 0])]
)
def test_without_a_spread_there_is_no_interval(parts: list[float], wholes: list[float]) -> None:
    """One cluster, or clusters that all have one rate, give null and not a point; empty clusters do not count."""
    found = [bootstrap_bounds(np.array(parts), np.array(wholes), how(corrected=c)) for c in (False, True)]
    assert found == [None, None]


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.just(3)), min_size=1, max_size=12),
    seed=st.integers(0, 99),
    corrected=st.booleans(),
)
def test_row_order_is_irrelevant_and_bounds_are_shares(
    rows: list[tuple[int, int]], seed: int, corrected: bool
) -> None:
    """Shuffled clusters give the same bounds, in [0, 1] and never a point, or null for both."""
    frame = pl.DataFrame(rows, schema=["c", "n"], orient="row")
    interval = bootstrap_interval(pl.col("c"), pl.col("n"), how(corrected=corrected, resamples=200))
    found = [
        one.select(interval.alias("b"))["b"][0]
        for one in (frame, frame.sample(fraction=1.0, shuffle=True, seed=seed))
    ]
    assert found[0] == found[1]
    low, high = found[0]["low"], found[0]["high"]
    assert (low is None and high is None) or 0 <= low < high <= 1


def test_a_thousand_tasks_are_resampled_within_a_second() -> None:
    """10,000 resamples of 1,000 different clusters are no wait (time of this process: others may be busy)."""
    values = np.random.default_rng(0).random(1000)
    bootstrap_bounds(values[:10], np.ones(10), how())
    started = time.process_time()
    bootstrap_bounds(values, np.ones(1000), how())
    assert time.process_time() - started < 1


@pytest.mark.parametrize("corrected", [False, True])
def test_means_that_differ_by_rounding_show_no_spread(corrected: bool) -> None:
    """Two scores of 0.1 and three of them have means a hair apart: that is no interval."""
    parts = np.array([0.1 + 0.1, 0.1 + 0.1 + 0.1, 0.1])
    assert bootstrap_bounds(parts, np.array([2.0, 3.0, 1.0]), how(corrected=corrected)) is None
