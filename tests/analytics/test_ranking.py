from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilleval.analytics.ranking import kendall_tau_b, rank_distribution, ranking_agreement

DRAWN: dict[str, Any] = {"level": 0.95, "seed": 0, "resamples": 10_000}


def distribution(passed: Mapping[str, Sequence[int | None]], *, n: int = 1) -> dict[str, dict[str, Any]]:
    """Give the row of each candidate, from its passes of `n` trials on each task."""
    rows = [
        {"candidate": name, "task_id": f"t{at}", "n_graded": 0 if c is None else n, "n_passed": c or 0}
        for name, counts in passed.items()
        for at, c in enumerate(counts)
    ]
    schema = {
        "candidate": pl.String(),
        "task_id": pl.String(),
        "n_graded": pl.Int64(),
        "n_passed": pl.Int64(),
    }
    found = rank_distribution(pl.DataFrame(rows, schema=schema), **DRAWN)
    return {row["candidate"]: row for row in found.to_dicts()}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 2), min_size=2, max_size=8))
def test_kendalls_tau_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    """Ties included; null where SciPy has NaN."""
    from scipy.stats import kendalltau

    x, y = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    mine, theirs = kendall_tau_b(x, y), float(kendalltau(x, y).statistic)
    assert (mine is None) == np.isnan(theirs)
    assert mine is None or mine == pytest.approx(theirs, abs=1e-9)


def test_a_hair_of_difference_is_a_tie() -> None:
    """0.1 + 0.2 and 0.3 are one rate, however they were summed."""
    assert kendall_tau_b(np.array([0.1 + 0.2, 0.3]), np.array([0.0, 1.0])) is None


def test_orders_of_skills_are_compared_scorer_by_scorer() -> None:
    """One order, the reverse one, and all level; who comes first is told for both."""
    said = {
        "exact": [0.9, 0.5, 0.1],
        "mild": [1.0, 0.6, 0.5],
        "odd": [0.1, 0.5, 0.9],
        "flat": [1.0, 1.0, 1.0],
    }
    rows = [
        {"condition_id": f"c{at}", "scorer": scorer, "completion_rate": rate}
        for scorer, rates in said.items()
        for at, rate in enumerate(rates)
    ]
    found = {
        (row["rater_a"], row["rater_b"]): row for row in ranking_agreement(pl.DataFrame(rows)).to_dicts()
    }
    assert len(found) == 6
    assert found["exact", "mild"]["kendall_tau"] == 1
    assert found["exact", "odd"]["kendall_tau"] == -1
    assert (found["exact", "odd"]["first_a"], found["exact", "odd"]["first_b"]) == (["c0"], ["c2"])
    flat = found["exact", "flat"]
    assert (flat["kendall_tau"], flat["tau_reason"]) == (None, "one of them puts all skills level")
    assert flat["first_b"] == ["c0", "c1", "c2"]


def test_one_skill_has_no_order() -> None:
    """Conditions that one scorer has no rate of are left out first."""
    rows = pl.DataFrame(
        {
            "condition_id": ["c", "d", "c", "d"],
            "scorer": ["a", "a", "b", "b"],
            "completion_rate": [1.0, 0.0, 1.0, None],
        }
    )
    (row,) = ranking_agreement(rows).to_dicts()
    assert (row["n_conditions"], row["kendall_tau"]) == (1, None)
    assert row["tau_reason"] == "fewer than two skills have a rate by both"


def test_the_chance_to_be_best_is_that_of_all_draws() -> None:
    """Of two tasks there are three draws (1/4, 1/2, 1/4): b ties with a in one of them alone."""
    found = distribution({"a": [1, 1], "b": [1, 0]})
    assert found["a"]["p_best"] == pytest.approx(7 / 8, abs=0.01)
    assert found["b"]["p_best"] == pytest.approx(1 / 8, abs=0.01)
    assert found["a"]["mean_rank"] == pytest.approx(0.25 * 1.5 + 0.75, abs=0.01)
    assert (found["b"]["rank_low"], found["b"]["rank_high"]) == (1.5, 2)
    assert (found["b"]["behind_low"], found["b"]["behind_high"], found["b"]["is_level"]) == (-1, 0, True)


def test_draws_are_paired() -> None:
    """Who is a little better on every task is better in every draw, however much tasks differ."""
    found = distribution({"a": [10, 6, 3, 9, 2, 8], "b": [9, 5, 2, 8, 1, 7]}, n=10)
    assert (found["a"]["p_best"], found["b"]["p_best"]) == (1, 0)
    assert found["b"]["behind_high"] == pytest.approx(-0.1)
    assert not found["b"]["is_level"]


def test_equal_candidates_share_the_first_place() -> None:
    """Three that do the same have a third each, and the middle rank."""
    found = distribution({name: [1, 0, 1] for name in "abc"})
    assert [row["p_best"] for row in found.values()] == pytest.approx([1 / 3] * 3)
    assert [row["rank_low"] for row in found.values()] == [2, 2, 2]
    assert all(row["is_level"] for row in found.values())


def test_only_tasks_that_all_have_verdicts_on_count() -> None:
    """A skill is not better for a task that the others could not be judged on."""
    found = distribution({"a": [0, 1, 0, 1], "b": [0, None, 1, 1]})
    assert found["a"]["n_shared_tasks"] == found["b"]["n_shared_tasks"] == 3
    assert found["b"]["p_best"] > found["a"]["p_best"]


@pytest.mark.parametrize("passed", [{"a": [1, 0]}, {"a": [1], "b": [0]}, {"a": [1, None], "b": [None, 1]}])
def test_what_cannot_be_known_is_null(passed: dict[str, Any]) -> None:
    """One candidate, one task, nothing shared: no chance is made up."""
    for row in distribution(passed).values():
        assert (row["p_best"], row["rank_low"], row["is_level"]) == (None, None, None)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=4))
def test_chances_add_up(counts: list[list[int]]) -> None:
    """One candidate or several sharing is always first, and mean ranks have their sum."""
    found = distribution({f"c{at}": row for at, row in enumerate(counts)}, n=3)
    assert sum(row["p_best"] for row in found.values()) == pytest.approx(1)
    n = len(counts)
    assert sum(row["mean_rank"] for row in found.values()) == pytest.approx(n * (n + 1) / 2)
