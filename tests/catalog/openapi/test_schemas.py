from __future__ import annotations

from typing import Any

import pytest
from apis import api
from jsonschema import Draft202012Validator

from skilleval.catalog.openapi.document import ApiDocument, UnusableOperationError
from skilleval.catalog.openapi.schemas import MOST_CHARACTERS, Schemas, says_nothing
from skilleval.errors import CatalogError


def _document(schema: Any, version: str, schemas: Any) -> ApiDocument:
    return api({}, version=version, components={"schemas": schemas or {}}, x=schema)


def _converted(
    schema: Any, *, version: str = "3.1.0", is_input: bool = False, schemas: Any = None
) -> dict[str, Any]:
    document = _document(schema, version, schemas)
    converted, is_whole = Schemas(document, is_input=is_input).one([document.node("x")])
    assert is_whole
    Draft202012Validator.check_schema(converted)
    return converted


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "enum": ["a"], "nullable": True},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        ),
        (
            {"nullable": True, "allOf": [{"type": "object"}]},
            {"anyOf": [{"allOf": [{"type": "object"}]}, {"type": "null"}]},
        ),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"exclusiveMaximum": True}, {}),
        ({"type": "string", "example": "a"}, {"type": "string", "examples": ["a"]}),
        (
            {"type": "object", "xml": {}, "discriminator": {}, "externalDocs": {}, "x-more": 1},
            {"type": "object"},
        ),
        ({"additionalProperties": False}, {"additionalProperties": False}),
    ],
)
def test_the_dialect_of_3_0_is_put_into_json_schema(schema: Any, expected: Any) -> None:
    """Null, exclusive limits and examples are written as 2020-12 has them; remarks of OpenAPI are left out."""
    assert _converted(schema, version="3.0.3") == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"], "const": None},
        {"exclusiveMinimum": 3, "properties": {"nullable": True, "x-a": {}, "example": {"type": "null"}}},
        {"prefixItems": [{"type": "string"}], "items": False},
        {"enum": [{"$ref": "kept, for it is a value"}], "default": None},
    ],
)
def test_json_schema_of_3_1_stays_as_it_is(schema: Any) -> None:
    """Names of properties are not taken for keywords, and values not for schemas."""
    assert _converted(schema) == schema


def test_what_is_referred_to_becomes_a_definition_also_in_circles() -> None:
    """Each place once, under a name of its own, whatever it refers to in turn."""
    schemas = {
        "Tea": {"properties": {"blend": {"type": "array", "items": _ref("Tea")}, "shop": _ref("Shop")}},
        "Shop": {"properties": {"best": _ref("Tea")}},
    }
    assert _converted({"type": "array", "items": _ref("Tea")}, schemas=schemas) == {
        "type": "array",
        "items": {"$ref": "#/$defs/Tea"},
        "$defs": {
            "Shop": {"properties": {"best": {"$ref": "#/$defs/Tea"}}},
            "Tea": {
                "properties": {
                    "blend": {"type": "array", "items": {"$ref": "#/$defs/Tea"}},
                    "shop": {"$ref": "#/$defs/Shop"},
                }
            },
        },
    }


def test_two_places_with_one_name_are_two_definitions() -> None:
    """A pointer may lead into the middle of another schema."""
    schemas = {"Tea": {"properties": {"Tea": {"type": "string"}}}, "a b": {"type": "null"}}
    inner = {"$ref": "#/components/schemas/Tea/properties/Tea"}
    converted = _converted({"anyOf": [_ref("Tea"), inner, _ref("a b")]}, schemas=schemas)
    assert [option["$ref"] for option in converted["anyOf"]] == [
        "#/$defs/Tea",
        "#/$defs/Tea_2",
        "#/$defs/a_b",
    ]
    assert converted["$defs"]["Tea_2"] == {"type": "string"}


def test_beside_a_reference_3_0_says_nothing_and_3_1_says_more() -> None:
    """What stands beside a reference counts in 3.1 only."""
    schema = {**_ref("Tea"), "description": "mine", "nullable": True}
    schemas = {"Tea": {"type": "string"}}
    assert "description" not in _converted(schema, version="3.0.3", schemas=schemas)
    assert _converted(schema, schemas=schemas)["description"] == "mine"


def test_requests_have_no_read_only_properties_and_answers_need_no_write_only_ones() -> None:
    """Also where a property refers to what is read-only; where nothing is left to require, nothing is."""
    schema = {
        "type": "object",
        "required": ["id", "made", "secret"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "made": _ref("Made"),
            "secret": {"type": "string", "writeOnly": True},
        },
    }
    schemas = {"Made": {"type": "string", "readOnly": True}}
    asked = _converted(schema, is_input=True, schemas=schemas)
    assert (sorted(asked["properties"]), asked["required"]) == (["secret"], ["secret"])
    told = _converted(schema, schemas=schemas)
    assert (sorted(told["properties"]), told["required"]) == (["id", "made", "secret"], ["id", "made"])
    only = {"required": ["id"], "properties": {"id": {"readOnly": True}}}
    assert "required" not in _converted(only, is_input=True)


def test_one_of_several_answers_may_come() -> None:
    """Equal schemas count once."""
    document = api({}, a={"type": "string"}, b={"type": "null"}, c={"type": "string"})
    nodes = [document.node(name) for name in "abc"]
    converted, _ = Schemas(document, is_input=False).one(nodes)
    assert converted == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def test_an_api_in_which_all_hangs_together_is_cut() -> None:
    """The nearest definitions are kept, the others accept everything, and it is said."""
    schemas = {
        f"S{n}": {
            "type": "object",
            "description": "x" * 1000,
            "properties": {"next": _ref(f"S{(n + 1) % 200}")},
        }
        for n in range(200)
    }
    document = _document(_ref("S0"), "3.1.0", schemas)
    converted, is_whole = Schemas(document, is_input=False).one([document.node("x")])
    assert not is_whole
    Draft202012Validator.check_schema(converted)
    kept = [name for name, one in converted["$defs"].items() if "type" in one]
    assert 40 < len(kept) < MOST_CHARACTERS / 1000
    assert "S1" in kept
    assert [one for one in converted["$defs"].values() if "type" not in one] == [
        {"$comment": "left out: too much for one schema"}
    ]


@pytest.mark.parametrize(
    ("schema", "key", "expected"),
    [
        ({"type": "text"}, "x.type", "one of array, boolean, integer, null, number, object, string"),
        (
            {"properties": {"a": {"required": True}}},
            "x.properties.a.required",
            "a list of the names of properties",
        ),
        ({"items": [{}]}, "x.items", "a schema: an object"),
        ({"allOf": []}, "x.allOf", "a list of schemas"),
        ({"anyOf": [3]}, "x.anyOf[0]", "a schema: an object"),
        ({"properties": []}, "x.properties", "an object of schemas"),
        ({"minLength": -1}, "x.minLength", "a whole number of at least 0"),
        ({"maximum": "3"}, "x.maximum", "a number"),
        ({"multipleOf": 0}, "x.multipleOf", "a number above 0"),
        ({"pattern": 3}, "x.pattern", "a text"),
        (3, "x", "a schema: an object"),
    ],
)
def test_a_malformed_schema_is_told_with_its_place(schema: Any, key: str, expected: str) -> None:
    """What would be ungraded for ever, or break a check later, is an error of the document."""
    with pytest.raises(CatalogError) as caught:
        _converted(schema)
    assert (caught.value.problems[0].key, caught.value.problems[0].expected) == (key, expected)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$dynamicRef": "#a"}, "its schemas use $dynamicRef, which is not followed"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "its schemas are written in"),
        ({"items": {"$ref": "tea.json"}}, "it refers to tea.json"),
    ],
)
def test_what_is_not_understood_makes_no_skill(schema: Any, reason: str) -> None:
    """A schema that cannot be kept whole is not bent into another one."""
    with pytest.raises(UnusableOperationError) as caught:
        _converted(schema)
    assert str(caught.value).startswith(reason)


def test_the_usual_dialect_may_be_named() -> None:
    """It is left out, for a schema is put inside others."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://a.example/",
        "type": "null",
    }
    assert _converted(schema) == {"type": "null"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, True),
        (True, True),
        (False, False),
        ({"description": "anything"}, True),
        ({"$ref": "#/$defs/any"}, True),
        ({"$ref": "#/$defs/some"}, False),
        ({"$ref": "#/$defs/any", "type": "null"}, False),
    ],
)
def test_a_schema_without_a_rule_says_nothing(schema: Any, expected: bool) -> None:
    """Remarks are no rules, and a reference says what it leads to."""
    definitions = {"any": {"title": "Any"}, "some": {"type": "null"}}
    assert says_nothing(schema, definitions) is expected
