"""`compat` gives the verdicts of eval-skills, our own scorers the right ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml
from samples import judged, record

from skilleval.config.shipped import shipped
from skilleval.domain.scores import Verdict
from skilleval.domain.tasks import Evaluator
from skilleval.scorers import SCORERS
from skilleval.scorers.base import MISSING, Finding, Scorer
from skilleval.scorers.compat import CompatOptions, CompatScorer

PASSED, FAILED, UNGRADED = Verdict.PASSED, Verdict.FAILED, Verdict.UNGRADED
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def compat() -> CompatScorer:
    """Make a compat scorer that has seen nothing yet."""
    return CompatScorer(CompatOptions(fallback="exact", timeout_ms=1000.0))


def ours(kind: str) -> Scorer:
    """Make one of our scorers with the options it is shipped with."""
    options = yaml.safe_load((shipped("conf") / "scorer" / f"{kind}.yaml").read_text(encoding="utf-8"))
    del options["kind"]
    made: Scorer = SCORERS[kind](SCORERS[kind].Options.parse(options, where=kind))
    return made


def finding(scorer: Scorer, kind: str, output: Any, expected: dict[str, Any], **options: Any) -> Finding:
    """Judge one output of a task that names its evaluator."""
    (one,) = judged(
        scorer, record(output, expected=expected, evaluator=Evaluator(kind=kind, options=options))
    )
    return one


@pytest.mark.parametrize(
    ("output", "expected", "there", "right"),
    [
        (5, {"value": "5"}, PASSED, FAILED),
        (True, {"value": "true"}, PASSED, FAILED),
        (None, {"value": "null"}, PASSED, FAILED),
        ({"a": 1}, {"value": {"b": 2}}, PASSED, FAILED),
        (MISSING, {}, PASSED, UNGRADED),
        ([1, 2], {"value": "1,2"}, PASSED, FAILED),
        ([[1], 2], {"value": [1, [2]]}, PASSED, FAILED),
        ([], {"value": ""}, PASSED, FAILED),
        (5, {"value": "5.0"}, FAILED, FAILED),
        (0.1 + 0.2, {"value": "0.3"}, FAILED, FAILED),
        ({"value": "a"}, {"value": "a"}, FAILED, FAILED),
        ({"result": " a "}, {"value": "a"}, PASSED, PASSED),
        ([None, "x"], {"value": ",x"}, PASSED, FAILED),
        (5.0, {"value": 5}, PASSED, PASSED),
        (1e21, {"value": "1e+21"}, PASSED, FAILED),
    ],
)
def test_es05_exact_compares_printed_values_there(
    output: Any, expected: dict[str, Any], there: Verdict, right: Verdict
) -> None:
    """There any object equals any object and a list its printed text; here values compare by type."""
    assert finding(compat(), "exact", output, expected).verdict is there
    assert finding(ours("exact"), "exact", output, expected).verdict is right


@pytest.mark.parametrize(("output", "value"), [(5, "5.0"), (0.1 + 0.2, "0.3")])
def test_numbers_with_a_tolerance_are_the_right_answer(output: float, value: str) -> None:
    """What no text comparison can, `numeric` can."""
    assert finding(compat(), "exact", output, {"value": value}).verdict is FAILED
    assert finding(ours("numeric"), "numeric", output, {"value": value}, tolerance=1e-9).verdict is PASSED


@pytest.mark.parametrize(
    ("output", "keywords", "there", "right"),
    [
        ({"result": "Lisbon"}, ["result"], PASSED, FAILED),
        ({"text": 'say "yes"\nnow'}, ['say "yes"\nnow'], FAILED, PASSED),
        (MISSING, ["undef"], PASSED, FAILED),
        ("anything", [], PASSED, UNGRADED),
        ("LISBON", ["lisbon"], PASSED, PASSED),
        ({"n": 1.0}, ['"n":1}'], PASSED, FAILED),
    ],
)
def test_contains_searches_the_json_text_there(
    output: Any, keywords: list[str], there: Verdict, right: Verdict
) -> None:
    """There keys and escapes are part of the text and no keyword is a pass; here only values are searched."""
    assert finding(compat(), "contains", output, {"keywords": keywords}).verdict is there
    assert finding(ours("contains"), "contains", output, {"keywords": keywords}).verdict is right


def test_words_inside_words_count_there() -> None:
    """There `cat` is in `category`; here the word option tells them apart."""
    expected = {"keywords": ["cat"]}
    assert finding(compat(), "contains", "category", expected).verdict is PASSED
    assert finding(ours("contains"), "contains", "category", expected, whole_words=True).verdict is FAILED


def test_es06_options_of_evaluators_have_no_effect_there() -> None:
    """`caseSensitive` is accepted and ignored there."""
    expected = {"keywords": ["lisbon"]}
    assert finding(compat(), "contains", "LISBON", expected, case_sensitive=True).verdict is PASSED
    assert finding(ours("contains"), "contains", "LISBON", expected, case_sensitive=True).verdict is FAILED


@pytest.mark.parametrize(
    ("schema", "there", "right"),
    [
        ({"type": "object", "x-note": 1}, UNGRADED, PASSED),
        ({"$schema": DRAFT_2020, "type": "object"}, UNGRADED, PASSED),
        ({"type": "object", "properties": {"a": {"format": "colour"}}}, UNGRADED, PASSED),
        ({"type": "thing"}, UNGRADED, UNGRADED),
        ({"$ref": "http://localhost:1/x"}, UNGRADED, UNGRADED),
        ({}, PASSED, UNGRADED),
        (True, PASSED, UNGRADED),
        (False, FAILED, UNGRADED),
        ({"title": "An answer"}, PASSED, UNGRADED),
        ({"type": "object", "required": ["a"]}, PASSED, PASSED),
        ({"type": "object", "required": ["b"]}, FAILED, FAILED),
        ({"properties": {"x-note": {"type": "string"}}}, PASSED, PASSED),
    ],
)
def test_schemas_are_strict_there(schema: Any, there: Verdict, right: Verdict) -> None:
    """An unknown keyword, format or draft is an error of the task there, which is ungraded here."""
    assert finding(compat(), "json_schema", {"a": 1}, {"schema": schema}).verdict is there
    assert finding(ours("json_schema"), "json_schema", {"a": 1}, {"schema": schema}).verdict is right


def test_an_answer_is_not_unwrapped_for_a_schema_there() -> None:
    """There the whole output counts, here the answer."""
    expected = {"schema": {"type": "object", "required": ["a"]}}
    assert finding(compat(), "json_schema", {"result": {"a": 1}}, expected).verdict is FAILED
    assert finding(ours("json_schema"), "json_schema", {"result": {"a": 1}}, expected).verdict is PASSED


def test_text_is_parsed_for_a_schema_there() -> None:
    """A text that is no JSON, and a task without a schema, fail there."""
    assert finding(compat(), "json_schema", '{"a":1}', {"schema": {"type": "object"}}).verdict is PASSED
    assert finding(compat(), "json_schema", "text", {"schema": {"type": "string"}}).verdict is FAILED
    assert finding(compat(), "json_schema", {}, {}).verdict is FAILED


def test_two_schemas_with_one_id_are_an_error_there() -> None:
    """There an id belongs to the first task of a run, again and again; here schemas know nothing of each other."""
    there, here = compat(), ours("json_schema")
    expected = {"schema": {"$id": "urn:answer", "type": "object"}}
    verdicts = []
    for task_id in ("first", "second", "first"):
        seen = record({}, expected=expected, evaluator=Evaluator(kind="json_schema"))
        seen = replace(seen, task_id=task_id)
        (one,), (other,) = judged(there, seen), judged(here, seen)
        verdicts.append((one.verdict, other.verdict))
    assert verdicts == [(PASSED, PASSED), (UNGRADED, PASSED), (PASSED, PASSED)]


@pytest.mark.parametrize(
    ("output", "patterns", "there", "right"),
    [
        ({"result": "abc"}, ["^abc$"], FAILED, PASSED),
        ("ABC", ["(?i)abc"], FAILED, PASSED),
        ("abc", ["["], FAILED, UNGRADED),
        ("abc", [], FAILED, UNGRADED),
        ("abc", ["^abc$"], PASSED, PASSED),
        ("abc\n", ["^abc$"], FAILED, PASSED),
        ({"a": 1}, ['"a":1'], PASSED, FAILED),
        ("٣", [r"\d"], FAILED, PASSED),
        ("aXa", [r"^(?<n>a)X\k<n>$"], PASSED, UNGRADED),
        ("a" * 60 + "!", ["^(a|aa)+$"], UNGRADED, UNGRADED),
    ],
)
def test_patterns_are_those_of_javascript_there(
    output: Any, patterns: list[str], there: Verdict, right: Verdict
) -> None:
    """There the JSON text is searched and a broken pattern matches nothing, silently; none of ours runs for ever."""
    assert finding(compat(), "regex", output, {"patterns": patterns}).verdict is there
    assert finding(ours("regex"), "regex", output, {"patterns": patterns}).verdict is right


def test_partial_scores_are_the_share_found() -> None:
    """One of two keywords or patterns gives one half and the verdict failed."""
    for kind, key in (("contains", "keywords"), ("regex", "patterns")):
        one = finding(compat(), kind, "1 mile", {key: ["mile", "kilometre"]})
        assert (one.score, one.verdict, one.check) == (0.5, FAILED, kind)


@pytest.mark.parametrize("kind", ["custom", "llm_judge", "numeric", "nonsense"])
def test_an_evaluator_without_a_rule_is_ungraded(kind: str) -> None:
    """What cannot be repeated here is said, not guessed."""
    assert kind in finding(compat(), kind, "x", {"value": "x"}).reason
    assert finding(compat(), kind, "x", {"value": "x"}).verdict is UNGRADED


def test_the_fallback_serves_tasks_that_name_no_evaluator() -> None:
    """As `--evaluator` does there."""
    lenient = CompatScorer(CompatOptions(fallback="contains", timeout_ms=1000.0))
    (one,) = judged(lenient, record("a mile", expected={"keywords": ["mile"]}))
    assert (one.verdict, one.check) == (PASSED, "contains")


def test_depth_of_an_output_cannot_break_it() -> None:
    """A value nested far beyond the recursion limit is ungraded with the reason."""
    deep: Any = 1
    for _ in range(50_000):
        deep = [deep]
    for kind in ("exact", "contains", "regex", "json_schema"):
        expected = {"value": 1, "keywords": ["1"], "patterns": ["1"], "schema": {"type": "array"}}
        one = finding(compat(), kind, deep, expected)
        assert one.verdict is UNGRADED
