"""What the JSON Schema library of eval-skills refuses in its strict mode: what `compat` needs to repeat its errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skilleval.scorers.values import shown

_DRAFT_07 = frozenset({"http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-07/schema#"})

_ONE = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
)
_LISTS = ("allOf", "anyOf", "items", "oneOf")
_NAMED = ("$defs", "definitions", "dependencies", "patternProperties", "properties")
_LEAVES = (
    *("$comment", "$id", "$ref", "$schema", "$vocabulary", "const", "contentEncoding", "contentMediaType"),
    *("contentSchema", "default", "deprecated", "description", "enum", "examples", "exclusiveMaximum"),
    *(
        "exclusiveMinimum",
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
    ),
    *(
        "minProperties",
        "minimum",
        "multipleOf",
        "nullable",
        "pattern",
        "readOnly",
        "required",
        "title",
        "type",
    ),
    *("uniqueItems", "writeOnly"),
)
_KEYWORDS = frozenset({*_ONE, *_LISTS, *_NAMED, *_LEAVES})

_FORMATS = frozenset(
    {
        *("binary", "byte", "date", "date-time", "double", "duration", "email", "float", "hostname", "int32"),
        *("int64", "ipv4", "ipv6", "iso-date-time", "iso-time", "json-pointer", "json-pointer-uri-fragment"),
        *(
            "password",
            "regex",
            "relative-json-pointer",
            "time",
            "uri",
            "uri-reference",
            "uri-template",
            "url",
            "uuid",
        ),
    }
)


def refusal(schema: Any) -> str | None:
    """Say why the schema is an error of the task there; null where it is applied."""
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    if named is not None and named not in _DRAFT_07:
        return f"the draft {shown(named)} is not known there, only draft-07"
    for part in _subschemas(schema):
        for keyword in part:
            if keyword not in _KEYWORDS:
                return f"the keyword {shown(keyword)} is not known there, which is an error in strict mode"
        if isinstance(part.get("format"), str) and part["format"] not in _FORMATS:
            return f"the format {shown(part['format'])} is not known there, which is an error in strict mode"
    return None


def _subschemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    pending = [schema]
    while pending:
        current = pending.pop()
        if isinstance(current, Mapping):
            yield current
            pending.extend(_inside(current))


def _inside(schema: Mapping[str, Any]) -> Iterator[Any]:
    for keyword in _ONE:
        yield schema.get(keyword)
    for keyword in _LISTS:
        if isinstance(schema.get(keyword), list):
            yield from schema[keyword]
    for keyword in _NAMED:
        if isinstance(schema.get(keyword), Mapping):
            yield from schema[keyword].values()
