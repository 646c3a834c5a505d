from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from balance import CUTS, balances, cut_by
from fits import Estimate
from projection import CALLS_PER_MINUTE, jobs_of, projected, rates, simulated_seconds
from scale_page import blocks, span, with_blocks
from workloads import WORKLOADS, Workload

ROOT = Path(__file__).parents[2]
FAST, MODEL, AGENT = WORKLOADS


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """Give what the study found last."""
    found: dict[str, Any] = json.loads((ROOT / "benchmarks" / "scale" / "results.json").read_text())
    return found


@pytest.fixture(scope="module")
def costs(results: dict[str, Any]) -> dict[str, Estimate]:
    """Give the measured costs."""
    return {name: Estimate(**cost) for name, cost in results["costs"].items()}


@pytest.mark.parametrize("workload", WORKLOADS)
def test_durations_have_their_mean_and_a_tail(workload: Workload) -> None:
    """Durations are as long as the workload says on average; the longest hundredth is far beyond."""
    drawn = workload.draw(200_000, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(workload.mean_s, rel=0.02)
    assert np.quantile(drawn, 0.995) > 3 * workload.mean_s


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("workers", [1, 8])
def test_the_closed_form_is_near_the_simulation(
    costs: dict[str, Estimate], workload: Workload, workers: int
) -> None:
    """Where both can be had, they differ by a tenth at most."""
    form = projected(workload, costs, 20_000, workers).seconds
    assert form == pytest.approx(simulated_seconds(workload, costs, 20_000, workers), rel=0.1)


def test_more_workers_are_faster_until_the_provider_says_no(costs: dict[str, Estimate]) -> None:
    """Time falls with workers; at the provider's limit it does not fall below what that lets through."""
    found = [projected(MODEL, costs, 10**6, n) for n in (1, 8, 64, 512)]
    assert [one.seconds for one in found] == sorted((one.seconds for one in found), reverse=True)
    assert found[-1].limited_seconds is not None
    assert found[-1].limited_seconds >= 10**6 * MODEL.calls / (CALLS_PER_MINUTE / 60)


def test_the_bottleneck_is_the_least_rate(costs: dict[str, Estimate]) -> None:
    """An evaluating process that is slower than its slots is what bounds a run."""
    slow = costs | {"trial, chat": Estimate(value=10.0, low=None, high=None, n=1)}
    assert min(rates(MODEL, slow, 4, None).items(), key=lambda one: one[1]) == (
        "the evaluating process",
        4 / 10.0,
    )


def test_skills_that_ask_no_provider_have_no_limit(costs: dict[str, Estimate]) -> None:
    """A callable without a model costs no tokens and knows no limit."""
    found = projected(FAST, costs, 10**6, 8)
    assert (found.limited_seconds, found.usd) == (None, 0)


def test_tokens_cost_what_the_price_says(costs: dict[str, Estimate]) -> None:
    """1,500 tokens at 0.25 and 400 at 2 USD a million are 1,175 USD for a million trials."""
    assert projected(MODEL, costs, 10**6, 8).usd == pytest.approx(1175)


@pytest.mark.parametrize(("trials", "workers"), [(1000, 8), (10**6, 3), (10**9, 512)])
def test_every_worker_has_as_many_shards(trials: int, workers: int) -> None:
    """Shards are a whole number for each worker, at least one."""
    assert jobs_of(trials, workers) % workers == 0
    assert jobs_of(trials, workers) >= workers


@pytest.mark.parametrize("cut", CUTS)
def test_a_cut_keeps_every_trial(cut: str) -> None:
    """However a plan is cut, its shards together have all its trials."""
    durations = np.arange(1.0, 101.0)
    shards = cut_by(cut, durations, durations, 7)
    assert sorted(np.concatenate(shards).tolist()) == durations.tolist()


def test_shards_by_duration_are_the_most_even() -> None:
    """With known durations the longest shard is within a thousandth of the mean; by hash it is not."""
    durations = np.random.default_rng(0).lognormal(0, 1, 2000)
    longest = {cut: max(one.sum() for one in cut_by(cut, durations, durations, 8)) for cut in CUTS}
    mean = durations.sum() / 8
    assert longest["duration"] < 1.001 * mean
    assert longest["duration"] < longest["number"]
    assert longest["hash"] > 1.01 * mean


def test_more_shards_make_up_for_a_slow_worker() -> None:
    """One worker at half speed costs less when shards are many and small."""
    for one in balances(AGENT, trials=2000, workers=4):
        assert one.imbalance < one.finer_with_slow < one.with_slow


def test_the_page_is_current(results: dict[str, Any], costs: dict[str, Estimate]) -> None:
    """The tables of docs/scale.md are those of the stored results."""
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert with_blocks(page, blocks(results, costs)) == page


def test_a_page_without_a_place_is_refused() -> None:
    """A table that the page has no place for is an error that names it."""
    with pytest.raises(KeyError, match="projection"):
        with_blocks("no place at all", {"projection": "| a |"})


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.5, "0.500 s"), (89, "89.0 s"), (7200, "2.00 h"), (86_400 * 10, "10.0 days"), (1e9, "31.7 years")],
)
def test_spans_have_a_fitting_unit(seconds: float, text: str) -> None:
    """A span is written in the largest unit of which it is more than one and a half."""
    assert span(seconds) == text
