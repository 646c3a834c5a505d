"""The six assertions about tool calls, one finding each."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest
from samples import record, task, trials

from skilleval.domain.attempts import Reply, Status
from skilleval.domain.scores import Verdict
from skilleval.scorers.base import Finding
from skilleval.scorers.panel import Panel
from skilleval.scorers.tool_calls import ToolCallsOptions, ToolCallsScorer

SCORER = ToolCallsScorer(ToolCallsOptions(timeout_ms=1000.0))
CALLS = (
    ("sum", '{"columns": [{"name": "amount"}], "n": 1.0, "text": "Total: 12\\n"}'),
    ("sum", '{"columns": [], "n": true, "o": {"b": 2, "a": 1}}'),
    ("plot", "{not json"),
)
P, F, U = Verdict.PASSED, Verdict.FAILED, Verdict.UNGRADED


def findings(*assertions: Any, calls: Any = CALLS, scorer: ToolCallsScorer = SCORER) -> tuple[Finding, ...]:
    """Judge an attempt that made these calls."""
    made = [{"id": str(n), "name": name, "arguments": said} for n, (name, said) in enumerate(calls)]
    seen = replace(record("", expected={"tool_assertions": list(assertions)}), tool_calls=tuple(made))
    return asyncio.run(scorer.findings(seen))


def one(kind: str, **rest: Any) -> Finding:
    """Judge one assertion about the calls above."""
    (finding,) = findings({"type": kind, "id": "t1", "name": "sum", **rest})
    return finding


@pytest.mark.parametrize(
    ("kind", "rest", "expected"),
    [
        ("tool-called", {}, P),
        ("tool-called", {"name": "plot"}, P),
        ("tool-called", {"name": "Sum"}, F),
        ("tool-not-called", {}, F),
        ("tool-not-called", {"name": "plot"}, F),
        ("tool-not-called", {"name": "drop"}, P),
        ("tool-arg-equals", {"path": "columns[0].name", "value": "amount"}, P),
        ("tool-arg-equals", {"path": "columns[0].name", "value": "Amount"}, F),
        ("tool-arg-equals", {"path": "n", "value": 1}, P),
        ("tool-arg-equals", {"path": "n", "value": "1"}, F),
        ("tool-arg-equals", {"path": "n", "value": True}, P),
        ("tool-arg-equals", {"path": "n", "value": False}, F),
        ("tool-arg-equals", {"path": "o", "value": {"a": 1, "b": 2.0}}, P),
        ("tool-arg-equals", {"path": "columns", "value": []}, P),
        ("tool-arg-equals", {"path": "columns.length", "value": 0}, F),
        ("tool-arg-contains", {"path": "text", "value": "Total"}, P),
        ("tool-arg-contains", {"path": "text", "value": "total"}, F),
        ("tool-arg-contains", {"path": "columns", "value": "amount"}, F),
        ("tool-arg-matches", {"path": "text", "pattern": r"^Total: \d+"}, P),
        ("tool-arg-matches", {"path": "text", "pattern": "total", "flags": "gi"}, P),
        ("tool-arg-matches", {"path": "text", "pattern": "total"}, F),
        ("tool-arg-matches", {"path": "text", "pattern": "12$"}, F),
        ("tool-arg-matches", {"path": "text", "pattern": "12$", "flags": "m"}, P),
        ("tool-arg-matches", {"path": "text", "pattern": "12.", "flags": "u"}, F),
        ("tool-arg-matches", {"path": "text", "pattern": "12.", "flags": "s"}, P),
        ("tool-arg-matches", {"path": "text", "pattern": "12", "flags": "y"}, F),
        ("tool-arg-matches", {"path": "n", "pattern": "1"}, F),
        ("tool-call-count", {"min": 2, "max": 2}, P),
        ("tool-call-count", {"min": 3}, F),
        ("tool-call-count", {"max": 1}, F),
        ("tool-call-count", {"name": None, "min": 3, "max": 3}, P),
        ("tool-call-count", {"name": "drop", "max": 0}, P),
    ],
)
def test_each_kind_says_what_it_means(kind: str, rest: dict[str, Any], expected: Verdict) -> None:
    """Names and texts are exact, numbers count by value, objects have no order, and one call that fits is enough."""
    finding = one(kind, **rest)
    assert (finding.verdict, finding.score) == (expected, 1.0 if expected is P else 0.0)
    assert finding.evidence


@pytest.mark.parametrize("value", [{"value": None}, {"value": "x"}, {"value": []}])
def test_ae26_a_place_that_is_not_there_never_fits(value: dict[str, Any]) -> None:
    """Not even null is found where there is nothing."""
    assert one("tool-arg-equals", path="nowhere", **value).verdict is F


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ({"type": "tool-arg-equals", "path": "nowhere"}, "`value` is not given"),
        ({"type": "tool-arg-equals", "path": "a..b", "value": 1}, "cannot be read"),
        ({"type": "tool-arg-equals", "value": 1}, "`path` is null"),
        ({"type": "tool-arg-contains", "path": "n", "value": 1}, "expected a text that is not empty"),
        ({"type": "tool-arg-contains", "path": "n", "value": ""}, "expected a text that is not empty"),
        ({"type": "tool-arg-matches", "path": "n"}, "expected a regular expression"),
        ({"type": "tool-arg-matches", "path": "n", "pattern": "("}, "does not compile"),
        (
            {"type": "tool-arg-matches", "path": "n", "pattern": "x", "flags": "x"},
            "expected some of the letters",
        ),
        ({"type": "tool-call-count"}, "expected a whole number"),
        ({"type": "tool-call-count", "min": True}, "expected a whole number"),
        ({"type": "tool-call-count", "max": "2"}, "expected a whole number"),
        ({"type": "tool-called", "name": ""}, "expected the name of a tool"),
        ({"type": "tool-called", "name": 3}, "expected the name of a tool"),
        ({"type": "tool-caled"}, "expected one of tool-called, "),
        ({"type": ["tool-called"]}, "expected one of tool-called, "),
    ],
)
def test_what_cannot_be_understood_is_ungraded(rest: dict[str, Any], why: str) -> None:
    """An assertion that asks for nothing clear neither passes nor fails, and says why."""
    (finding,) = findings({"id": "t1", "name": "sum", **rest})
    assert finding.verdict is U
    assert why in finding.reason


def test_each_assertion_has_a_finding_of_its_own() -> None:
    """Its id, its description or a sentence, weight and need; a broken one does not spoil the others."""
    found = findings(
        {
            "type": "tool-called",
            "name": "sum",
            "id": "t1",
            "description": "adds up",
            "weight": 3,
            "required": False,
        },
        {"type": "tool-call-count", "name": "sum", "min": 1, "max": 4},
        "tool-called",
    )
    assert [finding.check_id for finding in found] == ["t1", "t2", "t3"]
    assert [finding.check for finding in found[:2]] == [
        "adds up",
        "sum is called at least 1 and at most 4 times",
    ]
    assert (found[0].weight, found[0].required) == (3.0, False)
    assert [finding.verdict for finding in found] == [P, P, U]


def test_broken_arguments_count_as_a_call_and_as_nothing_else() -> None:
    """A call whose arguments are no JSON was made, but nothing stands in it; the evidence says so."""
    called, equal, contains = findings(
        {"type": "tool-called", "name": "plot"},
        {"type": "tool-arg-equals", "name": "plot", "path": "not", "value": "json"},
        {"type": "tool-arg-contains", "name": "plot", "path": "not", "value": "json"},
    )
    assert called.verdict is P
    assert (
        called.evidence == '3 calls: "sum" 2 times, "plot" 1 time; 1 with arguments that are not valid JSON'
    )
    assert equal.verdict is contains.verdict is F
    assert "seen in 1 call: arguments that are not valid JSON" in equal.evidence


@pytest.mark.parametrize("said", ["", "NaN", "[" * 100_000, '{"a": Infinity}'])
def test_odd_arguments_break_nothing(said: str) -> None:
    """Empty, endless and not quite JSON texts are no arguments."""
    (finding,) = findings(
        {"type": "tool-arg-equals", "name": "f", "path": "a", "value": 1}, calls=[("f", said)]
    )
    assert finding.verdict is F


def test_evidence_shows_what_was_seen_and_stays_short() -> None:
    """Expected and seen values stand side by side; long ones and many are cut."""
    calls = [("f", f'{{"a": "{"x" * 5000}"}}')] * 500
    (finding,) = findings(
        {"type": "tool-arg-equals", "name": "f", "path": "a", "value": "y" * 5000}, calls=calls
    )
    assert finding.evidence.startswith('f: a equals "yyy')
    assert "seen in 500 calls" in finding.evidence
    assert finding.evidence.endswith("and 495 more")
    assert len(finding.evidence) < 1000


def test_a_pattern_has_a_time_limit() -> None:
    """A pattern without end leaves its assertion ungraded, and the others not."""
    began = time.monotonic()
    hostile = {"type": "tool-arg-matches", "name": "f", "path": "a", "pattern": "^(a|aa)+$"}
    quick = ToolCallsScorer(ToolCallsOptions(timeout_ms=100.0))
    slow, called = findings(
        hostile, {"type": "tool-called", "name": "f"}, calls=[("f", f'{{"a": "{"a" * 60}!"}}')], scorer=quick
    )
    assert (slow.verdict, called.verdict) == (U, P)
    assert "took longer than 100 ms" in slow.reason
    assert time.monotonic() - began < 30


def test_where_no_model_was_asked_nothing_is_known() -> None:
    """A skill without a model made no calls to look at, which is not the same as none."""
    expected = {
        "tool_assertions": [{"type": "tool-not-called", "name": "f"}, {"type": "tool-call-count", "max": 0}]
    }
    found = asyncio.run(SCORER.findings(record("", expected=expected)))
    assert [finding.verdict for finding in found] == [U, U]
    assert [finding.verdict for finding in findings(*expected["tool_assertions"], calls=())] == [P, P]


def test_c60_a_failed_attempt_grades_nothing() -> None:
    """After an outage of the provider no assertion passes, not even that a tool was not called."""
    expected = {
        "tool_assertions": [
            {"type": "tool-not-called", "name": "delete_all"},
            {"type": "tool-call-count", "max": 0},
        ]
    }
    (trial,) = trials(replace(task(), expected=expected))
    reply = Reply(status=Status.PROVIDER_ERROR, failure_kind="http_503", message="HTTP 503")
    (score,) = asyncio.run(Panel({"tools": SCORER}).hearing(trial, reply).scores())
    assert (score.verdict, score.score) == (U, None)
    assert "HTTP 503" in score.reason


@pytest.mark.parametrize("given", [None, [], "tool-called", {}])
def test_c12_nothing_to_check_is_ungraded(given: Any) -> None:
    """Without assertions nothing passes."""
    (finding,) = asyncio.run(SCORER.findings(record("", expected={"tool_assertions": given})))
    assert finding.verdict is U


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"options":{"sort":"asc","limit":10}}', P),
        ('{"options":{"sort":"asc","limit":10.0}}', P),
        ('{"options":{"sort":"asc","limit":true}}', F),
        ('{"options": oops', F),
    ],
)
def test_c23_arguments_are_compared_as_json_values(arguments: str, expected: Verdict) -> None:
    """The order of keys is nothing, 10 is 10.0, true is no number; what is no JSON is called that."""
    asked = {
        "type": "tool-arg-equals",
        "name": "set",
        "path": "options",
        "value": {"limit": 10, "sort": "asc"},
    }
    (finding,) = findings(asked, calls=(("set", arguments),))
    assert finding.verdict is expected
    assert ("not valid JSON" in finding.evidence) == ("oops" in arguments)


def test_c24_paths_reach_everywhere_and_patterns_remember_nothing() -> None:
    """Keys with dots are quoted, a missing place is not an explicit null, and every call meets a fresh pattern."""
    calls = (("find", '{"items": [{"a.b": 1}], "q": "TODO", "none": null}'), ("find", '{"q": "TODO"}'))
    equals = {"type": "tool-arg-equals", "name": "find"}
    matches = {"type": "tool-arg-matches", "name": "find", "path": "q", "pattern": "todo", "flags": "gi"}
    there, absent, null, *both = findings(
        {**equals, "path": 'items[0]["a.b"]', "value": 1},
        {**equals, "path": "items.0.a", "value": None},
        {**equals, "path": "none", "value": None},
        matches,
        matches,
        calls=calls,
    )
    assert [one.verdict for one in (there, absent, null, *both)] == [P, F, P, P, P]
    for call in calls:
        (alone,) = findings(matches, calls=(call,))
        assert alone.verdict is P
