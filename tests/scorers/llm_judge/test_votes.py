"""Several rulings: the majority of all that were asked for decides, and disagreement is told."""

from __future__ import annotations

import json

import pytest
from scripted_judges import ScriptedJudge, asserting, found, graded, results, verdict

from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict

YES, NO = results(verdict("a1")), results(verdict("a1", passed=False))


@pytest.mark.parametrize(
    ("replies", "expected", "agreement"),
    [
        ((YES, YES, YES), Verdict.PASSED, "agreement 1.00: 3 of 3"),
        ((YES, NO, YES), Verdict.PASSED, "agreement 0.67: 2 of 3"),
        ((NO, NO, YES), Verdict.FAILED, "agreement 0.67: 1 of 3"),
    ],
)
def test_the_majority_of_repeats_decides(replies: tuple[str, ...], expected: Verdict, agreement: str) -> None:
    """Each repeat is a call of its own with a seed of its own, and how far they agree stands in the reason."""
    judge = ScriptedJudge(*replies)
    (one,) = found(asserting("A"), judge, repeats=3)
    assert one.verdict is expected
    assert agreement in one.reason
    assert [request.seed for request in judge.asked] == [7, 8, 9]
    assert len(one.judgements) == 3


def test_a_judge_that_contradicts_itself_decides_nothing() -> None:
    """As many verdicts for as against leave the assertion ungraded."""
    (one,) = found(asserting("A"), ScriptedJudge(YES, NO), repeats=2)
    assert (one.verdict, one.failure_kind) == (Verdict.UNGRADED, "judges_disagree")
    assert one.reason == "the judge disagrees with itself (agreement 0.50: 1 of 2 verdicts say passed)"


def test_two_judges_that_disagree_pass_nothing() -> None:
    """A tie of two judges is ungraded and says so; two that agree decide."""
    first = ScriptedJudge(YES)
    (torn,) = found(asserting("A"), first, ScriptedJudge(NO, model="judge-2"))
    assert (torn.verdict, torn.score) == (Verdict.UNGRADED, None)
    assert torn.reason.startswith("judges disagree")
    assert [call.model for call in torn.judgements] == ["judge-1", "judge-2"]
    (agreed,) = found(asserting("A"), first, ScriptedJudge(YES, model="judge-2"))
    assert (agreed.verdict, agreed.reason) == (
        Verdict.PASSED,
        "agreement 1.00: 2 of 2 verdicts say passed",
    )


def test_a_silent_second_judge_leaves_the_first_without_a_majority() -> None:
    """One verdict of two that were asked for is none; two of three are enough, and what is missing is told."""
    (one,) = found(asserting("A"), ScriptedJudge(YES), ScriptedJudge(Status.TIMEOUT, model="judge-2"))
    assert (one.verdict, one.failure_kind) == (Verdict.UNGRADED, "judge_error")
    assert "judge-2: http_500: HTTP 500" in one.reason
    (other,) = found(asserting("A"), ScriptedJudge(YES, Status.TIMEOUT, YES), repeats=3)
    assert other.verdict is Verdict.PASSED
    assert "1 of 3 verdicts missing" in other.reason


def test_a_swapped_order_is_asked_beside_the_first() -> None:
    """With `swap_order` the assertions are also shown in reverse order; a verdict that changes with it is none."""
    both = results(verdict("a1"), verdict("a2"))
    other = results(verdict("a1"), verdict("a2", passed=False))
    judge = ScriptedJudge(both, other)
    one, two = found(asserting("first", "second"), judge, swap_order=True)
    assert (one.verdict, two.verdict) == (Verdict.PASSED, Verdict.UNGRADED)
    assert [call.purpose for call in one.judgements] == ["assertions", "assertions:swapped"]
    shown = [request.user.index("first") < request.user.index("second") for request in judge.asked]
    assert shown == [True, False]


def test_the_grade_of_a_rubric_is_the_mean() -> None:
    """Repeats of a rubric are averaged, and how far their verdicts agree is told."""
    (one,) = found(graded({"judgePrompt": "Be kind."}), ScriptedJudge("10", "4", "7"), repeats=3)
    assert one.score == pytest.approx(0.7)
    assert "agreement 0.67: 2 of 3" in one.reason


def test_judges_on_both_sides_of_the_limit_decide_nothing() -> None:
    """Where one judge passes and the other fails an output, their mean is no verdict."""
    seen = graded({"judgePrompt": "Be kind."})
    (one,) = found(seen, ScriptedJudge("10"), ScriptedJudge("4", model="judge-2"))
    assert (one.verdict, one.failure_kind) == (Verdict.UNGRADED, "judges_disagree")
    (two,) = found(seen, ScriptedJudge("10"), ScriptedJudge("6", model="judge-2"))
    assert two.score == pytest.approx(0.8)


def test_a_rubric_is_swapped_by_showing_its_parts_in_reverse_order() -> None:
    """The reference comes before the output in one call and behind it in the other."""
    judge = ScriptedJudge(json.dumps({"score": 8}))
    found(graded({"judgePrompt": "Be kind.", "value": 0}), judge, swap_order=True)
    order = [
        user.index("[BEGIN expected") < user.index("[BEGIN output") for user in (r.user for r in judge.asked)
    ]
    assert order == [True, False]
