from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from stored_runs import Runs

from skilleval.analytics.against_one import completion_effects, in_place_of
from skilleval.analytics.multiplicity import holm
from skilleval.analytics.regression import condition_pairs
from skilleval.analytics.task_results import task_results
from skilleval.app.stored import stored


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> pl.LazyFrame:
    """Eight tasks of three conditions: one right, one that lost seven, one that lost one."""
    runs = Runs(tmp_path_factory.mktemp("runs"))
    names = [f"family/t{n}" for n in range(4)] + [f"t{n}" for n in range(4, 8)]
    found = []
    for name, wrong in (("a", []), ("b", names[:7]), ("c", names[:1])):
        one = stored(runs.run(wrong=wrong))
        rows = task_results(one.trials, one.scores, spec=one.spec).collect()
        found.append(rows.with_columns(condition_id=pl.lit(name), skill_id=pl.lit(f"skill-{name}")))
    return pl.concat(found).lazy()


def compared(tasks: pl.LazyFrame, reference: str = "a") -> pl.DataFrame:
    """Hold all conditions against one of them."""
    about = tasks.filter(pl.col("condition_id") == reference).head(1)
    pairs, lent = in_place_of(tasks, about)
    return completion_effects(pairs, lent, tasks, level=0.95, margin=0.05, seed=0).collect()


def test_every_other_condition_is_held_against_the_reference(tasks: pl.LazyFrame) -> None:
    """Skills of other names are paired over the tasks; the reference has no row of its own."""
    found = compared(tasks)
    assert found["condition_id"].to_list() == ["b", "c"]
    assert found["n_tasks"].to_list() == [8, 8]
    assert found["effect"].to_list() == [-7 / 8, -1 / 8]
    assert found["p_value"].to_list() == [2 / 2**7, 1.0]


def test_p_values_are_adjusted_over_what_is_compared(tasks: pl.LazyFrame) -> None:
    """Holm's adjustment counts the pairs of the scorer, no other metric."""
    found = compared(tasks)
    expected = found.select(p_holm=holm(pl.col("p_value")))
    assert_frame_equal(found.select("p_holm"), expected)
    assert found["p_holm"].to_list() == [4 / 2**7, 1.0]
    assert found["n_compared"].to_list() == [2, 2]
    assert found["is_shown"].to_list() == [True, False]


def test_exchanged_roles_give_the_opposite(tasks: pl.LazyFrame) -> None:
    """Seen from the other side the effect has the other sign and the same p."""
    one = compared(tasks).filter(pl.col("condition_id") == "b")
    other = compared(tasks, "b").filter(pl.col("condition_id") == "a")
    assert one["effect"].item() == -other["effect"].item()
    assert one["p_value"].item() == other["p_value"].item()


def test_a_single_condition_is_held_against_nothing(tasks: pl.LazyFrame) -> None:
    """With the reference alone there is no row."""
    assert compared(tasks.filter(pl.col("condition_id") == "a")).is_empty()


def test_pairs_of_runs_are_judged_in_the_same_way(tasks: pl.LazyFrame) -> None:
    """The pairs of `diff` may be given as well: of a run and itself nothing differs."""
    pairs = condition_pairs(tasks, tasks)
    found = completion_effects(pairs, tasks, tasks, level=0.95, margin=0.05, seed=0).collect()
    assert found["effect"].to_list() == [0.0, 0.0, 0.0]
    assert not found["is_shown"].any()
