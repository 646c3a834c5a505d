"""What each setting does, and whether it does the same beside every other one."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from swept import HOW, grid, measure, measured

from skilleval.analytics.sweeps_effects import (
    MAX_CONTRASTS,
    crossed_means,
    interactions,
    main_effects,
    too_many,
)

TWO = grid(model=("a", "b"), seed=("0", "1"))


def test_an_effect_that_was_put_there_is_found() -> None:
    """A model that solves half of the tasks more is better by half, over all tasks and cells."""
    values = measured(TWO, lambda cell, _skill, task: float(cell["model"] == "b" and task % 2 == 0))
    model, seed = main_effects(values, TWO, measure=measure(), how=HOW).to_dicts()
    assert (model["setting"], model["level_before"], model["level_after"]) == ("model", "a", "b")
    assert model["effect"] == pytest.approx(0.5)
    assert (model["before"], model["after"], model["n_tasks"], model["n_cells"]) == (0.0, 0.5, 12, 2)
    assert model["low"] < 0.5 < model["high"]
    assert model["change"] == "inconclusive", "six tasks of twelve, two comparisons: 2 × 2 / 64 is above 0.05"
    assert seed["effect"] == 0
    assert seed["change"] == "unchanged"


def test_p_values_are_adjusted_for_all_comparisons() -> None:
    """Of two comparisons the smaller p is doubled."""
    values = measured(TWO, lambda cell, _skill, task: float(cell["model"] == "b" and task < 8))
    found = main_effects(values, TWO, measure=measure(), how=HOW)
    assert found["p_holm"][0] == pytest.approx(2 * found["p_value"][0])
    assert found["change"][0] == "improved"


def test_a_failed_job_leaves_its_counterpart_out() -> None:
    """Without the second job of a model only the first cells are compared: an easier cell gives nobody an advantage."""
    values = measured(
        TWO,
        lambda cell, _skill, _task: (
            None if cell == {"model": "b", "seed": "1"} else float(cell["seed"] == "1")
        ),
    )
    found = main_effects(values, TWO, measure=measure(), how=HOW).row(0, named=True)
    assert (found["n_cells"], found["n_cells_before"], found["n_cells_after"]) == (1, 2, 1)
    assert (found["before"], found["after"]) == (0.0, 0.0)


def test_levels_that_share_nothing_have_no_figures() -> None:
    """Nothing is known of them, which is null and not zero."""
    values = measured(
        TWO, lambda cell, _skill, _task: 1 if (cell["model"] == "a") == (cell["seed"] == "0") else None
    )
    found = main_effects(values, TWO, measure=measure(), how=HOW)
    assert found["effect"].to_list() == [None, None]
    assert found["n_cells"].to_list() == [0, 0]


@pytest.mark.parametrize(
    ("name", "change"),
    [("completion_rate", "improved"), ("partial_score", "improved"), ("error_rate", "regressed")],
)
def test_better_is_what_the_metric_says(name: str, change: str) -> None:
    """More errors are worse, although the number rises."""
    values = measured(TWO, lambda cell, _skill, task: float(cell["model"] == "b" and task < 10))
    found = main_effects(values, TWO, measure=measure(name), how=HOW).row(0, named=True)
    assert found["metric"] == name
    assert found["change"] == change
    assert (found["n_better"] > found["n_worse"]) == (change == "improved")


def test_times_are_compared_as_ratios() -> None:
    """Twice the time is twice as long, whatever the task."""
    values = measured(TWO, lambda cell, _skill, task: (1 + task) * (200.0 if cell["model"] == "b" else 100.0))
    found = main_effects(values, TWO, measure=measure("latency_ms"), how=HOW).row(0, named=True)
    assert found["effect"] == pytest.approx(2.0)
    assert found["kind"] == "ratio"


def test_an_interaction_is_a_difference_of_differences() -> None:
    """A model that helps beside one seed only interacts with it; one that helps everywhere does not."""
    depends = measured(
        TWO, lambda cell, _skill, task: float(cell == {"model": "b", "seed": "1"} and task < 9)
    )
    found = interactions(depends, TWO, measure=measure(), how=HOW).row(0, named=True)
    assert found["effect"] == pytest.approx(0.75)
    assert found["is_shown"]
    added = measured(
        TWO,
        lambda cell, _skill, task: float(task < 3) + 0.25 * (cell["model"] == "b") + 0.5 * int(cell["seed"]),
    )
    found = interactions(added, TWO, measure=measure(), how=HOW).row(0, named=True)
    assert found["effect"] == pytest.approx(0.0)
    assert not found["is_shown"]


def test_of_many_levels_only_the_largest_interaction_is_listed() -> None:
    """All are looked at, so that the p is adjusted for all of them."""
    many = grid(x=tuple("abcdefg"), model=("m", "n"))
    values = measured(many, lambda cell, _skill, task: float(cell == {"x": "f", "model": "n"} and task < 9))
    found = interactions(values, many, measure=measure(), how=HOW)
    assert found.select("a_after", "b_after").rows() == [("f", "n")]
    assert found["p_holm"][0] == pytest.approx(6 * found["p_value"][0])


def test_too_many_levels_are_told_and_not_skipped_in_silence() -> None:
    """What is not worked out has a name."""
    few = tuple(map(str, range(10)))
    most = tuple(map(str, range(MAX_CONTRASTS)))
    assert too_many(grid(x=few, y=most)) == (("x", "y"),)
    assert too_many(grid(x=few, y=few)) == ()


def test_crossed_means_are_over_what_all_combinations_have() -> None:
    """A row a combination, in the order of the sweep."""
    values = measured(TWO, lambda cell, _skill, _task: float(cell == {"model": "b", "seed": "1"}))
    found = crossed_means(values, TWO, ("model", "seed"))
    assert found.select("level_a", "level_b", "mean").rows() == [
        ("a", "0", 0.0),
        ("a", "1", 0.0),
        ("b", "0", 0.0),
        ("b", "1", 1.0),
    ]


@examples(max_examples=15, deadline=None)
@given(st.lists(st.booleans(), min_size=48, max_size=48))
def test_the_order_of_rows_is_irrelevant(outcomes: list[bool]) -> None:
    """The same rows give the same figures, and the levels turned round give the effect with the other sign."""
    cells = {("a", "0"): 0, ("a", "1"): 12, ("b", "0"): 24, ("b", "1"): 36}
    values = measured(
        TWO, lambda cell, _skill, task: float(outcomes[cells[cell["model"], cell["seed"]] + task])
    )
    found = main_effects(values, TWO, measure=measure(), how=HOW)
    assert_frame_equal(
        main_effects(values.sample(fraction=1, shuffle=True, seed=3), TWO, measure=measure(), how=HOW), found
    )
    turned = main_effects(values, grid(model=("b", "a"), seed=("1", "0")), measure=measure(), how=HOW)
    assert turned["effect"].to_list() == pytest.approx([-effect for effect in found["effect"]])
    assert turned["p_value"].to_list() == pytest.approx(found["p_value"].to_list())


def test_no_rows_give_no_comparison() -> None:
    """A sweep without a single value has rows without figures, and no interaction."""
    values = measured(TWO, lambda _cell, _skill, _task: 1.0).clear()
    assert main_effects(values, TWO, measure=measure(), how=HOW)["effect"].to_list() == [None, None]
    assert isinstance(interactions(values, TWO, measure=measure(), how=HOW), pl.DataFrame)
