"""The keywords of schemas: where schemas stand inside schemas, what is left out, and what the values must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "dependentSchemas"})
SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SCHEMAS = frozenset(
    {
        *("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"),
        *("unevaluatedItems", "unevaluatedProperties"),
    }
)
DROPPED = frozenset(
    {
        *("$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "$comment", "$defs", "definitions"),
        *("xml", "externalDocs", "discriminator", "example", "nullable", "contentSchema"),
    }
)
REMARKS = frozenset(
    {"title", "description", "examples", "default", "deprecated", "readOnly", "writeOnly", "$comment"}
)
DIALECTS = frozenset(
    {"https://json-schema.org/draft/2020-12/schema", "https://spec.openapis.org/oas/3.1/dialect/base"}
)
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_types(value: Any) -> bool:
    named = value if isinstance(value, list) else [value]
    return bool(named) and all(isinstance(item, str) and item in _TYPES for item in named)


_NUMBER, _COUNT, _TEXT = (
    (_is_number, "a number"),
    (_is_count, "a whole number of at least 0"),
    (_is_text, "a text"),
)
_LIMIT = (lambda value: _is_number(value) or _is_truth(value), "a number, or true or false")
_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "type": (_are_types, f"one of {', '.join(sorted(_TYPES))}"),
    "required": (_are_texts, "a list of the names of properties"),
    "enum": (lambda value: isinstance(value, list), "a list"),
    "uniqueItems": (_is_truth, "true or false"),
    **dict.fromkeys(("minimum", "maximum"), _NUMBER),
    "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _LIMIT),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT
    ),
    **dict.fromkeys(("pattern", "format"), _TEXT),
    **dict.fromkeys(NAMED_SCHEMAS, (lambda value: isinstance(value, dict), "an object of schemas")),
    **dict.fromkeys(
        SCHEMA_LISTS, (lambda value: isinstance(value, list) and bool(value), "a list of schemas")
    ),
}
"""What the values of keywords are, where anything else would only be noticed much later, if at all."""


def wrong_value(keyword: str, value: Any) -> str | None:
    """Say what is expected of a keyword whose value is something else; null where it is right."""
    accepts, expected = _RULES.get(keyword, (None, ""))
    return None if accepts is None or accepts(value) else expected
