from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilleval.analytics.change_points import DRAWS, change_points


def runs(*levels: float, tasks: int = 20, seed: int = 0) -> np.ndarray:
    """Draw the means of five repeats of each task, a row a run."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.binomial(5, level, size=tasks) / 5 for level in levels])


def test_a_step_is_found_where_it_is() -> None:
    """Four runs at a half and three at nine tenths: one change, at the fifth run, with the smallest p there is."""
    (point,) = change_points(runs(0.5, 0.5, 0.5, 0.5, 0.9, 0.9, 0.9), alpha=0.01, seed=0)
    assert (point.at, point.start, point.stop, point.n_tasks) == (4, 0, 7, 20)
    assert point.p_value == 1 / (DRAWS + 1)
    assert point.difference == pytest.approx(0.4, abs=0.1)


def test_two_steps_are_two_changes_in_their_order() -> None:
    """Each side of a change is looked at for itself."""
    found = change_points(runs(0.2, 0.2, 0.2, 0.9, 0.9, 0.9, 0.4, 0.4, 0.4), alpha=0.05, seed=0)
    assert [point.at for point in found] == [3, 6]
    assert [point.difference > 0 for point in found] == [True, False]


def test_paired_tasks_see_what_their_mean_hides() -> None:
    """Hard and easy tasks differ by far more than the change: only within tasks it shows."""
    hardness = np.linspace(0.05, 0.9, 12)
    means = np.vstack([hardness, hardness + 0.05])
    (point,) = change_points(means, alpha=0.05, seed=0)
    assert point.difference == pytest.approx(0.05)


def test_two_runs_are_a_sign_flip_test() -> None:
    """Of two runs the shuffle within a task is a flip of its sign: six of six give 2 of 64."""
    means = np.vstack([np.zeros(6), np.full(6, 0.5)])
    (point,) = change_points(means, alpha=0.1, seed=0)
    assert point.p_value == pytest.approx(2 / 64, abs=0.01)
    assert change_points(means[:, :5], alpha=0.05, seed=0) == ()


def test_an_unchanged_history_is_rarely_called_changed() -> None:
    """Of 200 histories of eight runs without a change, some 5 % are called changed (7.5 % is 1.6 standard errors)."""
    called = sum(
        bool(change_points(runs(*[0.6] * 8, seed=seed), alpha=0.05, seed=seed)) for seed in range(200)
    )
    assert called / 200 <= 0.075


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(1, 6))
def test_nothing_that_moved_is_no_change(seed: int, n: int) -> None:
    """Equal runs have no change; the same seed says the same twice."""
    same = np.tile(runs(0.5, seed=seed), (n, 1))
    assert change_points(same, alpha=0.5, seed=0) == ()
    drawn = runs(*[0.5] * n, seed=seed)
    assert change_points(drawn, alpha=0.5, seed=1) == change_points(drawn, alpha=0.5, seed=1)


def test_a_task_that_some_run_does_not_know_is_left_out() -> None:
    """Only tasks of all runs are compared; with fewer than two nothing can be said."""
    means = runs(0.2, 0.2, 0.9, 0.9)
    means[0, :5] = np.nan
    (point,) = change_points(means, alpha=0.05, seed=0)
    assert (point.at, point.n_tasks) == (2, 15)
    means[1, 6:] = np.nan
    assert change_points(means, alpha=1.0, seed=0) == ()
