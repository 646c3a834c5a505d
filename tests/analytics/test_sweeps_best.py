"""Which settings did best, and how sure that choice is."""

from __future__ import annotations

import pytest
from polars.testing import assert_frame_equal
from swept import HOW, grid, measure, measured

from skilleval.analytics.sweeps_best import best_settings

SWEPT = grid(model=("a", "b", "c"), scorer=("exact", "contains"))


def test_the_best_is_the_highest_and_the_set_holds_what_is_not_told_from_it() -> None:
    """A model that is level stays in the set; one that fails everything is out of it."""
    solved = {"a": 0, "b": 14, "c": 15}
    values = measured(SWEPT, lambda cell, _skill, task: float(task < solved[cell["model"]]), n_tasks=16)
    found = best_settings(values, SWEPT, measure=measure(), how=HOW, resamples=500)
    assert found["setting.model"].to_list() == ["c", "b", "a"]
    assert found["in_best_set"].to_list() == [True, True, False]
    assert found["is_best"].to_list() == [True, False, False]
    assert found["p_best"].sum() == pytest.approx(1.0)
    assert found["effect"].to_list() == [None, pytest.approx(-1 / 16), pytest.approx(-15 / 16)]


def test_how_it_was_measured_is_averaged_over_and_no_candidate() -> None:
    """A lenient scorer is no better setting; a sweep of scorers alone has no best one."""
    values = measured(SWEPT, lambda cell, _skill, _task: float(cell["scorer"] == "contains"))
    found = best_settings(values, SWEPT, measure=measure(), how=HOW, resamples=100)
    assert found["mean"].to_list() == [0.5] * 3
    assert "setting.scorer" not in found.columns
    alone = grid(scorer=("exact", "contains"))
    assert (
        best_settings(
            measured(alone, lambda *_: 1.0), alone, measure=measure(), how=HOW, resamples=100
        ).height
        == 0
    )


def test_a_job_that_is_missing_gives_its_setting_no_advantage() -> None:
    """Where a candidate lacks the strict scorer, nobody is judged by it."""
    lacks = {"model": "a", "scorer": "exact"}
    values = measured(
        SWEPT, lambda cell, _skill, _task: None if cell == lacks else float(cell["scorer"] == "contains")
    )
    found = best_settings(values, SWEPT, measure=measure(), how=HOW, resamples=100)
    assert found["mean"].to_list() == [1.0] * 3


def test_less_is_better_where_the_metric_says_so() -> None:
    """The fastest comes first, and the others are behind by what they take more."""
    values = measured(
        SWEPT, lambda cell, _skill, task: {"a": 300.0, "b": 100.0, "c": 200.0}[cell["model"]] + task
    )
    found = best_settings(values, SWEPT, measure=measure("latency_ms"), how=HOW, resamples=100)
    assert found["setting.model"].to_list() == ["b", "c", "a"]
    assert found["p_best"].to_list() == [1.0, 0.0, 0.0]
    assert found["behind_low"][1] == pytest.approx(100.0)


def test_shards_of_one_benchmark_are_put_together() -> None:
    """Shards have different tasks: all of them count for each candidate."""
    sharded = (*grid(model=("a", "b")), *grid(**{"plan.shard": ("0", "1")}))
    values = measured(
        sharded,
        lambda cell, _skill, task: (
            float(cell["model"] == "b") if task % 2 == int(cell["plan.shard"]) else None
        ),
    )
    found = best_settings(values, sharded, measure=measure(), how=HOW, resamples=100)
    assert found["n_tasks"].to_list() == [12, 12]
    assert found["setting.model"].to_list() == ["b", "a"]


def test_one_seed_gives_one_answer() -> None:
    """Rows in another order change nothing."""
    values = measured(SWEPT, lambda cell, _skill, task: float((task * 7 + ord(cell["model"])) % 3 == 0))
    found = best_settings(values, SWEPT, measure=measure(), how=HOW, resamples=200)
    again = best_settings(values.reverse(), SWEPT, measure=measure(), how=HOW, resamples=200)
    assert_frame_equal(found, again)


def test_candidates_that_share_no_task_are_not_ranked() -> None:
    """Nothing is known of which is best: null, not the first by name."""
    values = measured(
        SWEPT, lambda cell, _skill, task: 1.0 if task % 3 == "abc".index(cell["model"]) else None
    )
    found = best_settings(values, SWEPT, measure=measure(), how=HOW, resamples=100)
    assert found["mean"].to_list() == [None] * 3
    assert not found["is_best"].any()
