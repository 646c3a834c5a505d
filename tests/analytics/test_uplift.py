from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.uplift import uplift, uplift_by_case

Arms = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Spec = Callable[..., AnalysisSpec]

WITH = [[0.9], [0.8], [1.0], [0.6], [0.7], [1.0], [0.5], [0.9], [0.8], [0.4]]
WITHOUT = [[0.8], [0.8], [0.9], [0.5], [0.7], [0.9], [0.5], [0.7], [0.8], [0.3]]


def only(frames: tuple[pl.LazyFrame, pl.LazyFrame], spec: AnalysisSpec) -> dict[str, Any]:
    """Give the only comparison."""
    return uplift(*frames, spec=spec).collect().row(0, named=True)


def cases(frames: tuple[pl.LazyFrame, pl.LazyFrame], spec: AnalysisSpec) -> list[dict[str, Any]]:
    """Give the cases of all comparisons."""
    return uplift_by_case(*frames, spec=spec).collect().to_dicts()


def test_the_worked_pairs(arms: Arms, spec: Spec) -> None:
    """Paired over tasks: 0.07 [0.021717, 0.118283], exact p 0.03125, on ten cases of one repeat."""
    row = only(arms(with_skill=WITH, without_skill=WITHOUT), spec())
    assert row["uplift"] == pytest.approx(0.07)
    assert row["uplift_low"] == pytest.approx(0.021717, abs=1e-6)
    assert row["uplift_high"] == pytest.approx(0.118283, abs=1e-6)
    assert row["ci_method"] == "paired t over 10 cases, 9 df, level 0.95"
    assert (row["p_value"], row["p_method"]) == (0.03125, "sign flips, exact")
    assert (row["n_cases"], row["n_wins"], row["n_ties"], row["n_losses"], row["n_repeats"]) == (
        10,
        6,
        4,
        0,
        1,
    )
    assert (row["score_candidate"], row["score_baseline"]) == (pytest.approx(0.76), pytest.approx(0.69))
    assert row["finding"] == "helps"


def test_the_direction_is_named_by_role(arms: Arms, spec: Spec) -> None:
    """With the roles exchanged every difference changes its sign, and the skill harms."""
    row = only(arms(with_skill=WITHOUT, without_skill=WITH), spec())
    assert (row["uplift"], row["uplift_low"]) == (pytest.approx(-0.07), pytest.approx(-0.118283, abs=1e-6))
    assert (row["n_wins"], row["n_losses"], row["finding"]) == (0, 6, "harms")


def test_the_worked_gain(arms: Arms, spec: Spec) -> None:
    """From 0.55 to 0.70 a third of what was left is gained; of a full score nothing is left."""
    row = only(arms(with_skill=[[0.7], [0.7]], without_skill=[[0.5], [0.6]]), spec())
    assert row["gain"] == pytest.approx(1 / 3)
    full = only(arms(with_skill=[[1.0]], without_skill=[[1.0]]), spec())
    assert (full["gain"], full["finding"]) == (None, "no_uplift")


def test_repeats_are_averaged_before_cases_are(arms: Arms, spec: Spec) -> None:
    """The case is what is sampled: its repeats give one difference, however many they are."""
    row = only(arms(with_skill=[[1.0, 0.0, 1.0, 1.0], [1.0]], without_skill=[[0.5], [0.0]]), spec())
    assert row["uplift"] == pytest.approx((0.25 + 1.0) / 2)
    assert (row["n_cases"], row["n_repeats"]) == (2, 4)
    assert row["passed_uplift"] == pytest.approx((0.75 + 1.0) / 2)


def test_equal_differences_have_no_interval(arms: Arms, spec: Spec) -> None:
    """An interval is never a point: where all differences agree it is null and the reason is said."""
    row = only(arms(with_skill=[[1.0]] * 6, without_skill=[[0.0]] * 6), spec())
    assert (row["uplift"], row["uplift_low"], row["uplift_high"]) == (1.0, None, None)
    assert row["ci_method"] == "no interval: the difference is the same on all 6 cases"
    assert (row["p_value"], row["finding"]) == (0.03125, "helps")


def test_one_case_shows_nothing(arms: Arms, spec: Spec) -> None:
    """A single case has a difference, no interval, p = 1, and no conclusion."""
    row = only(arms(with_skill=[[1.0]], without_skill=[[0.0]]), spec())
    assert (row["uplift"], row["uplift_low"], row["p_value"]) == (1.0, None, 1.0)
    assert row["ci_method"] == "no interval: only one case has a score in both arms"
    assert row["finding"] == "inconclusive"


def test_few_cases_are_inconclusive_however_clear(arms: Arms, spec: Spec) -> None:
    """An interval beside zero is not enough: four cases could have gone so by chance."""
    row = only(arms(with_skill=[[1.0]] * 4, without_skill=[[0.4], [0.5], [0.5], [0.6]]), spec())
    assert row["uplift_low"] > 0
    assert (row["p_value"], row["finding"]) == (0.125, "inconclusive")


def test_an_interval_close_around_zero_is_no_uplift(arms: Arms, spec: Spec) -> None:
    """What can only be negligible is called no uplift, and what may be more is not."""
    near = [[0.5 + 0.02 * (-1) ** i] for i in range(12)]
    far = [[0.5 + 0.3 * (-1) ** i] for i in range(12)]
    baseline = [[0.5]] * 12
    assert only(arms(with_skill=near, without_skill=baseline), spec())["finding"] == "no_uplift"
    assert only(arms(with_skill=far, without_skill=baseline), spec())["finding"] == "inconclusive"


def test_a_single_arm_gives_no_difference(arms: Arms, spec: Spec) -> None:
    """Without a baseline there is nothing to add to."""
    assert uplift(*arms(with_skill=WITH), spec=spec()).collect().is_empty()
    assert uplift(*arms(without_skill=WITH), spec=spec()).collect().is_empty()
    assert uplift(*arms(direct=WITH), spec=spec()).collect().is_empty()


def test_the_old_edition_is_a_baseline_of_its_own(arms: Arms, spec: Spec) -> None:
    """With both baselines each gives a row, and the version is that of the candidate."""
    editions = {"with_skill": {"skill_version": "2"}, "old_skill": {"skill_version": "1"}}
    found = uplift(
        *arms(editions, with_skill=[[1.0]], without_skill=[[0.0]], old_skill=[[0.5]]), spec=spec()
    ).collect()
    assert found.select("baseline", "skill_version", "baseline_version", "uplift").rows() == [
        ("old_skill", "2", "1", 0.5),
        ("without_skill", "2", "-", 1.0),
    ]


def test_c60_a_pair_with_an_outage_is_left_out_and_listed(arms: Arms, spec: Spec) -> None:
    """A case whose model could not answer in one arm is no win of the other arm; it is listed with its reason."""
    frames = arms(with_skill=[[1.0], ["provider_error"], [1.0]], without_skill=[[0.0], [1.0], [None]])
    row = only(frames, spec())
    assert (row["n_cases"], row["uplift"], row["n_left_out"]) == (1, 1.0, 2)
    assert (row["n_left_out_errors"], row["n_left_out_ungraded"], row["n_not_tried"]) == (1, 1, 0)
    assert (row["n_errors_candidate"], row["n_errors_baseline"]) == (1, 0)
    assert [case["left_out"] for case in cases(frames, spec())] == [
        None,
        "errors with the skill",
        "ungraded in the baseline",
    ]


def test_a_case_that_one_arm_never_tried_is_left_out(arms: Arms, spec: Spec) -> None:
    """An interrupted run compares what both arms have."""
    frames = arms(with_skill=[[1.0], [1.0]], without_skill=[[0.0]])
    row = only(frames, spec())
    assert (row["n_cases"], row["n_not_tried"]) == (1, 1)
    assert cases(frames, spec())[1]["left_out"] == "not tried in the baseline"


def test_nothing_graded_is_ungraded(arms: Arms, spec: Spec) -> None:
    """Where no case has a score in both arms every figure is null."""
    row = only(arms(with_skill=[["provider_error"]], without_skill=[[1.0]]), spec())
    assert (row["finding"], row["uplift"], row["p_value"], row["n_cases"]) == ("ungraded", None, None, 0)
    assert row["ci_method"] == "no interval: no case has a score in both arms"


def test_a_timeout_scores_0_and_is_counted(arms: Arms, spec: Spec) -> None:
    """What broke by the skill's fault is a failure, as in every rate, and is told."""
    row = only(arms(with_skill=[["timeout"]], without_skill=[[1.0]]), spec())
    assert (row["uplift"], row["n_broken_candidate"], row["n_errors_candidate"]) == (-1.0, 1, 0)


def test_costs_are_paired_and_of_completed_attempts(arms: Arms, spec: Spec) -> None:
    """Tokens, seconds and money stand in both arms with their difference and ratio; broken attempts stay out."""
    columns = {
        "with_skill": {"total_tokens": 300, "latency_ms": 1500.0, "cost_usd": 0.004},
        "without_skill": {"input_tokens": 60, "output_tokens": 40, "latency_ms": 500.0},
    }
    row = only(arms(columns, with_skill=[[1.0], ["timeout"]], without_skill=[[1.0], [1.0]]), spec())
    tokens = [row[f"tokens_{part}"] for part in ("candidate", "baseline", "difference", "ratio")]
    assert tokens == [300.0, 100.0, 200.0, 3.0]
    assert (row["seconds_difference"], row["seconds_ratio"], row["n_seconds"]) == (1.0, 3.0, 1)
    assert (row["usd_candidate"], row["usd_difference"], row["usd_ratio"]) == (None, None, None)


def test_latencies_of_reused_attempts_stay_out_unless_asked_for(arms: Arms, spec: Spec) -> None:
    """A baseline that was taken over had another load; its tokens are what they are."""
    columns = {
        "with_skill": {"latency_ms": 900.0, "total_tokens": 5},
        "without_skill": {"latency_ms": 400.0, "total_tokens": 2, "reused_from": "earlier"},
    }
    frames = arms(columns, with_skill=[[1.0]], without_skill=[[1.0]])
    row = only(frames, spec())
    assert (row["seconds_difference"], row["tokens_difference"]) == (None, 3.0)
    assert only(frames, spec(reused_latency=True))["seconds_difference"] == 0.5


def test_flaky_cases_are_flagged_in_their_arm(arms: Arms, spec: Spec) -> None:
    """A case that passes only sometimes says in which arm."""
    (case,) = cases(arms(with_skill=[[1.0, 1.0]], without_skill=[[1.0, 0.0]]), spec())
    assert (case["is_flaky_candidate"], case["is_flaky_baseline"], case["outcome"]) == (False, True, "better")


def test_the_order_of_rows_is_irrelevant(arms: Arms, spec: Spec) -> None:
    """The same rows backwards give the same comparison."""
    trials, scores = arms(with_skill=WITH, without_skill=WITHOUT)
    backwards = trials.reverse(), scores.reverse()
    found, expected = (uplift(*one, spec=spec()).collect() for one in (backwards, (trials, scores)))
    assert_frame_equal(found, expected)


def test_c59_the_uplift_without_assertions_that_always_pass(
    trials_of: Callable[..., pl.LazyFrame], scores_of: Callable[..., pl.LazyFrame], spec: Spec
) -> None:
    """An assertion that passes in both arms flatters nobody: the uplift of the others stands beside."""
    modes = {"with_skill": {"a1": 1.0, "a2": 1.0}, "without_skill": {"a1": 1.0, "a2": 0.0}}
    trials = trials_of([{"trial_id": mode, "task_id": "t", "mode": mode} for mode in modes])
    scores = scores_of(
        [
            {"trial_id": mode, "check_id": check, "score": score}
            for mode, checks in modes.items()
            for check, score in checks.items()
        ]
    )
    row = only((trials, scores), spec())
    assert (row["uplift"], row["uplift_discriminating"]) == (0.5, 1.0)
    assert (row["n_checks"], row["n_always_pass"]) == (2, 1)
