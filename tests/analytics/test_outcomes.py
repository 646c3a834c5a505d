from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.outcomes import CONDITION_KEYS, conditions, trial_outcomes, with_counted_latency
from skilleval.analytics.spec import AnalysisSpec

Build = Callable[[list[dict[str, Any]]], pl.LazyFrame]
Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Spec = Callable[..., AnalysisSpec]

YES: dict[str, Any] = {"passed": True, "score": 1.0}
NO: dict[str, Any] = {"passed": False, "score": 0.25}
DONT_KNOW: dict[str, Any] = {"passed": None, "score": None}
OPTIONAL: dict[str, Any] = {"required": False}


def _outcome(
    trials_of: Build, scores_of: Build, checks: list[dict[str, Any]], status: str = "completed"
) -> dict[str, Any]:
    trials = trials_of([{"task_id": "t", "trial_id": "x", "status": status}])
    scores = scores_of([{"trial_id": "x", "check_id": str(i)} | check for i, check in enumerate(checks)])
    return trial_outcomes(trials, scores).collect().row(0, named=True)


@pytest.mark.parametrize(
    ("checks", "verdict", "score"),
    [
        ([YES], "passed", 1.0),
        ([NO], "failed", 0.25),
        ([YES, NO], "failed", 0.625),
        ([YES | {"weight": 3.0}, NO], "failed", 0.8125),
        ([YES, NO | OPTIONAL], "passed", 0.625),
        ([YES, DONT_KNOW], "ungraded", None),
        ([NO, DONT_KNOW], "failed", None),
        ([YES, DONT_KNOW | OPTIONAL], "passed", 1.0),
        ([DONT_KNOW], "ungraded", None),
        ([YES | OPTIONAL], "ungraded", None),
        ([YES | {"weight": 0.0}], "passed", None),
        ([NO | {"score": math.nan}], "failed", None),
    ],
)
def test_checks_combine_into_one_verdict_and_score(
    trials_of: Build, scores_of: Build, checks: list[dict[str, Any]], verdict: str, score: float | None
) -> None:
    """Required checks decide the verdict, weights the score; what is not known stays null and is never 0 or NaN."""
    outcome = _outcome(trials_of, scores_of, checks)
    assert (outcome["verdict"], outcome["score"]) == (verdict, score)


@pytest.mark.parametrize("status", ["timeout", "skill_error"])
def test_a_broken_trial_has_failed_whatever_its_checks_say(
    trials_of: Build, scores_of: Build, status: str
) -> None:
    """A time-out or an error of the skill is a failure with score 0."""
    outcome = _outcome(trials_of, scores_of, [YES], status=status)
    assert (outcome["passed"], outcome["score"], outcome["graded"]) == (False, 0.0, True)


@pytest.mark.parametrize("status", ["provider_error", "sandbox_error", "unsupported", "blocked"])
def test_a_spoiled_trial_is_ungraded_whatever_its_checks_say(
    trials_of: Build, scores_of: Build, status: str
) -> None:
    """Where the infrastructure failed, the skill is neither right nor wrong."""
    outcome = _outcome(trials_of, scores_of, [YES], status=status)
    assert (outcome["passed"], outcome["score"], outcome["is_infrastructure"]) == (None, None, True)


def test_a_trial_without_score_rows_is_ungraded_and_kept(trials_of: Build, scores_of: Build) -> None:
    """A scorer of the run that says nothing of a trial leaves it ungraded; it does not vanish."""
    trials = trials_of([{"task_id": "a", "trial_id": "a"}, {"task_id": "b", "trial_id": "b"}])
    outcomes = trial_outcomes(trials, scores_of([{"trial_id": "a"} | YES])).collect().sort("task_id")
    assert outcomes["verdict"].to_list() == ["passed", "ungraded"]
    assert outcomes["scorer"].to_list() == ["exact", "exact"]


def test_a_run_that_was_never_scored_keeps_its_trials(trials_of: Build, scores_of: Build) -> None:
    """Without any score the scorer is null and every trial is ungraded."""
    outcomes = trial_outcomes(trials_of([{"task_id": "a"}]), scores_of([])).collect()
    assert outcomes.select("scorer", "verdict").rows() == [(None, "ungraded")]


def test_each_scorer_judges_each_trial_of_its_own_run(trials_of: Build, scores_of: Build) -> None:
    """Two scorers give two rows a trial, and a run's scorers do not judge another run's trials."""
    trials = trials_of([{"task_id": "a", "trial_id": "x"}, {"task_id": "a", "trial_id": "x", "run_id": "q"}])
    scores = scores_of(
        [
            {"trial_id": "x", "scorer": "exact"} | YES,
            {"trial_id": "x", "scorer": "contains"} | NO,
            {"trial_id": "x", "run_id": "q"} | NO,
        ]
    )
    outcomes = trial_outcomes(trials, scores).collect().sort("run_id", "scorer")
    assert outcomes.select("run_id", "scorer", "passed").rows() == [
        ("q", "exact", False),
        ("r", "contains", False),
        ("r", "exact", True),
    ]


@pytest.mark.parametrize(
    ("status", "latency_ms", "expected"),
    [
        ("completed", 12.5, 12.5),
        ("completed", None, None),
        ("skill_error", 7.0, 7.0),
        ("timeout", 5001.0, 5001.0),
        ("timeout", None, 5000.0),
        ("provider_error", 30.0, None),
    ],
)
def test_es10_a_timeout_keeps_a_latency(
    grid: Grid, spec: Spec, status: str, latency_ms: float | None, expected: float | None
) -> None:
    """What was cut off counts with its time or its limit; what the infrastructure spoiled does not count."""
    cell: object = 1 if status == "completed" else status
    outcomes = trial_outcomes(*grid([[cell]], latency_ms=latency_ms, timeout_ms=5000.0))
    counted = with_counted_latency(outcomes, spec()).collect()
    assert counted["counted_latency_ms"].to_list() == [expected]


@pytest.mark.parametrize(
    ("status", "serial_latency_ms", "expected"),
    [("completed", 5.0, 5.0), ("completed", None, None), ("skill_error", None, None), ("timeout", None, 9.0)],
)
def test_a_serial_latency_takes_the_place_of_the_other(
    grid: Grid, spec: Spec, status: str, serial_latency_ms: float | None, expected: float | None
) -> None:
    """Where the run measured one at a time, only that time counts, and the limit of a time-out."""
    cell: object = 1 if status == "completed" else status
    outcomes = trial_outcomes(*grid([[cell]], latency_ms=9.0, serial_latency_ms=serial_latency_ms))
    counted = with_counted_latency(outcomes, spec(serial_latency=True)).collect()
    assert counted["counted_latency_ms"].to_list() == [expected]


@pytest.mark.parametrize(
    ("call", "serial", "expected"),
    [
        (("timeout", 5000.0), True, (5000.0, True)),
        (("timeout", 5000.0), False, (9.0, False)),
        (("skill_error", None), True, (None, False)),
        (("completed", 4.0), True, (4.0, False)),
    ],
)
def test_a_second_call_that_timed_out_is_cut_off(
    grid: Grid, spec: Spec, call: tuple[str, float | None], serial: bool, expected: tuple[object, bool]
) -> None:
    """Its limit counts, as a lower bound, where latencies are those of the second pass."""
    rows = grid([[1]], latency_ms=9.0, serial_status=call[0], serial_latency_ms=call[1])
    counted = with_counted_latency(trial_outcomes(*rows), spec(serial_latency=serial)).collect()
    assert counted.select("counted_latency_ms", "is_censored").row(0) == expected


@pytest.mark.parametrize(("told", "expected"), [(False, None), (True, 9.0)])
def test_a_reused_latency_counts_only_if_told(
    grid: Grid, spec: Spec, told: bool, expected: float | None
) -> None:
    """What an earlier run measured, perhaps under another load, stays out of percentiles."""
    outcomes = trial_outcomes(*grid([[1]], latency_ms=9.0, reused_from="earlier"))
    counted = with_counted_latency(outcomes, spec(reused_latency=told)).collect()
    assert counted["counted_latency_ms"].to_list() == [expected]


def test_conditions_are_those_of_the_outcomes(grid: Grid) -> None:
    """They are found without joining trials and scores; a run without scores has a null scorer there too."""
    scored, unscored = grid([[1, 0], [1, 1]], skill_id="a"), grid([[1]], skill_id="b", run_id="q")
    trials = pl.concat([scored[0], unscored[0]])
    found = conditions(trials, scored[1]).sort(CONDITION_KEYS).collect()
    outcomes = trial_outcomes(trials, scored[1]).select(CONDITION_KEYS).unique()
    assert found.equals(outcomes.sort(CONDITION_KEYS).collect())
    assert set(found["scorer"]) == {None, "exact"}
