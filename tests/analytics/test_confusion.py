from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from rated import rated

from skilleval.analytics.confusion import calibration, confusion, label_ratings, ratings

Grid = tuple[pl.LazyFrame, pl.LazyFrame]


def test_the_four_cells_of_a_pair_and_what_one_left_open() -> None:
    """Every trial with both verdicts stands in one cell; names give the order of a pair."""
    said = {"b": [1, 1, 0, 0, None, 1], "a": [1, 0, 1, 0, 1, None]}
    (row,) = confusion(rated(said)).collect().to_dicts()
    assert (row["rater_a"], row["rater_b"], row["n_both"], row["n_one_ungraded"]) == ("a", "b", 4, 2)
    cells = [row[name] for name in ("n_both_passed", "n_only_a", "n_only_b", "n_both_failed")]
    assert cells == [1, 1, 1, 1]
    assert row["score_difference"] == 0
    assert row["score_distance"] == 0.5


def test_every_pair_is_there_once() -> None:
    """Of three raters there are three pairs."""
    found = confusion(rated({"c": [1], "a": [1], "b": [0]})).collect()
    assert found.select("rater_a", "rater_b").rows() == [("a", "b"), ("a", "c"), ("b", "c")]


def test_counts_can_be_split_by_task() -> None:
    """The cells of all tasks add up to those of the pair."""
    said = rated({"a": [1, 1, 0, 1], "b": [1, 0, 0, 1]}, tasks=["x", "x", "y", "y"])
    found = confusion(said, by=("task_id",)).collect()
    assert found.select("task_id", "n_both", "n_only_a").rows() == [("x", 2, 1), ("y", 2, 0)]


def test_a_judge_is_held_against_the_labels_whichever_name_comes_first() -> None:
    """Sensitivity and specificity are those of the judge, bias is its pass rate less that of the labels."""
    truth = [1, 1, 1, 0, 0]
    for judge in ("a-judge", "z-judge"):
        table = confusion(rated({"labels": truth, judge: [1, 1, 0, 1, 0]}))
        (row,) = calibration(table, reference="labels").collect().to_dicts()
        assert row["judge"] == judge
        assert row["sensitivity"] == row["precision"] == pytest.approx(2 / 3)
        assert row["specificity"] == 0.5
        assert (row["n_only_judge"], row["n_only_reference"], row["bias"]) == (1, 1, 0)
    mild = confusion(rated({"labels": [1, 0], "judge": [1, 1]}))
    assert calibration(mild, reference="labels").collect()["bias"].item() == 0.5


def test_calibration_without_anything_to_divide_by_is_null() -> None:
    """Labels that pass everything say nothing of what a judge would fail."""
    table = confusion(rated({"labels": [1, 1], "judge": [0, 0]}))
    (row,) = calibration(table, reference="labels").collect().to_dicts()
    assert (row["sensitivity"], row["specificity"], row["precision"]) == (0, None, None)


def test_trials_that_did_not_complete_are_no_agreement(grid: Callable[..., Grid]) -> None:
    """A time-out fails for every scorer alike, so that it is left out."""
    trials, scores = grid([[1.0, "timeout"], [0.0, "provider_error"]])
    found = ratings(trials, scores).collect()
    assert found.select("task_id", "repeat", "rater", "passed").sort("task_id").rows() == [
        ("t000", 0, "exact", True),
        ("t001", 0, "exact", False),
    ]


def test_what_each_person_said_is_kept_apart_from_the_majority(
    trials_of: Callable[..., pl.LazyFrame], scores_of: Callable[..., pl.LazyFrame]
) -> None:
    """Optional checks of labels are raters of their own, named after their scorer."""
    trials = trials_of([{"trial_id": "x", "task_id": "t"}])
    said: list[dict[str, Any]] = [
        {"trial_id": "x", "scorer": "labels", "check_id": "0", "score": 1.0},
        {"trial_id": "x", "scorer": "labels", "check_id": "rater:ann", "score": 1.0, "required": False},
        {"trial_id": "x", "scorer": "labels", "check_id": "rater:bob", "score": 0.0, "required": False},
    ]
    found = label_ratings(trials, scores_of(said)).collect()
    assert found.select("rater", "passed").sort("rater").rows() == [
        ("labels:ann", True),
        ("labels:bob", False),
    ]
