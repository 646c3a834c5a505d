from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from skilleval.analytics.flips import check_pairs, check_results, flips
from skilleval.analytics.regression import condition_pairs
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.task_pairs import task_pairs
from skilleval.analytics.task_results import task_results

Frames = tuple[pl.LazyFrame, pl.LazyFrame]
Frame = Callable[[Sequence[Mapping[str, Any]]], pl.LazyFrame]
Grid = Callable[..., Frames]
Spec = Callable[..., AnalysisSpec]


def found(before: Frames, after: Frames, spec: AnalysisSpec) -> list[dict[str, Any]]:
    """Give the flips between two runs of one skill."""
    sides = [task_results(*frames, spec=spec) for frames in (before, after)]
    checks = [check_results(*frames) for frames in (before, after)]
    pairs = condition_pairs(*sides)
    return flips(task_pairs(pairs, *sides), check_pairs(pairs, *checks)).collect().to_dicts()


def kinds(before: Frames, after: Frames, spec: AnalysisSpec) -> dict[str, str]:
    """Give the flip of each task."""
    return {row["task_id"]: row["flip"] for row in found(before, after, spec) if row["check_id"] is None}


def test_what_always_passed_and_never_does_is_broken(grid: Grid, spec: Spec) -> None:
    """Broken and fixed ask for all repeats; what changed in part of them is flaky, and which way is said."""
    before = grid([[1, 1], [0, 0], [1, 1], [0, 0], [1, 0]])
    after = grid([[0, 0], [1, 1], [1, 0], [0, 1], [0, 1]])
    assert kinds(before, after, spec()) == {
        "t000": "broken",
        "t001": "fixed",
        "t002": "flaky, worse",
        "t003": "flaky, better",
    }


def test_a_run_and_itself_have_no_flip(grid: Grid, spec: Spec) -> None:
    """Nothing ended otherwise, flaky tasks included."""
    frames = grid([[1, 0], [1, 1], [0, 0]])
    assert found(frames, frames, spec()) == []


def test_a_task_without_a_verdict_has_not_flipped(grid: Grid, spec: Spec) -> None:
    """Ungraded is not broken."""
    assert found(grid([[1], [1]]), grid([[None], ["provider_error"]]), spec()) == []


def assertions(trials_of: Frame, scores_of: Frame, case: Mapping[str, Mapping[str, bool]]) -> Frames:
    """Give a run of tasks, each with named assertions that passed or failed."""
    trials = trials_of([{"skill_id": "s", "task_id": task} for task in case])
    scores: list[dict[str, Any]] = [
        {"trial_id": f"s/{task}/0", "check_id": name, "check": name, "score": float(ok), "reason": "no"}
        for task, checks in case.items()
        for name, ok in checks.items()
    ]
    return trials, scores_of(scores)


def test_c43_one_assertion_broke_while_another_was_fixed(
    trials_of: Frame, scores_of: Frame, spec: Spec, case: Callable[[str], Any]
) -> None:
    """The case fails before and after: its checks tell that A broke and B was fixed."""
    given = case("C43")
    runs = [assertions(trials_of, scores_of, given[side]) for side in ("before", "after")]
    said = [
        (row["task_id"], row["check"], row["flip"], row["why"]) for row in found(runs[0], runs[1], spec())
    ]
    assert said == [("case1", "A", "broken", "no"), ("case1", "B", "fixed", None)]


def test_the_only_check_of_a_task_is_its_task(trials_of: Frame, scores_of: Frame, spec: Spec) -> None:
    """It is not told twice; why it failed is said of the task."""
    runs = [assertions(trials_of, scores_of, {"t": {"A": ok}}) for ok in (True, False)]
    (row,) = found(runs[0], runs[1], spec())
    assert (row["task_id"], row["check_id"], row["flip"], row["why"]) == ("t", None, "broken", "no")


def test_what_broke_says_why(trials_of: Frame, scores_of: Frame, spec: Spec) -> None:
    """A trial that timed out tells that, and has no check to tell of."""
    right = assertions(trials_of, scores_of, {"t": {"A": True, "B": True}})
    late = {
        "skill_id": "s",
        "task_id": "t",
        "status": "timeout",
        "failure_kind": "timeout",
        "message": "after 3 s",
    }
    (row,) = found(right, (trials_of([late]), right[1]), spec())
    assert (row["flip"], row["why"], row["check_id"]) == ("broken", "timeout: after 3 s", None)
