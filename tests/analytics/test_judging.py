from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.judging import judge_errors, judge_remarks, judge_spend
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.summary import summary

Frame = Callable[[Sequence[Mapping[str, Any]]], pl.LazyFrame]


def test_spend_is_summed_a_judge_and_a_scorer(judgements_of: Frame) -> None:
    """Calls, failures, tokens, money and time of each judge; what no call reported is null, not 0."""
    known = {"input_tokens": 100, "output_tokens": 20, "cost_usd": 0.5, "latency_ms": 250.0}
    found = judge_spend(
        judgements_of(
            [
                {"model": "strict", **known},
                {"model": "strict", "failure_kind": "no_json", **known},
                {"model": "other", "latency_ms": 10.0},
            ]
        )
    ).collect()
    other, strict = found.to_dicts()
    assert (strict["n_calls"], strict["n_failed"], strict["n_usage"], strict["n_cost"]) == (2, 1, 2, 2)
    assert (strict["input_tokens"], strict["output_tokens"]) == (200, 40)
    assert (strict["cost_usd"], strict["latency_ms"]) == (1.0, 500.0)
    assert (other["model"], other["input_tokens"], other["cost_usd"], other["n_cost"]) == (
        "other",
        None,
        None,
        0,
    )


def test_c07_an_outage_of_the_judge_is_counted_and_in_no_denominator(
    trials_of: Frame, scores_of: Frame, spec: Callable[..., AnalysisSpec]
) -> None:
    """Four tasks without a judge are four judge errors and no failure; their rate is not known."""
    trials = trials_of([{"task_id": f"t{i}"} for i in range(4)])
    scores = scores_of(
        [
            {"trial_id": f"None/t{i}/0", "check_id": check, "score": None, "failure_kind": "judge_error"}
            for i in range(4)
            for check in ("a1", "a2")
        ]
    )
    assert judge_errors(trials, scores).collect()["n_judge_errors"].to_list() == [4]
    row = summary(trials, scores, spec=spec()).collect().row(0, named=True)
    assert (row["n_graded"], row["n_failed"], row["n_ungraded"], row["completion_rate"]) == (0, 0, 4, None)


def test_without_judge_errors_there_is_no_row(trials_of: Frame, scores_of: Frame) -> None:
    """A check that is ungraded for another reason is no error of the judge."""
    trials, scores = trials_of([{"task_id": "t"}]), scores_of([{"trial_id": "None/t/0", "score": None}])
    assert judge_errors(trials, scores).collect().is_empty()


@pytest.mark.parametrize(("judge", "is_own"), [("m", True), ("another", False)])
def test_a_model_that_judges_itself_is_told(
    trials_of: Frame, scores_of: Frame, judgements_of: Frame, judge: str, *, is_own: bool
) -> None:
    """The judge's name is held against that of the model that answered."""
    trials = trials_of([{"trial_id": "x", "task_id": "t", "model": "m", "mode": "with_skill"}])
    scores = scores_of([{"trial_id": "x", "score": 1.0}])
    found = judge_remarks(trials, scores, judgements_of([{"trial_id": "x", "model": judge}])).collect()
    assert found["is_self_judged"].to_list() == ([True] if is_own else [])


def test_unfounded_evidence_and_judge_errors_are_counted(
    trials_of: Frame, scores_of: Frame, judgements_of: Frame
) -> None:
    """Verdicts with evidence that nobody wrote are counted by checks, judge errors by trials."""
    trials = trials_of([{"trial_id": "x", "task_id": "t"}])
    unfounded: dict[str, Any] = {"score": 1.0, "reason": "evidence not found in the output"}
    failed: dict[str, Any] = {"score": None, "failure_kind": "judge_error"}
    scores = scores_of(
        [{"trial_id": "x", "check_id": f"a{i}", **one} for i, one in enumerate([unfounded, failed, failed])]
    )
    row = judge_remarks(trials, scores, judgements_of([])).collect().row(0, named=True)
    assert (row["n_judge_errors"], row["n_evidence_not_found"], row["is_self_judged"]) == (1, 1, False)
