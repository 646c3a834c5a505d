"""What the jobs of a sweep have in common."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from swept import grid, measure, measured

from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.sweeps import (
    Setting,
    cell_count,
    job_means,
    job_spend,
    level_means,
    matched,
    measure_named,
    settings_of,
    typed,
)


@pytest.mark.parametrize(
    ("name", "is_choice"),
    [
        ("model", True),
        ("sandbox", True),
        ("skill_set", True),
        ("+model.temperature", True),
        ("scorer", False),
        ("runner.seed", False),
        ("plan.shard", False),
        ("benchmark", False),
    ],
)
def test_how_something_is_measured_is_no_choice(name: str, *, is_choice: bool) -> None:
    """A lenient scorer makes nothing better: only what is evaluated can be chosen."""
    assert Setting(name=name, levels=("a", "b")).is_choice is is_choice


def test_levels_come_in_the_order_of_the_sweep_and_then_of_the_jobs() -> None:
    """Levels that no grid names are added as they come."""
    found = settings_of([{"model": "b", "x": "2"}, {"model": "c", "x": "1"}], {"model": ["a", "b"]})
    assert [(one.name, one.levels) for one in found] == [("model", ("a", "b", "c")), ("x", ("2", "1"))]


def test_up_to_six_levels_every_two_are_compared_beyond_it_each_with_the_first() -> None:
    """Six levels give fifteen pairs, seven give six."""
    assert len(Setting(name="x", levels=tuple("abcdef")).pairs) == 15
    assert Setting(name="x", levels=tuple("abcdefg")).pairs == tuple(("a", level) for level in "bcdefg")


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1", "2"], [1, 2]),
        (["1", "0.5"], [1.0, 0.5]),
        (["true", "false"], [True, False]),
        (["a", "1"], ["a", "1"]),
        (["null", "3"], [None, 3]),
        (["nan", "1"], ["nan", "1"]),
        (["007", "7"], ["007", "7"]),
    ],
)
def test_settings_have_the_type_of_all_their_values(texts: list[str], values: list[object]) -> None:
    """One word among numbers makes all of them words; NaN is no number, and an id stays as it is written."""
    frame = pl.DataFrame({"setting.x": texts})
    assert typed(frame, grid(x=texts))["setting.x"].to_list() == values


def test_only_what_both_sides_have_is_matched() -> None:
    """A cell, a skill or a task that one side lacks does not count for the other."""
    settings = grid(model=("a", "b"), seed=("0", "1"))
    values = measured(
        settings,
        lambda cell, _skill, task: (
            None if cell == {"model": "a", "seed": "1"} or (cell["model"] == "b" and task > 2) else 1
        ),
        n_tasks=5,
    )
    rows = matched(values, [{"setting.model": "a"}, {"setting.model": "b"}], settings)
    assert rows["setting.seed"].unique().to_list() == ["0"]
    assert rows["task_id"].to_list() == ["t00", "t01", "t02"]
    assert cell_count(rows, settings) == 1


def test_a_setting_that_replaces_the_scorer_is_averaged_over_it() -> None:
    """Levels that share no scorer are compared all the same; with one in common, only that counts."""
    settings = grid(scorer=("exact", "contains"))
    values = measured(settings, lambda cell, _skill, _task: float(cell["scorer"] == "contains"), n_tasks=2)
    rows = matched(values, [{"setting.scorer": "exact"}, {"setting.scorer": "contains"}], settings)
    assert rows.select("value_0", "value_1").unique().rows() == [(0.0, 1.0)]
    assert "scorer" not in rows.columns


def test_levels_are_averaged_over_the_cells_that_all_of_them_have(spec: Callable[..., AnalysisSpec]) -> None:
    """The mean of a level does not gain from a job that another level lacks."""
    settings = grid(model=("a", "b"), seed=("0", "1"))
    values = measured(
        settings,
        lambda cell, _skill, task: (
            None if cell == {"model": "b", "seed": "1"} else (task + int(cell["seed"])) % 2
        ),
    )
    found = level_means(values, settings, measure=measure(), spec=spec()).filter(setting="model")
    assert found["n_cells"].to_list() == [1, 1]
    assert found["mean"].to_list() == [0.5, 0.5]
    assert found["is_matched"].all()
    assert (found["low"] < 0.5).all()
    assert (found["high"] > 0.5).all()


def test_levels_without_a_common_cell_say_so(spec: Callable[..., AnalysisSpec]) -> None:
    """Each is averaged over its own cells, and not called comparable."""
    settings = grid(model=("a", "b"), seed=("0", "1"))
    values = measured(
        settings, lambda cell, _skill, _task: 1 if (cell["model"] == "a") == (cell["seed"] == "0") else None
    )
    found = level_means(values, settings, measure=measure(), spec=spec()).filter(setting="model")
    assert found["is_matched"].to_list() == [False, False]


def test_a_job_is_the_mean_of_its_tasks() -> None:
    """A task counts once, however many skills were tried on it."""
    values = pl.DataFrame(
        {
            "job": [0, 0, 0],
            "benchmark_id": ["b"] * 3,
            "task_id": ["t1", "t1", "t2"],
            "value": [1.0, 0.0, 1.0],
        }
    )
    assert job_means(values).rows() == [(0, 0.75, 2)]


def test_attempts_that_were_taken_over_cost_nothing_again() -> None:
    """Money and tokens are those of own attempts; null where nobody said."""
    trials = pl.LazyFrame(
        {
            "run_id": ["r", "r", "q"],
            "reused_from": [None, "p", None],
            "cost_usd": [0.5, 0.25, None],
            "total_tokens": [10, 20, None],
            "input_tokens": [None, None, None],
            "output_tokens": [None, None, None],
        },
        schema_overrides={name: pl.Int64() for name in ("input_tokens", "output_tokens")},
    )
    assert job_spend(trials).collect().rows() == [("q", 1, 0, None, None), ("r", 2, 1, 0.5, 10)]


def test_an_unknown_metric_is_none() -> None:
    """There is nothing to hold settings against."""
    assert measure_named("beauty") is None
