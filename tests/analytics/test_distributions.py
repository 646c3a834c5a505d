from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.analytics.distribution import nearest_rank_of_sorted, nearest_ranks_of_sorted
from skilleval.analytics.distributions import distributions, fronts
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.summary import summary

Build = Callable[[list[dict[str, Any]]], pl.LazyFrame]
Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Spec = Callable[..., AnalysisSpec]


@pytest.fixture
def measured(trials_of: Build, scores_of: Build, spec: Spec) -> Callable[..., dict[str, Any]]:
    """Give the distribution of one measure of some trials, as a row."""

    def found(measure: str, rows: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
        trials = trials_of([{"task_id": f"t{place}", **row} for place, row in enumerate(rows)])
        scores = scores_of([{"trial_id": "s/t0/0", "score": 1.0}])
        frame = distributions(trials, scores, spec=spec(**changes)).collect()
        return frame.row(by_predicate=pl.col("measure") == measure, named=True)

    return found


def test_a_few_values_are_all_told(measured: Callable[..., dict[str, Any]]) -> None:
    """The share beside a value is that of the trials which do not exceed it."""
    row = measured("latency_ms", [{"latency_ms": value} for value in (30.0, 10.0, 20.0, 20.0)])
    assert row["values"] == [10.0, 20.0, 20.0, 30.0]
    assert row["shares"] == [0.25, 0.5, 0.75, 1.0]
    assert (row["n"], row["n_censored"], row["mean"], row["unit"]) == (4, 0, 20.0, "ms")


def test_many_values_are_told_at_every_half_percent(
    measured: Callable[..., dict[str, Any]], trials_of: Build, scores_of: Build, spec: Spec
) -> None:
    """Beyond 200 trials there are 201 points, by the rule of the percentiles of the summary."""
    rows = [{"latency_ms": float(value)} for value in range(1, 1001)]
    row = measured("latency_ms", rows)
    assert len(row["values"]) == len(row["shares"]) == 201
    assert (row["values"][0], row["values"][1], row["values"][-1]) == (1.0, 5.0, 1000.0)
    trials = trials_of([{"task_id": f"t{place}", **one} for place, one in enumerate(rows)])
    told = summary(trials, scores_of([{"trial_id": "s/t0/0", "score": 1.0}]), spec=spec()).collect()
    by_share = dict(zip(row["shares"], row["values"], strict=True))
    for percent in (10, 25, 50, 75, 90, 95, 99):
        assert by_share[percent / 100] == told[f"p{percent}_ms"].item()


@given(values=st.lists(st.floats(0, 1e9), max_size=300), shares=st.lists(st.floats(0, 1), max_size=20))
def test_many_ranks_at_once_are_those_of_each_share(values: list[float], shares: list[float]) -> None:
    """The list of ranks holds what asking for one after the other gives; null where there is no value."""
    rows = pl.DataFrame({"values": [sorted(values)]}, schema={"values": pl.List(pl.Float64)})
    found = rows.select(nearest_ranks_of_sorted(pl.col("values"), shares)).item().to_list()
    single = [nearest_rank_of_sorted(pl.col("values"), share).alias(f"{n}") for n, share in enumerate(shares)]
    assert found == list(rows.select(single).row(0) if single else ())


def test_a_timeout_counts_with_its_limit(measured: Callable[..., dict[str, Any]]) -> None:
    """It stays in, says that it was cut off, and what the infrastructure spoiled stays out."""
    late = {"status": "timeout", "latency_ms": None, "timeout_ms": 500.0}
    row = measured(
        "latency_ms", [{"latency_ms": 10.0}, late, {"status": "provider_error", "latency_ms": 9.0}]
    )
    assert (row["values"], row["n"], row["n_censored"]) == ([10.0, 500.0], 2, 1)


def test_a_cost_is_that_of_every_trial_with_a_price(measured: Callable[..., dict[str, Any]]) -> None:
    """What is not known is left out, never 0; an attempt of an earlier run had its price too."""
    rows = [{"cost_usd": 0.2}, {"cost_usd": None}, {"cost_usd": 0.4, "reused_from": "older"}]
    row = measured("cost_usd", rows)
    assert (row["values"], row["n"], row["unit"]) == ([0.2, 0.4], 2, "USD")
    assert row["mean"] == pytest.approx(0.3)


def test_two_scorers_do_not_count_a_trial_twice(trials_of: Build, scores_of: Build, spec: Spec) -> None:
    """What a trial took belongs to no scorer."""
    trials = trials_of([{"task_id": "t", "trial_id": "x", "latency_ms": 5.0}])
    scores = scores_of([{"trial_id": "x", "scorer": name, "score": 1.0} for name in ("a", "b")])
    found = distributions(trials, scores, spec=spec()).collect()
    assert found.select("measure", "n").rows() == [("latency_ms", 1)]


def test_the_front_is_drawn_for_latency_and_for_cost(grid: Grid, spec: Spec) -> None:
    """Each condition stands on it or names who beats it; one that costs nobody knows what is not on that of cost."""
    fast = grid([[1]], skill_id="fast", condition_id="c-fast", latency_ms=1.0, cost_usd=2.0)
    slow = grid([[1]], skill_id="slow", condition_id="c-slow", latency_ms=9.0, cost_usd=1.0)
    free = grid([[0]], skill_id="free", condition_id="c-free", latency_ms=0.5)
    trials, scores = (pl.concat(parts) for parts in zip(fast, slow, free, strict=True))
    frames = (summary(trials, scores, spec=spec()), distributions(trials, scores, spec=spec()))
    found = fronts(*(frame.collect() for frame in frames)).sort("measure", "condition_id")
    assert found.select("measure", "condition_id", "value", "is_on_front", "dominated_by").rows() == [
        ("mean_cost_usd", "c-fast", 2.0, False, ["c-slow"]),
        ("mean_cost_usd", "c-slow", 1.0, True, []),
        ("p50_ms", "c-fast", 1.0, True, []),
        ("p50_ms", "c-free", 0.5, True, []),
        ("p50_ms", "c-slow", 9.0, False, ["c-fast"]),
    ]


def test_a_run_without_trials_has_no_front(grid: Grid, spec: Spec) -> None:
    """Nothing was measured, so nothing is said."""
    trials, scores = (frame.limit(0) for frame in grid([[1]]))
    frames = (summary(trials, scores, spec=spec()), distributions(trials, scores, spec=spec()))
    assert fronts(*(frame.collect() for frame in frames)).is_empty()
