"""Rubrics: a grade on a scale or one of some labels, never bent into either."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scripted_judges import ScriptedJudge, found, graded

from skilleval.domain.scores import Verdict
from skilleval.domain.tasks import Evaluator
from skilleval.scorers.base import MISSING, Finding
from skilleval.scorers.llm_judge.reply import UnusableReplyError, rating

KIND = {"judgePrompt": "Is it kind?"}


def one(reply: str, expected: Any = None, **options: Any) -> Finding:
    """Let a judge reply to a rubric."""
    (finding,) = found(graded(expected or KIND), ScriptedJudge(reply), **options)
    return finding


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("87/100", 0.87),
        ("Score: 8", 0.8),
        ("8/10", 0.8),
        ("10", 1.0),
        ("0", 0.0),
        ("7.5", 0.75),
        ("**8 out of 10**", 0.8),
        ("```\n8\n```", 0.8),
        ("It is mostly right, but 3 points are missing.\n\nFinal score: 8/10", 0.8),
        ('{"reason": "kind enough", "score": 8}', 0.8),
        ('Sure!\n```json\n{"score": "8/10"}\n```', 0.8),
    ],
)
def test_c08_a_value_on_the_scale_is_taken(reply: str, score: float) -> None:
    """A number counts on the scale; a denominator of its own is honoured."""
    finding = one(reply)
    assert finding.score == pytest.approx(score)
    assert finding.verdict is (Verdict.PASSED if score >= 0.5 else Verdict.FAILED)


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "11",
            "-3",
            "NaN",
            "seven",
            "Infinity",
            "8,5",
            "8/0",
            "12/10",
            "7.5 because it is kind",
            "8 or 9",
            "true",
        ),
        *(
            '{"score": NaN}',
            '{"score": 11}',
            '{"score": true}',
            '{"score": null}',
            '{"score": [8]}',
            '{"grade": 8}',
        ),
        *('{"score": 1e400}', '{"score": ' + "9" * 400 + "}", '{"score": 3} or {"score": 8}'),
    ],
)
def test_c08_anything_else_is_a_judge_error(reply: str) -> None:
    """What is not on the scale, or no number, is asked about once more and then ungraded: nothing is clamped."""
    finding = one(reply)
    assert (finding.verdict, finding.score, finding.failure_kind) == (Verdict.UNGRADED, None, "judge_error")
    assert [call.purpose for call in finding.judgements] == ["rubric", "rubric:again"]


def test_a_scale_need_not_begin_at_nought() -> None:
    """On a scale from 1 to 5 a 4 is three quarters, with or without its own denominator; another one is unclear."""
    assert rating("4", (1, 5)).score == rating("4/5", (1, 5)).score == 0.75
    with pytest.raises(UnusableReplyError, match="not on the scale from 1 to 5"):
        rating("80/100", (1, 5))


def test_the_least_score_passes() -> None:
    """`min_score` is a share of the scale, and its edge passes."""
    assert one("6", min_score=0.6).verdict is Verdict.PASSED
    failed = one('{"score": 5.9, "reason": "too curt"}', min_score=0.6)
    assert (failed.verdict, failed.reason, failed.evidence) == (
        Verdict.FAILED,
        "0.59 of 1, passes from 0.6",
        "too curt",
    )


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("INCORRECT", Verdict.FAILED),
        ("CORRECT", Verdict.PASSED),
        (" **CORRECT**. ", Verdict.PASSED),
        ("Verdict: INCORRECT", Verdict.FAILED),
        ('{"reason": "x", "label": "INCORRECT"}', Verdict.FAILED),
        ("NOT CORRECT", Verdict.UNGRADED),
        ("It is CORRECT", Verdict.UNGRADED),
        ("correct", Verdict.UNGRADED),
        ("UNSURE", Verdict.UNGRADED),
        ('{"label": "CORRECTISH"}', Verdict.UNGRADED),
        ('{"label": ["CORRECT"]}', Verdict.UNGRADED),
    ],
)
def test_c06_a_label_is_the_whole_reply(reply: str, expected: Verdict) -> None:
    """A label inside a longer word or sentence is none, and an unknown one is an error of the judge."""
    finding = one(reply, {**KIND, "labels": ["CORRECT", "INCORRECT"]})
    assert finding.verdict is expected
    assert finding.failure_kind == ("judge_error" if expected is Verdict.UNGRADED else None)


def test_labels_have_the_scores_the_task_gives_them() -> None:
    """A list goes from 1 to 0 in equal steps, a mapping says the scores itself."""
    assert one("good", {**KIND, "labels": ["fine", "good", "bad"]}).score == 0.5
    assert one("good", {**KIND, "labels": {"fine": 1, "good": 0.9, "bad": 0}}).score == 0.9


@pytest.mark.parametrize(
    "labels", [[], ["one"], ["a", "a"], [1, 2], {"a": 2, "b": 0}, {"a": "x", "b": 0}, "ab"]
)
def test_labels_that_say_nothing_are_ungraded(labels: Any) -> None:
    """A choice of one, doubled labels and scores outside 0 to 1 are told, and nobody is asked."""
    judge = ScriptedJudge("a")
    (finding,) = found(graded({**KIND, "labels": labels}), judge)
    assert finding.verdict is Verdict.UNGRADED
    assert "labels" in finding.reason
    assert judge.asked == []


def test_c10_braces_mean_nothing_but_the_documented_placeholders() -> None:
    """`{output}` is put in once and never read again; all other braces stay as they are."""
    judge = ScriptedJudge("8")
    output = "set {a, b} and {{x}} and {# comment and {input}"
    found(graded({"judgePrompt": 'Return {"grade": "C"} for {output} {unknown}'}, output=output), judge)
    user = judge.asked[0].user
    assert 'Return {"grade": "C"} for \n[BEGIN output' in user
    assert "{unknown}" in user
    assert user.count(output) == 1
    assert user.count("Which port?") == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (False, "false"), ("", '""'), (None, "null"), ("Lisbon", "Lisbon"), ({}, "{}")],
)
def test_es14_every_reference_is_shown(value: Any, shown: str) -> None:
    """0, false, null and an empty text are references too."""
    judge = ScriptedJudge("8")
    found(graded({**KIND, "value": value}), judge)
    user = judge.asked[0].user
    block = user[user.index("[BEGIN expected output") :].splitlines()
    assert block[1] == shown


def test_where_the_criteria_come_from() -> None:
    """The task's `judgePrompt`, else its `criteria`, else the rubric of the options, else agreement with the value."""
    judge = ScriptedJudge("8")
    for expected in (
        KIND | {"criteria": "No."},
        {"criteria": "Is it short?"},
        {"value": 1},
        {"judgePrompt": " "},
    ):
        found(graded(expected), judge, rubric="" if "value" in expected else "Is it long?")
    asked = [request.user.partition("Criteria:\n")[2].splitlines()[0] for request in judge.asked]
    assert asked == [
        "Is it kind?",
        "Is it short?",
        "The output says the same as the expected output, in whatever words.",
        "Is it long?",
    ]


def test_nothing_to_judge_by_is_ungraded() -> None:
    """A task with neither assertions nor criteria nor value asks for nothing, and nobody is asked."""
    judge = ScriptedJudge("10")
    (finding,) = found(graded({"assertions": []}), judge)
    assert finding.verdict is Verdict.UNGRADED
    assert finding.reason.startswith("nothing to check")
    assert judge.asked == []


def test_no_output_fails_without_asking() -> None:
    """A skill that gave nothing has failed, whatever the judge would say."""
    judge = ScriptedJudge("10")
    (finding,) = found(graded(KIND, output=MISSING), judge)
    assert (finding.verdict, finding.reason) == (Verdict.FAILED, "the skill gave no output")
    assert judge.asked == []


def test_the_reply_is_asked_for_as_a_schema() -> None:
    """A number or one of the labels; without `structured_output` there is no schema."""
    judge = ScriptedJudge("CORRECT")
    expected = {**KIND, "labels": ["CORRECT", "INCORRECT"]}
    found(graded(expected), judge)
    found(graded(expected), judge, structured_output=False)
    schema, none = (request.response_schema for request in judge.asked)
    assert json.loads(json.dumps(schema))["properties"]["label"]["enum"] == ["CORRECT", "INCORRECT"]
    assert none is None


def test_an_evaluator_of_its_own_wins() -> None:
    """Options that a task gives the judge stand in place of those of the config."""
    seen = graded(KIND, evaluator=Evaluator(kind="llm_judge", options={"timeout_ms": 250.0}))
    (finding,) = found(seen, ScriptedJudge("8"))
    assert json.loads(finding.judgements[0].request)["timeout_s"] == 0.25
