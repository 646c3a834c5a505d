from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from skilleval.catalog.openapi.samples import NoSampleError, Sampler


def _made(schema: Any, *, use_examples: bool = True) -> Any:
    root = schema if isinstance(schema, dict) else {}
    return Sampler(root, use_examples=use_examples).value(schema)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer", "examples": [7, 8], "default": 3, "enum": [7]}, 7),
        ({"type": "integer", "default": 3}, 3),
        ({"const": None}, None),
        ({"enum": ["b", "a"]}, "b"),
        ({"type": "string"}, "example"),
        ({"type": "string", "minLength": 10}, "exampleexa"),
        ({"type": "string", "maxLength": 3}, "exa"),
        ({"type": "string", "format": "uuid"}, "123e4567-e89b-12d3-a456-426614174000"),
        ({"type": "boolean"}, True),
        ({"type": ["null", "string"]}, "example"),
        ({"type": "null"}, None),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "integer", "exclusiveMinimum": 5}, 6),
        ({"type": "integer", "maximum": -2}, -2),
        ({"type": "integer", "exclusiveMaximum": 1}, 0),
        ({"type": "integer", "minimum": 4, "multipleOf": 3}, 6),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, 0.25),
        ({"type": "number", "minimum": 0.1, "multipleOf": 0.5}, 0.5),
        ({"type": "array", "items": {"type": "boolean"}}, [True]),
        ({"type": "array", "minItems": 2, "items": {"type": "boolean"}}, [True, True]),
        ({"type": "array", "maxItems": 0}, []),
        ({"type": "array", "prefixItems": [{"type": "null"}], "minItems": 2}, [None, "example"]),
        ({"required": ["a"], "properties": {"a": {"type": "null"}, "b": {}}}, {"a": None}),
        ({"required": ["a"], "additionalProperties": {"type": "null"}}, {"a": None}),
        ({"minimum": 3}, 3),
        ({}, "example"),
        (True, "example"),
    ],
)
def test_the_least_that_fits_is_made_up(schema: Any, expected: Any) -> None:
    """What the schema shows comes first; then only what is required, as small as it may be."""
    assert _made(schema) == expected
    Draft202012Validator(schema).validate(_made(schema))


def test_examples_can_be_passed_over() -> None:
    """They may not fit their own schema."""
    schema = {"type": "integer", "examples": ["seven"], "default": "three"}
    assert _made(schema) == "seven"
    assert _made(schema, use_examples=False) == 1


def test_what_holds_at_once_is_put_together() -> None:
    """Through references and further `allOf`; the first alternative that works is taken, null last."""
    schema = {
        "allOf": [{"$ref": "#/$defs/a"}, {"required": ["b"], "properties": {"b": {"type": "integer"}}}],
        "required": ["c"],
        "properties": {"c": {"oneOf": [{"type": "null"}, False, {"type": "boolean"}]}},
        "$defs": {"a": {"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"const": 1}}}]}},
    }
    made = _made(schema)
    assert made == {"a": 1, "b": 1, "c": True}
    Draft202012Validator(schema).validate(made)


def test_circles_end_where_they_can() -> None:
    """In an empty list or in null; a value that would have to hold itself is none."""
    node = {"type": "object", "required": ["next"], "properties": {"next": None}}
    for way_out, expected in (
        ({"type": "array", "items": {"$ref": "#/$defs/n"}}, {"next": []}),
        ({"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}, {"next": None}),
    ):
        definition = {**node, "properties": {"next": way_out}}
        assert _made({"$ref": "#/$defs/n", "$defs": {"n": definition}}) == expected
    endless = {**node, "properties": {"next": {"$ref": "#/$defs/n"}}}
    for schema in ({"$ref": "#/$defs/n"}, {"allOf": [{"$ref": "#/$defs/n"}]}):
        with pytest.raises(NoSampleError):
            _made({**schema, "$defs": {"n": endless}})
    with pytest.raises(NoSampleError):
        _made({"$ref": "#/$defs/n", "$defs": {"n": {"allOf": [{"$ref": "#/$defs/n"}]}}})


def test_a_value_that_would_be_huge_is_not_made_up() -> None:
    """Forty levels that double, or a million items, are no starter."""
    levels = {
        f"l{n}": {"required": ["a", "b"], "properties": {key: {"$ref": f"#/$defs/l{n + 1}"} for key in "ab"}}
        for n in range(40)
    }
    for schema in (
        {"$ref": "#/$defs/l0", "$defs": levels},
        {"type": "array", "minItems": 1_000_000},
        {"type": "string", "minLength": 1_000_000},
        {"type": "number", "minimum": 10**400, "multipleOf": 0.5},
        False,
    ):
        with pytest.raises(NoSampleError):
            _made(schema)


@pytest.mark.parametrize(
    ("pattern", "unmatched"),
    [("^[a-z]+$", []), ("^[0-9]+$", ["^[0-9]+$"]), (r"^\p{L}+$", [r"^\p{L}+$"])],
)
def test_a_text_that_does_not_match_its_pattern_is_told(pattern: str, unmatched: list[str]) -> None:
    """None is made up of a pattern; one that cannot be read here is not matched either."""
    sampler = Sampler({}, use_examples=True)
    assert sampler.value({"type": "string", "pattern": pattern}) == "example"
    assert sampler.unmatched == unmatched


_LIMITS = st.integers(-50, 50)


@settings(max_examples=60, deadline=None)
@given(
    low=_LIMITS,
    high=_LIMITS,
    step=st.integers(1, 9),
    keyword=st.sampled_from(["minimum", "exclusiveMinimum"]),
)
def test_law_a_whole_number_above_a_limit_fits(low: int, high: int, step: int, keyword: str) -> None:
    """Whatever the lower limit and the step."""
    for schema in (
        {"type": "integer", keyword: low, "multipleOf": step},
        {"type": "number", "maximum": high},
    ):
        assert Draft202012Validator(schema).is_valid(_made(schema))
