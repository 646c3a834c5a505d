"""`json_schema` holds an answer against a schema that is on its own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from samples import judged, record

from skilleval.domain.scores import Verdict
from skilleval.scorers.base import MISSING, Finding
from skilleval.scorers.json_schema import JsonSchemaOptions, JsonSchemaScorer
from skilleval.scorers.json_schema.exchange import Check

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
ENDLESS = "^(a|aa)+$"
NAME_WITHOUT_END = "a" * 60 + "!"


def finding(output: Any, schema: Any, *, draft: Any = "2020-12", timeout_ms: float = 20_000.0) -> Finding:
    """Judge one output."""
    scorer = JsonSchemaScorer(JsonSchemaOptions(draft=draft, timeout_ms=timeout_ms))
    (one,) = judged(scorer, record(output, expected={"schema": schema}))
    return one


def fits(output: Any, schema: Any, **options: Any) -> bool:
    """Say whether an output passes; it must not be ungraded."""
    one = finding(output, schema, **options)
    assert one.verdict is not Verdict.UNGRADED, one.reason
    return one.verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("output", "schema", "right"),
    [
        ({"a": 1}, {"type": "object", "required": ["a"]}, True),
        ({"b": 1}, {"type": "object", "required": ["a"]}, False),
        (1.0, {"type": "integer"}, True),
        (True, {"type": "integer"}, False),
        (None, {"type": "null"}, True),
        (1, {"const": True}, False),
        ([1, 1.0], {"uniqueItems": True, "type": "array"}, False),
        ({"x": 1}, {"properties": {"x": {}}, "additionalProperties": False}, True),
        ({"x": 1, "y": 2}, {"properties": {"x": {}}, "additionalProperties": False}, False),
        (
            {"x1": 1, "y": "a"},
            {"patternProperties": {"^x": {}}, "additionalProperties": {"type": "string"}},
            True,
        ),
        ({"x1": "a"}, {"patternProperties": {"^x": {"type": "integer"}}}, False),
        ({"x1": 1, "y": 1}, {"patternProperties": {"^x": {}}, "additionalProperties": False}, False),
        ({"a": {"a": {}}}, {"type": "object", "additionalProperties": {"$ref": "#"}}, True),
        ({"a": {"a": 3}}, {"type": "object", "additionalProperties": {"$ref": "#"}}, False),
    ],
)
def test_an_output_is_held_against_the_schema(output: Any, schema: Any, right: bool) -> None:
    """Keywords mean what the standard says."""
    assert fits(output, schema) is right


def test_the_output_counts_whole_or_unwrapped() -> None:
    """A schema may describe the answer or the object around it."""
    answer = {"result": {"a": 1}, "note": "x"}
    assert fits(answer, {"required": ["a"], "type": "object"})
    assert fits(answer, {"required": ["result"], "type": "object"})
    assert fits(answer, {"required": ["note"], "type": "object"})
    assert not fits(answer, {"required": ["b"], "type": "object"})


def test_a_wrapper_does_not_pass_for_an_answer_that_is_wrong() -> None:
    """A schema that speaks of none of the wrapper's keys, and so accepts it, is about the answer inside."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert fits({"result": {"a": 1}}, schema)
    assert not fits({"result": {"a": "x"}}, schema)
    assert not fits({"result": "x"}, {"type": "object"})
    assert fits({"a": 1, "b": 2}, schema)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_text_is_read_as_json_first(wrapped: bool) -> None:
    """JSON inside a text is held against the schema."""
    output: Any = {"result": '{"a": 1}'} if wrapped else '{"a": 1}'
    assert fits(output, {"type": "object", "properties": {"a": {"type": "integer"}}})
    assert not fits(output, {"type": "object", "properties": {"a": {"type": "string"}}})


def test_a_text_that_is_no_json_is_a_text() -> None:
    """A schema of a text accepts one, and nothing else does, also where it forgets to say `type`."""
    assert fits("hello", {"type": "string", "minLength": 5})
    assert fits("hello", {"enum": ["hello"]})
    assert not fits("hello", {"type": "object"})
    assert not fits("NaN", {"type": "number"})
    assert finding("I do not know", {"required": ["a"]}).reason == "the output is a text and no JSON"
    assert not fits('{"b": 1}', {"required": ["a"]})


def test_the_draft_is_that_of_the_schema() -> None:
    """A list of `items` is a tuple in draft 7 and malformed in 2020-12, where `prefixItems` is one."""
    assert not fits([1], {"$schema": DRAFT_7, "items": [{"type": "string"}]})
    assert not fits([1], {"items": [{"type": "string"}]}, draft="7")
    assert finding([1], {"items": [{"type": "string"}]}).verdict is Verdict.UNGRADED
    assert not fits([1], {"$schema": DRAFT_2020, "prefixItems": [{"type": "string"}]}, draft="7")
    assert not fits([1], {"prefixItems": [{"type": "string"}]})


@pytest.mark.parametrize("draft", [DRAFT_7, DRAFT_7.rstrip("#"), DRAFT_2020])
def test_a_schema_that_names_its_draft_keeps_the_time_limit(draft: str) -> None:
    """Patterns are searched with a limit under every draft, also behind references."""
    schema = {
        "$schema": draft,
        "allOf": [{"$ref": "#/definitions/n"}],
        "definitions": {"n": {"pattern": ENDLESS}},
    }
    started = time.monotonic()
    one = finding(NAME_WITHOUT_END, schema, timeout_ms=300.0)
    # On a busy machine the whole check is over before the search for the pattern.
    assert one.verdict is Verdict.UNGRADED
    assert one.reason.startswith((f"the pattern '{ENDLESS}' took", "the check against the schema took"))
    assert one.reason.endswith(" longer than 300 ms")
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {ENDLESS: {"type": "integer"}}},
        {"patternProperties": {ENDLESS: True}, "additionalProperties": False},
        {"propertyNames": {"pattern": ENDLESS}},
    ],
)
def test_names_of_properties_cannot_freeze_the_run(schema: Any) -> None:
    """The names come from the skill, so their patterns are timed as well."""
    started = time.monotonic()
    assert finding({NAME_WITHOUT_END: 1}, schema, timeout_ms=300.0).verdict is Verdict.UNGRADED
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("schema", [True, False, {}])
def test_c12_a_schema_that_says_the_same_of_everything_is_ungraded(schema: Any) -> None:
    """Neither a pass nor a failure of the skill."""
    outputs: tuple[Any, ...] = ({}, MISSING)
    for output in outputs:
        assert "every output" in finding(output, schema).reason
        assert finding(output, schema).verdict is Verdict.UNGRADED


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"typ": "object"}, "no keyword that checks anything"),
        ({"title": "An answer", "$comment": "soon"}, "no keyword that checks anything"),
        ({"type": "thing"}, "malformed schema: $.type"),
        ({"properties": {"a": 3}}, "malformed schema: $.properties.a"),
        ({"pattern": "["}, "malformed schema: $.pattern"),
        ("object", "malformed schema: expected an object"),
        (None, "malformed schema: expected an object"),
        ({"$schema": "urn:unknown", "type": "object"}, 'unknown draft: $schema is "urn:unknown"'),
        ({"$schema": 7, "type": "object"}, "unknown draft: $schema is 7"),
        ({"$ref": "http://localhost:1/schema.json"}, "which is not fetched"),
        ({"$ref": "other.json"}, "which is not fetched"),
        ({"$ref": "#/$defs/absent"}, "which is not fetched"),
        ({"$ref": "#"}, "refers to itself"),
        ({"items": {"$schema": DRAFT_7, "type": "object"}}, "one draft for the whole"),
        ({"patternProperties": {"a": {}}, "unevaluatedProperties": False}, "within a time limit"),
    ],
)
def test_a_schema_that_cannot_judge_is_ungraded(schema: Any, reason: str) -> None:
    """Malformed, vacuous, unknown or incomplete schemas are faults of the benchmark; nothing is ever fetched."""
    one = finding([1], schema)
    assert one.verdict is Verdict.UNGRADED
    assert reason in one.reason


def test_no_schema_is_ungraded() -> None:
    """A `value` is no schema, so a task without one has nothing to check."""
    scorer = JsonSchemaScorer(JsonSchemaOptions(draft="7", timeout_ms=1000.0))
    (one,) = judged(scorer, record({}, expected={"value": {"type": "object"}}))
    assert one.verdict is Verdict.UNGRADED


def test_two_schemas_with_one_id_know_nothing_of_each_other() -> None:
    """Each schema is applied as it stands, in any order, and references its own parts."""
    first = {"$id": "urn:answer", "$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}
    second = {"$id": "urn:answer", "$ref": "#/$defs/a", "$defs": {"a": {"type": "array"}}}
    assert [fits({}, first), fits({}, second), fits({}, first), fits([], second)] == [True, False, True, True]


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("time", "23:59:60Z", "12:59:60Z"),
        ("time", "00:59:60+01:00", "24:00:00Z"),
        ("date-time", "2024-01-01T00:00:00.5+01:00", "2024-01-01 00:00:00"),
        ("duration", "P1DT2H", "P"),
        ("duration", "P3W", "P1DT"),
        ("email", "a@b.example", "a@b@c"),
        ("hostname", "a-b.example", "-a.example"),
        ("ipv4", "127.0.0.1", "256.0.0.1"),
        ("ipv6", "::1", "::1%eth0"),
        ("uri", "https://a.example/x?y#z", "/x"),
        ("uri-reference", "/x", "a b"),
        ("uuid", "12345678-1234-1234-1234-1234567890ab", "12345678-1234"),
        ("json-pointer", "/a~1b/0", "a"),
        ("regex", "^a+$", "["),
    ],
)
def test_formats_are_checked(name: str, right: str, wrong: str) -> None:
    """A text must have the format; a value that is no text has every format."""
    schema = {"format": name, "type": ["string", "integer"]}
    assert fits(f"{right}", schema)
    assert fits(3, schema)
    one = finding(wrong, schema)
    assert one.verdict is Verdict.FAILED
    assert f"is not of the format {name}" in one.reason


def test_an_unknown_format_is_a_remark() -> None:
    """As the standard says."""
    assert fits("x", {"format": "colour", "type": "string"})


def test_the_reason_lists_three_errors_with_their_places() -> None:
    """Of the reading that comes nearest; more are hinted at."""
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in "abcd"}}
    three = finding({"result": {"a": "x", "b": 1, "c": [], "d": None}}, schema)
    assert three.reason == (
        "$.a: 'x' is not of type 'integer'; $.c: [] is not of type 'integer'; $.d: None is not of type 'integer'"
    )
    four = finding(dict.fromkeys("abcd"), schema)
    assert four.reason.count("is not of type") == 3
    assert four.reason.endswith(" …")


def test_numbers_beyond_the_floats_break_nothing() -> None:
    """What cannot be held against the schema is ungraded with the reason."""
    assert "cannot be held" in finding(10**400, {"multipleOf": 0.1}).reason


def test_depth_of_an_output_cannot_break_the_reason() -> None:
    """A value nested deeply is judged; it is ungraded where the schema follows it down, or it has no JSON text."""
    assert fits(nested(700), {"type": "array"})
    assert "nested too deeply" in finding(nested(700), {"items": {"$ref": "#"}}).reason
    assert "nested too deeply" in finding(nested(50_000), {"type": "array"}).reason


def nested(depth: int) -> Any:
    """Give a list in a list, and so on."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def doubling(levels: int) -> dict[str, Any]:
    """Give a schema whose cost doubles with each level: each refers twice to the next."""
    twice = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**twice, f"d{levels}": {"type": "object"}}}


@pytest.mark.parametrize(
    ("output", "schema"),
    [
        ([{"n": i} for i in range(60_000)], {"type": "array", "uniqueItems": True}),
        ({"a": 1}, doubling(60)),
    ],
)
def test_what_takes_years_is_ungraded_at_its_limit(output: Any, schema: Any) -> None:
    """No keyword and no size of an output can hold up a run: the limit covers the whole check."""
    started = time.monotonic()
    one = finding(output, schema, timeout_ms=300.0)
    assert (one.verdict, one.reason) == (
        Verdict.UNGRADED,
        "the check against the schema took longer than 300 ms",
    )
    assert time.monotonic() - started < 30
    assert fits({"a": 1}, doubling(3))


def test_others_go_on_while_a_check_lasts() -> None:
    """The event loop turns many times until the limit of a check, which a loop that is held up does not."""
    scorer = JsonSchemaScorer(JsonSchemaOptions(draft="2020-12", timeout_ms=1000.0))

    async def turns() -> int:
        check = asyncio.create_task(scorer.findings(record({"a": 1}, expected={"schema": doubling(60)})))
        count = 0
        while not check.done():
            await asyncio.sleep(0.005)
            count += 1
        return count

    assert asyncio.run(turns()) >= 5


def test_a_cancelled_check_ends_at_once_with_its_process() -> None:
    """Ctrl-C waits for no limit, and nothing is left running."""
    assert fits({}, {"type": "object"})
    scorer = JsonSchemaScorer(JsonSchemaOptions(draft="2020-12", timeout_ms=600_000.0))

    async def cancelled() -> int:
        check = asyncio.create_task(scorer.findings(record({"a": 1}, expected={"schema": doubling(60)})))
        pid = await asyncio.to_thread(busy_program)
        check.cancel()
        await asyncio.wait({check})
        return pid

    pid = asyncio.run(asyncio.wait_for(cancelled(), timeout=180))
    assert not Path(f"/proc/{pid}").exists()


def busy_program() -> int:
    """Wait until a program of ours that has started before checks something; give its process id."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                state, parent = stat.read_text().rpartition(")")[2].split()[:2]
                if (state, int(parent)) == ("R", os.getpid()) and _checks(stat.parent):
                    return int(stat.parent.name)
        time.sleep(0.02)
    raise TimeoutError


def _checks(process: Path) -> bool:
    return b"json_schema.program" in (process / "cmdline").read_bytes()


def test_a_program_that_checks_ends_by_itself_with_nobody_to_end_it() -> None:
    """Where skilleval is killed outright, a check that never ends does not outlive its limit for long."""
    line = Check(schema=doubling(60), draft="7", readings=[{"a": 1}], n_errors=1, timeout_ms=100.0).line()
    done = subprocess.run(
        [sys.executable, "-m", "skilleval.scorers.json_schema.program"],
        input=line,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (-signal.SIGALRM, b"\n")


def test_a_program_that_breaks_off_leaves_the_task_ungraded() -> None:
    """It says nothing about the skill, and the next check has a new one."""
    assert fits({}, {"type": "object"})
    scorer = JsonSchemaScorer(JsonSchemaOptions(draft="2020-12", timeout_ms=60_000.0))

    async def judged_meanwhile() -> Finding:
        check = asyncio.create_task(scorer.findings(record({"a": 1}, expected={"schema": doubling(60)})))
        os.kill(await asyncio.to_thread(busy_program), signal.SIGKILL)
        (one,) = await check
        return one

    one = asyncio.run(judged_meanwhile())
    assert one.verdict is Verdict.UNGRADED
    assert one.reason == "the check against the schema broke off without an answer"
    assert fits({}, {"type": "object"})
