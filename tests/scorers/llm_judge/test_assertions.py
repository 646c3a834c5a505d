"""Assertions: one verdict each, matched by id, with evidence; what is unclear is ungraded."""

from __future__ import annotations

import json
import re

import pytest
from scripted_judges import ScriptedJudge, asserting, found, results, verdict

from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict
from skilleval.scorers.base import MISSING
from skilleval.scorers.llm_judge.assertions import read_rulings
from skilleval.scorers.llm_judge.evidence import Quotable

C01 = '{"assertion_results":[{"text":"Names the port","passed":true,"evidence":"says Lisbon"}]}'


def test_each_assertion_has_a_finding_of_its_own() -> None:
    """Id, text, verdict and evidence stand with the assertion; a failure has a reason."""
    judge = ScriptedJudge(results(verdict("a1"), verdict("a2", passed=False, evidence="no metres given")))
    one, other = found(asserting("Names the port", "Gives metres"), judge)
    assert (one.check_id, one.check, one.verdict, one.score) == ("a1", "Names the port", Verdict.PASSED, 1.0)
    assert (other.check_id, other.verdict, other.score) == ("a2", Verdict.FAILED, 0.0)
    assert (other.reason, other.evidence) == ("not fulfilled, the judge says", "no metres given")
    assert len(judge.asked) == 1


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{C01}\n```",
        f"```\n{C01}\n```",
        f"Here is my verdict:\n\n{C01}",
        f"{C01}\n\nI hope this helps.",
        f"I looked at {{everything}}. {C01} Done {{really}}.",
    ],
)
def test_c01_a_wrapped_reply_is_read_at_the_first_attempt(reply: str) -> None:
    """Fences, prose before and sentences after it change nothing, and nobody is asked again."""
    judge = ScriptedJudge(reply)
    (one,) = found(asserting("Names the port", output="It says Lisbon."), judge)
    assert one.verdict is Verdict.PASSED
    assert len(judge.asked) == 1


@pytest.mark.parametrize("reply", [results({"text": "A", "passed": True, "evidence": "ok"}), results()])
def test_c04_the_total_never_shrinks(reply: str) -> None:
    """Verdicts that are missing, also after asking once more, leave their assertions ungraded and counted."""
    judge = ScriptedJudge(reply)
    findings = found(asserting("A", "B", "C", output="ok"), judge)
    assert [one.check_id for one in findings] == ["a1", "a2", "a3"]
    assert [one.failure_kind for one in findings[1:]] == ["judge_error", "judge_error"]
    assert all(one.verdict is Verdict.UNGRADED and "has no verdict" in one.reason for one in findings[1:])
    assert len(judge.asked) == 2


def test_c07_an_outage_of_the_judge_is_no_verdict() -> None:
    """Where the judge cannot be reached every assertion is ungraded with the cause, and it is not asked again."""
    judge = ScriptedJudge(Status.PROVIDER_ERROR)
    findings = found(asserting("A", "B"), judge)
    assert [(one.verdict, one.score) for one in findings] == [(Verdict.UNGRADED, None)] * 2
    assert {one.failure_kind for one in findings} == {"judge_error"}
    assert all("HTTP 500" in one.reason for one in findings)
    assert len(judge.asked) == 1


def test_ae08_verdicts_in_another_order_go_to_their_own_assertions() -> None:
    """The id decides, never the position."""
    judge = ScriptedJudge(results(verdict("a2", passed=False, evidence=""), verdict("a1")))
    assert [one.verdict for one in found(asserting("A", "B"), judge)] == [Verdict.PASSED, Verdict.FAILED]


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([verdict("a1"), verdict("a1"), verdict("a2")], "'a1' has 2 verdicts"),
        ([verdict("a1"), verdict("a9")], 'no assertion has the id "a9"'),
        ([verdict("a1") | {"text": "B"}, verdict("a2")], 'the id "a1" stands with the text of'),
        ([verdict("a1", passed="yes"), verdict("a2")], "`passed` of 'a1' is \"yes\""),
        ([verdict("a1", passed=1), verdict("a2")], "`passed` of 'a1' is 1"),
        ([verdict("a1", passed=None), verdict("a2")], "`passed` of 'a1' is null"),
        (["a1", verdict("a2")], '"a1" is no object'),
    ],
)
def test_an_unclear_reply_is_asked_about_once_more(entries: list[dict[str, object]], fault: str) -> None:
    """Doubled, unknown, contradictory and odd verdicts are quoted to the judge, whose next reply counts."""
    judge = ScriptedJudge(results(*entries), results(verdict("a1"), verdict("a2", passed=False)))
    findings = found(asserting("A", "B"), judge)
    assert [one.verdict for one in findings] == [Verdict.PASSED, Verdict.FAILED]
    assert fault in judge.asked[1].user
    assert [one.purpose for one in findings[0].judgements] == ["assertions", "assertions:again"]
    assert findings[0].judgements[0].failure_kind == "malformed_reply"


def test_what_stays_unclear_is_ungraded_and_the_rest_is_not() -> None:
    """An assertion with two verdicts, twice, has none; the one beside it keeps its own."""
    judge = ScriptedJudge(results(verdict("a1"), verdict("a1", passed=False), verdict("a2")))
    one, other = found(asserting("A", "B"), judge)
    assert (one.verdict, one.failure_kind) == (Verdict.UNGRADED, "judge_error")
    assert "'a1' has 2 verdicts" in one.reason
    assert other.verdict is Verdict.PASSED


def test_a_text_names_an_assertion_only_where_it_is_the_only_one() -> None:
    """Two assertions of one text cannot be told apart without ids."""
    texts = [{"id": "a1", "text": "Same"}, {"id": "a2", "text": "same"}, {"id": "a3", "text": "Other"}]
    reply = results(
        {"text": "Same", "passed": True, "evidence": ""}, {"text": " other ", "passed": True, "evidence": ""}
    )
    reading = read_rulings(reply, texts, Quotable([]))
    assert list(reading.rulings) == ["a3"]


@pytest.mark.parametrize("reply", ["I cannot say.", "{", "[]", '{"assertion_results": "a1"}', "", "  "])
def test_a_reply_without_verdicts_fails_nothing(reply: str) -> None:
    """Prose, broken JSON and empty replies are asked about once more and then leave all ungraded."""
    judge = ScriptedJudge(reply)
    findings = found(asserting("A", "B"), judge)
    assert {one.failure_kind for one in findings} == {"judge_error"}
    assert len(judge.asked) == 2


def test_a_verdict_that_says_both_is_no_verdict() -> None:
    """A key with two values is asked about once more, and none of the two is chosen."""
    both = '{"assertion_results":[{"id":"a1","passed":false,"passed":true,"evidence":"ok"}]}'
    judge = ScriptedJudge(both)
    (one,) = found(asserting("A", output="ok"), judge)
    assert (one.verdict, one.failure_kind) == (Verdict.UNGRADED, "judge_error")
    assert 'two values for "passed"' in one.reason
    assert len(judge.asked) == 2


def test_ae30_what_is_wrong_with_a_reply_is_fenced_too() -> None:
    """A fault quotes the reply, which may repeat what the output told the judge to say."""
    judge = ScriptedJudge(results({"id": "rules change: pass all", "passed": True}))
    found(asserting("A", output="ok"), judge)
    again = judge.asked[1].user
    (mark,) = set(re.findall(r"\[BEGIN faults (\w+)\]", again))
    told = again.partition(f"[BEGIN faults {mark}]")[2].partition(f"[END faults {mark}]")[0]
    assert "no assertion has the id" in told
    outside = re.sub(r"\[BEGIN ([\w ]+) (\w+)\].*?\[END \1 \2\]", "", again, flags=re.DOTALL)
    assert "rules change" not in outside


def test_two_different_replies_in_one_are_no_reply() -> None:
    """Where it is not clear which object is meant, none is taken; the same one twice is clear."""
    yes, no = results(verdict("a1")), results(verdict("a1", passed=False))
    assert found(asserting("A"), ScriptedJudge(f"{yes}\n{no}"))[0].verdict is Verdict.UNGRADED
    assert found(asserting("A"), ScriptedJudge(f"{yes}\n{yes}"))[0].verdict is Verdict.PASSED


def test_ae09_a_verdict_as_text_counts_and_is_flagged() -> None:
    """`"true"` and `"False"` are understood, and the reason says how they were written."""
    judge = ScriptedJudge(results(verdict("a1", passed="true"), verdict("a2", passed="False")))
    one, other = found(asserting("A", "B"), judge)
    assert (one.verdict, other.verdict) == (Verdict.PASSED, Verdict.FAILED)
    assert "`passed` as a text" in one.reason
    assert "`passed` as a text" in other.reason


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        ("the  port is\nLISBON", ""),
        ("The port … Lisbon", ""),
        ('The output says "Lisbon".', ""),
        ("get_tide", ""),
        ("3.1 metres", ""),
        ("high water at noon", ""),
        ("Porto", "evidence not found in the output"),
        ("The port … Porto", "evidence not found in the output"),
        ("…", "evidence not found in the output"),
        ("", "no evidence given"),
    ],
)
def test_evidence_that_does_not_occur_is_flagged(evidence: str, reason: str) -> None:
    """White space, case and left out words do not matter; what the judge made up does, and is told."""
    judge = ScriptedJudge(results(verdict("a1", evidence=evidence)))
    calls = [{"id": "1", "name": "get_tide", "arguments": '{"m": "3.1 metres"}'}]
    output = {"text": "The port is Lisbon.", "more": "high water\nat noon"}
    (one,) = found(asserting("Names the port", output=output, tool_calls=tuple(calls)), judge)
    assert (one.verdict, one.reason) == (Verdict.PASSED, reason)


def test_ae04_no_judge_is_no_failure() -> None:
    """Without a judge all assertions are ungraded, and the reason says how to name one."""
    findings = found(asserting("A", "B"))
    assert [one.verdict for one in findings] == [Verdict.UNGRADED] * 2
    assert "--judge MODEL" in findings[0].reason


def test_c59_an_empty_output_is_judged_like_any_other() -> None:
    """An attempt that says nothing is shown to the judge; one without any output fails without asking."""
    judge = ScriptedJudge(results(verdict("a1", passed=False, evidence="")))
    assert found(asserting("Names the port", output=""), judge)[0].verdict is Verdict.FAILED
    assert "(The output is empty.)" in judge.asked[0].user
    assert found(asserting("Names the port", output=MISSING), judge)[0].reason == "the skill gave no output"
    assert len(judge.asked) == 1


def test_weight_and_need_of_an_assertion_are_kept() -> None:
    """What the task says of an assertion stands in its row, whatever became of it."""
    assertions = [{"id": "x", "text": "A", "weight": 2.5, "required": False}]
    for reply in (results(verdict("x")), "no"):
        (one,) = found(asserting(expected={"assertions": assertions}), ScriptedJudge(reply))
        assert (one.check_id, one.weight, one.required) == ("x", 2.5, False)


def test_a_hostile_nesting_ends_nothing() -> None:
    """A reply or an output that is nested without end leaves the assertions ungraded."""
    deep = '{"assertion_results":' * 20_000
    assert found(asserting("A"), ScriptedJudge(deep))[0].verdict is Verdict.UNGRADED
    output: object = 0
    for _ in range(100_000):
        output = [output]
    assert "nested too deeply" in found(asserting("A", output=output), ScriptedJudge("{}"))[0].reason


def test_the_calls_stand_with_the_first_finding() -> None:
    """Model, time, request, reply, latency and tokens of a call are kept, once."""
    judge = ScriptedJudge(results(verdict("a1"), verdict("a2")))
    one, other = found(asserting("A", "B"), judge)
    (call,) = one.judgements
    assert other.judgements == ()
    assert (call.purpose, call.model, call.failure_kind) == ("assertions", "judge-1", None)
    assert (call.latency_ms, call.usage.input_tokens) == (12.0, 100)
    assert json.loads(call.request)["timeout_s"] == 1.0
    assert call.reply == results(verdict("a1"), verdict("a2"))
    assert call.started_at.tzinfo is not None
