from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulation import Fleet, graham_bound, one_by_one, simulate

DURATIONS = st.lists(st.floats(0.001, 100), min_size=1, max_size=40)


@given(durations=DURATIONS)
def test_one_worker_takes_the_sum(durations: list[float]) -> None:
    """One worker with one slot takes the sum of all durations."""
    assert simulate([durations], Fleet(workers=1)).seconds == pytest.approx(sum(durations))


@pytest.mark.parametrize(("trials", "workers"), [(1, 1), (7, 3), (9, 3), (10, 64)])
def test_equal_trials_take_whole_rounds(trials: int, workers: int) -> None:
    """N workers take ceil(trials / N) times as long as one trial."""
    found = simulate(one_by_one([2.0] * trials), Fleet(workers=workers))
    assert found.seconds == 2.0 * math.ceil(trials / workers)


@pytest.mark.parametrize("slots", [1, 4, 7])
def test_slots_of_a_worker_count_like_workers(slots: int) -> None:
    """Without any work of the evaluating process, K slots of one worker do what K workers do."""
    durations = np.random.default_rng(0).lognormal(0, 1, 50)
    in_slots = simulate([durations], Fleet(workers=1, concurrency=slots)).seconds
    assert in_slots == pytest.approx(simulate(one_by_one(durations), Fleet(workers=slots)).seconds)


@settings(max_examples=50)
@given(durations=DURATIONS, workers=st.integers(1, 8))
def test_no_list_exceeds_the_bound_of_graham(durations: list[float], workers: int) -> None:
    """Whatever the order, a list ends between the trivial lower bounds and the bound of Graham."""
    seconds = simulate(one_by_one(durations), Fleet(workers=workers)).seconds
    assert seconds <= graham_bound(durations, workers) * (1 + 1e-9)
    assert seconds >= max(*durations, sum(durations) / workers) * (1 - 1e-9)


def test_the_bound_of_graham_is_reached() -> None:
    """The known worst list of m(m-1) short trials and a long one takes 2 - 1/m times the best."""
    workers = 4
    durations = [1.0] * (workers * (workers - 1)) + [float(workers)]
    seconds = simulate(one_by_one(durations), Fleet(workers=workers)).seconds
    assert seconds == graham_bound(durations, workers) == (2 - 1 / workers) * workers


@pytest.mark.parametrize(
    ("overhead_s", "rate"), [(0.001, 1 / (0.001 + 0.1) * 16), (0.05, 20.0), (0.02, 50.0)]
)
def test_the_evaluating_process_bounds_the_rate(overhead_s: float, rate: float) -> None:
    """Trials a second are the slots' share, or what one core can do if that is less."""
    fleet = Fleet(workers=1, concurrency=16, overhead_s=overhead_s)
    found = simulate([[0.1] * 4000], fleet)
    assert 4000 / found.seconds == pytest.approx(rate, rel=0.02)
    assert found.own_s == pytest.approx(4000 * overhead_s)


@pytest.mark.parametrize("workers", [1, 4])
def test_the_limit_of_a_provider_holds_for_all_workers_together(workers: int) -> None:
    """More workers make nothing faster than the provider lets trials begin."""
    fleet = Fleet(workers=workers, concurrency=100, calls_per_s=10.0)
    found = simulate([[0.5] * (1000 // workers)] * workers, fleet)
    assert found.seconds == pytest.approx(999 / 10 + 0.5)


def test_each_job_starts_and_ends() -> None:
    """A worker pays the start and the end of every job that it takes."""
    fleet = Fleet(workers=2, start_s=3.0, end_s=4.0)
    assert simulate([[1.0, 1.0]] * 6, fleet).seconds == 3 * (3 + 2 + 4)


def test_a_slow_worker_takes_fewer_jobs() -> None:
    """Jobs go to whoever is free: with many small ones, a slow worker takes its share only."""
    fleet = Fleet(workers=2, slowness=(2.0,))
    assert simulate([[1.0] * 30] * 2, fleet).seconds == 60
    assert simulate([[1.0]] * 60, fleet).seconds == 40


def test_failures_lose_what_was_running_alone() -> None:
    """Time and lost time add up: one worker ends after its work, the lost parts and the restarts."""
    durations = [1.0] * 500
    found = simulate([durations], Fleet(workers=1, mtbf_s=50.0, restart_s=2.0), seed=1)
    assert found.n_failures > 3
    assert 0 < found.lost_s <= found.n_failures
    n_restarts = (found.seconds - sum(durations) - found.lost_s) / 2.0
    assert n_restarts == pytest.approx(found.n_failures)


def test_failures_lengthen_a_run_as_expected() -> None:
    """On average a run grows by (restart + half a trial) over the time between failures."""
    fleet = Fleet(workers=1, mtbf_s=100.0, restart_s=5.0)
    seconds = [simulate([[1.0] * 2000], fleet, seed=seed).seconds for seed in range(20)]
    assert np.mean(seconds) / 2000 == pytest.approx(1 + 5.5 / 100, rel=0.01)


def test_a_seed_gives_the_same_run() -> None:
    """The same seed gives the same failures; another one gives others."""
    fleet = Fleet(workers=3, concurrency=2, mtbf_s=20.0, restart_s=1.0)
    runs = [simulate([[1.0] * 100] * 6, fleet, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_no_jobs_take_no_time() -> None:
    """A fleet without jobs ends at once."""
    assert simulate([], Fleet(workers=3, mtbf_s=1.0)).seconds == 0
