from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from skilleval.analytics.distribution import nearest_rank
from skilleval.analytics.spec import AnalysisSpec, Preset
from skilleval.analytics.summary import summary

SummaryRow = Callable[..., dict[str, Any]]
Build = Callable[[list[dict[str, Any]]], pl.LazyFrame]
Spec = Callable[..., AnalysisSpec]


def _ranked(values: list[float | None], share: float) -> float | None:
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Float64})
    found: float | None = frame.select(nearest_rank(pl.col("x"), share)).item()
    return found


def test_p95_of_one_to_twenty_is_nineteen() -> None:
    """Nearest rank takes a value that was measured and interpolates nothing."""
    assert _ranked([float(value) for value in range(20, 0, -1)], 0.95) == 19.0


def test_a_share_that_binary_cannot_hold_keeps_its_rank() -> None:
    """0.07 of 100 values is the 7th, although 0.07 * 100 is a little above 7."""
    assert math.ceil(0.07 * 100) == 8
    assert _ranked([float(value) for value in range(1, 101)], 0.07) == 7.0


def test_nulls_have_no_rank() -> None:
    """Unknown latencies are neither fast nor slow."""
    assert _ranked([None, 3.0, None, 1.0], 0.5) == 1.0


def test_a_percentile_of_nothing_is_null() -> None:
    """Neither an empty nor an all-null column has a percentile."""
    assert (_ranked([], 0.5), _ranked([None, None], 0.99)) == (None, None)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.integers(1, 100))
def test_at_least_the_share_of_values_is_not_above(values: list[float], percent: int) -> None:
    """The p-th percentile is the smallest measured value with p percent of all at or below it."""
    found = _ranked([*values], percent / 100)
    enough = [v for v in values if 100 * sum(w <= v for w in values) >= percent * len(values)]
    assert found == min(enough)


def test_es10_timeouts_stay_in_the_percentiles(trials_of: Build, scores_of: Build, spec: Spec) -> None:
    """With half of the calls cut off at 5 s, p95 is 5 s and both counts say why."""
    rows = [{"task_id": str(i), "trial_id": str(i), "latency_ms": 282.0} for i in range(4)]
    late = {"status": "timeout", "latency_ms": 5000.0, "timeout_ms": 5000.0}
    rows = [row | late if i % 2 else row for i, row in enumerate(rows)]
    found = summary(
        trials_of(rows), scores_of([{"trial_id": str(i), "score": 1.0} for i in range(4)]), spec=spec()
    )
    row = found.collect().row(0, named=True)
    assert (row["p50_ms"], row["p95_ms"], row["p99_ms"]) == (282.0, 5000.0, 5000.0)
    assert (row["n_latency"], row["n_censored"]) == (4, 2)


def test_what_nobody_reported_is_null_and_not_zero(summary_row: SummaryRow) -> None:
    """Tokens, cost and latency that are not known have no sum and no percentile."""
    row = summary_row([[1], [0]], latency_ms=None)
    unknown = ("input_tokens", "output_tokens", "total_tokens", "cost_usd", "p50_ms", "p95_ms", "p99_ms")
    assert [row[name] for name in unknown] == [None] * 7
    assert (row["n_usage"], row["n_cost"], row["n_latency"]) == (0, 0, 0)


def test_es18_a_total_alone_is_kept(trials_of: Build, scores_of: Build, spec: Spec) -> None:
    """Usage that reports only its total is summed, and the number of trials that reported stands beside it."""
    rows: list[dict[str, Any]] = [
        {"task_id": "a", "total_tokens": 18, "cost_usd": 0.5, "n_tries": 2},
        {"task_id": "b", "total_tokens": 14},
        {"task_id": "c"},
    ]
    row = summary(trials_of(rows), scores_of([]), spec=spec()).collect().row(0, named=True)
    assert (row["total_tokens"], row["input_tokens"], row["cost_usd"]) == (32, None, 0.5)
    assert (row["n_usage"], row["n_cost"], row["n_tries"]) == (2, 1, 4)


def test_what_earlier_runs_spent_stands_apart(trials_of: Build, scores_of: Build, spec: Spec) -> None:
    """The cost is what this run spent; a run that only took over attempts spent 0, not an unknown sum."""
    own: dict[str, Any] = {"task_id": "a", "cost_usd": 0.5, "latency_ms": 4.0, "spawn_ms": 1.0}
    taken = own | {
        "task_id": "b",
        "cost_usd": 0.25,
        "latency_ms": 8.0,
        "spawn_ms": 3.0,
        "reused_from": "earlier",
    }
    mixed = summary(trials_of([own, taken]), scores_of([]), spec=spec()).collect().row(0, named=True)
    assert (mixed["cost_usd"], mixed["reused_cost_usd"], mixed["n_cost"], mixed["n_reused"]) == (
        0.5,
        0.25,
        2,
        1,
    )
    assert (mixed["p99_ms"], mixed["spawn_p50_ms"], mixed["n_latency"]) == (4.0, 1.0, 1)
    only = summary(trials_of([taken]), scores_of([]), spec=spec()).collect().row(0, named=True)
    assert (only["cost_usd"], only["reused_cost_usd"], only["p50_ms"], only["spawn_p50_ms"]) == (
        0.0,
        0.25,
        None,
        None,
    )


def test_every_latency_figure_is_the_serial_one(trials_of: Build, scores_of: Build, spec: Spec) -> None:
    """Percentiles, extremes and the speed of the composite follow the second pass, in both presets."""
    row: dict[str, Any] = {"task_id": "a", "trial_id": "a", "latency_ms": 900.0, "serial_latency_ms": 100.0}
    rows, scores = trials_of([row]), scores_of([{"trial_id": "a", "score": 1.0}])
    for preset in Preset:
        found = (
            summary(rows, scores, spec=spec(preset=preset, serial_latency=True)).collect().row(0, named=True)
        )
        assert (found["p50_ms"], found["p95_ms"], found["latency_term"]) == (100.0, 100.0, 0.1)
    assert summary(rows, scores, spec=spec()).collect()["max_ms"].item() == 900.0
