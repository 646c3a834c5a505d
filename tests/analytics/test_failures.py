from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.failures import causes, failed_trials, task_matrix

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Build = Callable[[list[dict[str, Any]]], pl.LazyFrame]


def test_only_what_did_not_pass_is_listed(grid: Grid) -> None:
    """Wrong, broken, spoiled and ungraded trials are listed with status and verdict; passed ones are not."""
    found = failed_trials(*grid([[1, 0], ["timeout", None], ["provider_error", 1]]), 100).collect()
    assert found.select("task_id", "repeat", "status", "verdict").rows() == [
        ("t000", 1, "completed", "failed"),
        ("t001", 0, "timeout", "failed"),
        ("t001", 1, "completed", "ungraded"),
        ("t002", 0, "provider_error", "ungraded"),
    ]


def test_a_failure_carries_what_explains_it(trials_of: Build, scores_of: Build) -> None:
    """Reasons of the checks that did not pass stand in check order, each behind its check, beside what was asked."""
    trials = trials_of(
        [
            {
                "task_id": "t",
                "trial_id": "x",
                "input": "[1]",
                "expected": "[2]",
                "output": "3",
                "stdout": "so",
                "stderr": "oh",
            }
        ]
    )
    checks: list[dict[str, Any]] = [
        {"check_id": "c", "check": "", "score": None, "reason": "judge is out"},
        {"check_id": "a", "check": "says 2", "score": 0.0, "reason": "wrong", "evidence": "3"},
        {"check_id": "b", "score": 1.0, "reason": "fine", "evidence": "!"},
        {"check_id": "d", "score": 0.0, "reason": "", "evidence": ""},
    ]
    row = failed_trials(trials, scores_of([{"trial_id": "x"} | check for check in checks]), 1).collect()
    names = ["reason", "evidence", "input", "expected", "output", "stdout", "stderr"]
    assert row.select(names).row(0) == ("says 2: wrong\njudge is out", "3", "[1]", "[2]", "3", "so", "oh")


def test_a_limit_is_shared_out_and_the_whole_number_told(grid: Grid) -> None:
    """A skill that fails everywhere does not crowd out the one failure of another."""
    loud = grid([[0]] * 9, skill_id="a-loud", condition_id="c1")
    quiet = grid([[0], [1]], skill_id="b-quiet", condition_id="c2")
    trials, scores = (pl.concat(parts) for parts in zip(loud, quiet, strict=True))
    found = failed_trials(trials, scores, 3).collect()
    assert found.select("skill_id", "task_id", "n_failures").rows() == [
        ("a-loud", "t000", 10),
        ("a-loud", "t001", 10),
        ("b-quiet", "t000", 10),
    ]


def test_the_first_failure_of_each_task_comes_before_any_second_one(grid: Grid) -> None:
    """Repeats of the first tasks do not use up what is shown: every failing task is there before one is there twice."""
    trials, scores = grid([[0, 0, 0, 0, 0]] * 4)
    found = failed_trials(trials, scores, 6).collect()
    assert found.select("task_id", "repeat").rows() == [
        ("t000", 0),
        ("t000", 1),
        ("t001", 0),
        ("t001", 1),
        ("t002", 0),
        ("t003", 0),
    ]


def test_nothing_failed_gives_an_empty_list_with_its_columns(grid: Grid) -> None:
    """A clean run has no failures, and readers still find every column."""
    clean, dirty = (failed_trials(*grid([[cell]]), 5).collect() for cell in (1, 0))
    assert (clean.height, clean.schema) == (0, dirty.schema)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, 0, 1], (3, 3, 2, 2 / 3, True)),
        ([1, 1], (2, 2, 2, 1.0, False)),
        ([0, "timeout"], (2, 2, 0, 0.0, False)),
        ([1, "skill_error"], (2, 2, 1, 0.5, True)),
        ([1, "provider_error"], (2, 1, 1, 1.0, None)),
        ([None], (1, 0, 0, None, None)),
    ],
)
def test_a_cell_of_the_matrix(grid: Grid, cells: list[object], expected: tuple[object, ...]) -> None:
    """Each task shows its trials, verdicts, passes, rate and whether it is flaky, null where not known."""
    found = task_matrix(*grid([cells])).collect()
    assert found.select("n", "n_graded", "n_passed", "rate", "is_flaky").row(0) == expected


def test_the_matrix_has_a_row_for_each_task(grid: Grid) -> None:
    """Tasks appear once a condition and scorer, in order."""
    found = task_matrix(*grid([[1], [0], [1]])).collect()
    assert found.select("skill_id", "scorer", "task_id", "rate").rows() == [
        ("s", "exact", "t000", 1.0),
        ("s", "exact", "t001", 0.0),
        ("s", "exact", "t002", 1.0),
    ]


def test_causes_are_counted_over_all_trials_not_the_shown_ones(trials_of: Build, scores_of: Build) -> None:
    """What broke comes first, then the commonest; the limit of shown trials changes no count."""
    told: dict[str, dict[str, Any]] = {
        "a": {"status": "skill_error", "failure_kind": "no_reply", "message": "nothing\n came"},
        "b": {"status": "provider_error", "message": "down"},
        "c": {"status": "timeout", "failure_kind": "timeout"},
        "d": {},
        "e": {},
    }
    rows: list[dict[str, Any]] = [
        {"task_id": name, "repeat": i, "trial_id": f"{name}{i}"} | columns
        for name, columns in told.items()
        for i in range({"a": 3, "b": 2, "c": 1, "d": 9, "e": 1}[name])
    ]
    reasons = {"a": "skill_error: nothing\n came", "d": "expected 4, found 5", "e": "judge is out"}
    scores = [
        {
            "trial_id": row["trial_id"],
            "score": None if row["task_id"] in "be" else 0.0,
            "reason": reasons.get(row["task_id"], ""),
        }
        for row in rows
    ]
    trials, judged = trials_of(rows), scores_of(scores)
    expected = [
        ("no_reply", "nothing came", 3),
        ("provider_error", "down", 2),
        ("timeout", "", 1),
        ("ungraded", "judge is out", 1),
        ("failed", "expected 4, found 5", 9),
    ]
    assert causes(trials, judged).select("kind", "text", "n").collect().rows() == expected
    shown = failed_trials(trials, judged, 1).collect()
    assert [tuple(cause.values()) for cause in shown["causes"][0]] == expected[:3]


def test_each_skill_has_its_own_causes(grid: Grid) -> None:
    """A cause is counted under the condition and scorer it belongs to."""
    parts = [grid([["timeout"]], skill_id=name, condition_id=name) for name in ("a", "b")]
    trials, scores = (pl.concat(frames) for frames in zip(*parts, strict=True))
    assert causes(trials, scores).select("condition_id", "kind", "n").collect().rows() == [
        ("a", "timeout", 1),
        ("b", "timeout", 1),
    ]


def test_a_run_without_scores_still_tells_its_causes(trials_of: Build, scores_of: Build) -> None:
    """Where no scorer came to judge, the trials and what broke are listed all the same."""
    trials = trials_of([{"task_id": "t", "status": "sandbox_error", "message": "no room"}])
    (row,) = failed_trials(trials, scores_of([]), 5).collect().to_dicts()
    assert row["causes"] == [{"kind": "sandbox_error", "text": "no room", "n": 1}]


def test_outcomes_have_a_letter_a_repeat_in_their_order(grid: Grid) -> None:
    """Passed, failed, did not complete, ungraded; however the rows come."""
    trials, scores = grid([[1, 0, "timeout", None, "provider_error"]])
    for rows in (trials, trials.sort("repeat", descending=True)):
        assert task_matrix(rows, scores).collect()["outcomes"].to_list() == ["pfeue"]


def test_outcomes_end_at_the_64th_repeat(grid: Grid) -> None:
    """The number of trials says that there were more."""
    row = task_matrix(*grid([[1] * 70])).collect().row(0, named=True)
    assert (row["outcomes"], row["n"]) == ("p" * 64, 70)


@pytest.mark.parametrize("seed", range(4))
def test_repeats_of_pooled_runs_have_one_order(trials_of: Build, scores_of: Build, seed: int) -> None:
    """Repeats with one number come by their run, whatever the order of the rows."""
    names = [(f"run-{i}", f"trial-{i}", float(i % 2)) for i in range(6)]
    trials = trials_of(
        [{"task_id": "t", "run_id": run, "trial_id": name, "repeat": 0} for run, name, _ in names]
    )
    scores = scores_of([{"run_id": run, "trial_id": name, "score": score} for run, name, score in names])
    shuffled = trials.collect().sample(fraction=1.0, shuffle=True, seed=seed).lazy()
    assert task_matrix(shuffled, scores).collect()["outcomes"].to_list() == ["fpfpfp"]
