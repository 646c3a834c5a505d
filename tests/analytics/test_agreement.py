from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rated import rated

from skilleval.analytics.agreement import (
    disputed_tasks,
    kappa_intervals,
    overall_agreement,
    pair_agreement,
    verdict_counts,
)

VERDICT = st.sampled_from([0, 1])
DRAWN: dict[str, Any] = {"level": 0.95, "seed": 0, "resamples": 1000}


def kappa(a: list[Any], b: list[Any]) -> dict[str, Any]:
    """Give the row of two raters."""
    (row,) = pair_agreement(rated({"a": a, "b": b})).collect().to_dicts()
    return row


def overall(said: dict[str, Any], kind: str) -> dict[str, Any]:
    """Give the row of all raters on verdicts or on scores."""
    rows = {row["kind"]: row for row in overall_agreement(rated(said)).collect().to_dicts()}
    return rows[kind]


def alpha_by_hand(units: list[list[float]]) -> float | None:
    """Give Krippendorff's interval alpha from all ordered pairs of values, as it is defined."""
    kept = [unit for unit in units if len(unit) > 1]
    values = [value for unit in kept for value in unit]
    n = len(values)
    observed = sum(sum((x - y) ** 2 for x, y in permutations(unit, 2)) / (len(unit) - 1) for unit in kept)
    expected = sum((x - y) ** 2 for x, y in permutations(values, 2)) / (n - 1) if n > 1 else 0.0
    return 1 - observed / expected if expected > 1e-12 else None


def test_cohens_kappa_of_the_textbook() -> None:
    """20 yes-yes, 5 and 10 apart, 15 no-no: 0.7 agree, 0.5 by chance, kappa 0.4."""
    row = kappa([1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15)
    assert row["percent_agreement"] == pytest.approx(0.7)
    assert row["kappa"] == pytest.approx(0.4)
    assert row["kappa_reason"] is None


@pytest.mark.parametrize(
    ("a", "b", "agreement", "value", "why"),
    [
        ([1, 1], [1, 1], 1.0, None, "both give one verdict only: chance would agree as well"),
        ([1, 0], [None, None], None, None, "no trial has a verdict of both"),
        ([1, 1], [0, 0], 0.0, 0.0, None),
        ([1, 0], [1, 0], 1.0, 1.0, None),
    ],
)
def test_kappa_at_the_edges(
    a: list[Any], b: list[Any], agreement: float | None, value: float | None, why: str | None
) -> None:
    """What chance explains has no kappa, and says so; never NaN."""
    row = kappa(a, b)
    assert (row["percent_agreement"], row["kappa"], row["kappa_reason"]) == (agreement, value, why)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(VERDICT, VERDICT), min_size=2, max_size=30))
def test_cohens_kappa_is_that_of_statsmodels(pairs: list[tuple[int, int]]) -> None:
    """The same number wherever it is defined, and the same of both orders."""
    from statsmodels.stats.inter_rater import cohens_kappa

    table = np.zeros((2, 2))
    for a, b in pairs:
        table[a, b] += 1
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    mine = kappa(first, second)["kappa"]
    assume(mine is not None)
    assert mine == pytest.approx(cohens_kappa(table, return_results=False), abs=1e-9)
    assert mine == pytest.approx(kappa(second, first)["kappa"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(VERDICT, VERDICT, VERDICT, VERDICT), min_size=2, max_size=20))
def test_fleiss_kappa_is_that_of_statsmodels(units: list[tuple[int, ...]]) -> None:
    """Four raters and two verdicts."""
    from statsmodels.stats.inter_rater import fleiss_kappa

    table = np.array([[4 - sum(unit), sum(unit)] for unit in units])
    row = overall({f"r{at}": [unit[at] for unit in units] for at in range(4)}, "verdicts")
    assume(row["fleiss_kappa"] is not None)
    assert row["fleiss_kappa"] == pytest.approx(fleiss_kappa(table), abs=1e-9)
    assert row["n_complete"] == len(units)


def test_krippendorffs_alpha_of_his_examples() -> None:
    """Two observers and ten binary values: 0.095; four observers, values missing, interval scale: 0.849."""
    binary = {"a": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "b": [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]}
    assert overall(binary, "verdicts")["alpha"] == pytest.approx(0.095, abs=5e-4)
    told = {
        "a": "1 2 3 3 2 1 4 1 2 . . .",
        "b": "1 2 3 3 2 2 4 1 2 5 . 3",
        "c": ". 3 3 3 2 3 4 2 2 5 1 .",
        "d": "1 2 3 3 2 4 4 1 2 5 1 .",
    }
    scaled = {
        rater: [None if one == "." else (int(one) - 1) / 4 for one in line.split()]
        for rater, line in told.items()
    }
    row = overall(scaled, "scores")
    assert row["alpha"] == pytest.approx(0.849, abs=5e-4)
    assert (row["n_trials"], row["n_values"], row["n_complete"]) == (11, 40, 8)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([None, 0.0, 0.25, 0.5, 0.75, 1.0]), min_size=3, max_size=3),
        min_size=1,
        max_size=12,
    )
)
def test_alpha_is_what_all_pairs_of_values_say(units: list[list[float | None]]) -> None:
    """With any values missing, on scores and on verdicts, and null exactly where nothing varies."""
    said = {f"r{at}": [unit[at] for unit in units] for at in range(3)}
    known = [[value for value in unit if value is not None] for unit in units]
    verdicts = [[float(value >= 0.5) for value in unit] for unit in known]
    for kind, values in (("scores", known), ("verdicts", verdicts)):
        row, expected = overall(said, kind), alpha_by_hand(values)
        assert (row["alpha"] is None) == (expected is None) == (row["alpha_reason"] is not None)
        if expected is not None:
            assert row["alpha"] == pytest.approx(expected, abs=1e-9)


def test_coefficients_that_cannot_be_say_why() -> None:
    """One verdict only, nobody in common, and never all of them together."""
    same = overall({"a": [1, 1], "b": [1, 1]}, "verdicts")
    assert (same["fleiss_kappa"], same["fleiss_reason"]) == (None, "there is one verdict only")
    assert (same["alpha"], same["alpha_reason"]) == (None, "there is one verdict only")
    apart = overall({"a": [1, None], "b": [None, 1]}, "verdicts")
    assert apart["alpha_reason"] == "no trial has two values"
    assert apart["fleiss_reason"] == "no trial has a verdict of every rater"
    pairs = overall({"a": [1, None, 0], "b": [1, 0, None], "c": [None, 1, 0]}, "verdicts")
    assert pairs["fleiss_reason"] == "no trial has a verdict of every rater"
    assert pairs["alpha"] is not None


def test_the_interval_of_kappa_holds_it_and_repeats_itself() -> None:
    """Resampling is seeded, and blind to the order of rows."""
    said = rated({"a": [1, 1, 0, 0, 1, 0, 1, 1] * 4, "b": [1, 0, 0, 0, 1, 1, 1, 1] * 4})
    (row,) = kappa_intervals(said, **DRAWN).to_dicts()
    point = pair_agreement(said).collect()["kappa"].item()
    assert row["kappa_low"] < point < row["kappa_high"]
    assert row["kappa_method"] == "percentile bootstrap over tasks, 1000 resamples, seed 0, level 0.95"
    again = kappa_intervals(said.sort("trial_id", descending=True), **DRAWN)
    assert again.to_dicts() == [row]


def test_repeats_of_a_task_do_not_make_kappa_surer() -> None:
    """Tasks are what is drawn: ten equal repeats of each give the interval of one."""
    a, b = [1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]
    once = kappa_intervals(rated({"a": a, "b": b}, tasks=[f"t{at}" for at in range(6)]), **DRAWN)
    tenfold = {"a": a * 10, "b": b * 10}
    often = kappa_intervals(rated(tenfold, tasks=[f"t{at % 6}" for at in range(60)]), **DRAWN)
    bounds = ("kappa_low", "kappa_high", "n_tasks")
    for name in bounds:
        assert often[name].item() == pytest.approx(once[name].item())


@pytest.mark.parametrize(
    ("a", "b", "tasks", "why"),
    [
        ([1, 0], [1, 0], ["t", "t"], "fewer than two tasks have verdicts of both"),
        ([1] * 5, [1] * 5, [], "too many resamples have no kappa"),
        ([1, 0] * 20, [1, 0] * 20, [], "every resample gives the same kappa"),
    ],
)
def test_an_interval_that_says_nothing_is_null_with_the_reason(
    a: list[Any], b: list[Any], tasks: list[str], why: str
) -> None:
    """Never of zero width, never NaN."""
    (row,) = kappa_intervals(rated({"a": a, "b": b}, tasks=tasks), **DRAWN).to_dicts()
    assert (row["kappa_low"], row["kappa_high"], row["kappa_method"]) == (None, None, f"no interval: {why}")


def test_the_most_disputed_tasks_come_first() -> None:
    """The share of pairs of raters that disagree orders tasks; those of one mind are left out."""
    said = rated(
        {"a": [1, 1, 1, 1], "b": [1, 0, 1, None], "c": [1, 0, 0, None]},
        tasks=["same", "split", "some", "one"],
    )
    found = disputed_tasks(said).collect()
    assert found.select("task_id", "n_trials", "n_split").rows() == [("some", 1, 1), ("split", 1, 1)]
    assert found["disagreement"].to_list() == pytest.approx([2 / 3, 2 / 3])
    counts = verdict_counts(said).collect().filter(task_id="one")
    assert counts.select("rater", "n_graded", "n_passed").rows() == [("a", 1, 1), ("b", 0, 0), ("c", 0, 0)]


def test_one_rater_alone_disputes_nothing() -> None:
    """There is no pair, no coefficient, no task."""
    said = rated({"a": [1, 0]})
    assert pair_agreement(said).collect().is_empty()
    assert kappa_intervals(said, **DRAWN).is_empty()
    assert disputed_tasks(said).collect().is_empty()
