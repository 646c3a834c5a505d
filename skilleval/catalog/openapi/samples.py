"""Makes up a small value that fits a JSON Schema: what the schema shows as an example, else the least it asks for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skilleval.catalog.openapi.schemas import DEFINITIONS

_MOST_VALUES = 10_000
_ALTERNATIVES = ("oneOf", "anyOf")
_WORD = "example"
_LONGEST_MATCHED = 24
_FORMATS: Mapping[str, str] = {
    "date": "2024-01-31",
    "time": "12:00:00Z",
    "date-time": "2024-01-31T12:00:00Z",
    "duration": "P1D",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "/example",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "json-pointer": "/example",
    "regex": "example",
    "byte": "ZXhhbXBsZQ==",
}
_HINTS = (
    ("object", ("properties", "required", "additionalProperties", "minProperties")),
    ("array", ("items", "prefixItems", "minItems", "uniqueItems")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)
"""The type that a schema without one is about, by its keywords."""


class NoSampleError(Exception):
    """No value can be made up: it would have no end, or the schema accepts none."""


class Sampler:
    """Makes up values for a schema that stands on its own; with `use_examples` those in it come first.

    `unmatched` are the patterns that texts were made up for and do not match.
    """

    def __init__(self, root: Mapping[str, Any], *, use_examples: bool) -> None:
        self._definitions: Mapping[str, Any] = root.get(DEFINITIONS, {})
        self._use_examples = use_examples
        self._within: list[str] = []
        self._n_values = 0
        self.unmatched: list[str] = []

    def value(self, schema: Any) -> Any:
        """Make up a value.

        Raises:
            NoSampleError: there is none.
        """
        self._n_values += 1
        if schema is False or self._n_values > _MOST_VALUES:
            raise NoSampleError
        if not isinstance(schema, dict):
            return _WORD
        if "$ref" in schema:
            return self._referred(schema)
        for given in self._given(schema):
            return given
        if "allOf" in schema:
            return self.value(self._merged(schema))
        for keyword in _ALTERNATIVES:
            if keyword in schema:
                return self._alternative(schema, keyword)
        return self._made(schema)

    def _given(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        if self._use_examples:
            yield from schema.get("examples", ())
        if "const" in schema:
            yield schema["const"]
        if self._use_examples and "default" in schema:
            yield schema["default"]
        yield from schema.get("enum", ())

    def _referred(self, schema: Mapping[str, Any]) -> Any:
        reference = schema["$ref"]
        if reference in self._within:
            raise NoSampleError
        self._within.append(reference)
        try:
            rest = {name: item for name, item in schema.items() if name not in {"$ref", DEFINITIONS}}
            target = self._target(reference)
            return self.value({"allOf": [target, rest]} if rest else target)
        finally:
            self._within.pop()

    def _target(self, reference: str) -> Any:
        return self._definitions.get(reference.rpartition("/")[2], True)

    def _merged(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make one schema of several that hold at once, as far as a made-up value needs it."""
        whole = {name: item for name, item in schema.items() if name != "allOf"}
        for part in schema["allOf"]:
            whole = _joined(whole, self._plain(part, ()))
        return whole

    def _plain(self, schema: Any, within: tuple[str, ...]) -> Mapping[str, Any]:
        """Give a schema without its reference and `allOf`."""
        if schema is False:
            raise NoSampleError
        if not isinstance(schema, dict):
            return {}
        if "$ref" in schema:
            reference = schema["$ref"]
            if reference in within or reference in self._within:
                raise NoSampleError
            rest = {name: item for name, item in schema.items() if name != "$ref"}
            return _joined(rest, self._plain(self._target(reference), (*within, reference)))
        whole = {name: item for name, item in schema.items() if name != "allOf"}
        for part in schema.get("allOf", ()):
            whole = _joined(whole, self._plain(part, within))
        return whole

    def _alternative(self, schema: Mapping[str, Any], keyword: str) -> Any:
        rest = {name: item for name, item in schema.items() if name != keyword}
        # Null is the way out for those who have nothing to say.
        options = sorted(schema[keyword], key=lambda option: option == {"type": "null"})
        for option in options:
            try:
                return self.value({**rest, "allOf": [*rest.get("allOf", ()), option]})
            except NoSampleError:
                continue
        raise NoSampleError

    def _made(self, schema: Mapping[str, Any]) -> Any:
        kind = _kind(schema)
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            return self._array(schema)
        if kind in {"integer", "number"}:
            try:
                return _number(schema, is_whole=kind == "integer")
            except OverflowError:
                raise NoSampleError from None
        return {"boolean": True, "null": None}[kind] if kind in {"boolean", "null"} else self._text(schema)

    def _text(self, schema: Mapping[str, Any]) -> str:
        text = _text(schema)
        pattern = schema.get("pattern")
        if pattern is not None and not _matches(pattern, text):
            self.unmatched.append(pattern)
        return text

    def _object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        return {name: self.value(properties.get(name, others)) for name in schema.get("required", ())}

    def _array(self, schema: Mapping[str, Any]) -> list[Any]:
        first, least = schema.get("prefixItems", []), int(schema.get("minItems", 0))
        n_items = max(least, 0 if schema.get("maxItems") == 0 else 1)
        if n_items > _MOST_VALUES:
            raise NoSampleError
        try:
            others = schema.get("items", True)
            return [self.value(first[index] if index < len(first) else others) for index in range(n_items)]
        except NoSampleError:
            if least:
                raise
            return []


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind
    return next((meant for meant, words in _HINTS if schema.keys() & set(words)), "string")


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    joined = {**other, **one}
    if "properties" in one and "properties" in other:
        joined["properties"] = {**other["properties"], **one["properties"]}
    if "required" in one and "required" in other:
        joined["required"] = list(dict.fromkeys((*other["required"], *one["required"])))
    return joined


def _number(schema: Mapping[str, Any], *, is_whole: bool) -> int | float:
    low, high = schema.get("minimum"), schema.get("maximum")
    over, under = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    step = schema.get("multipleOf", 1 if is_whole else None)
    if over is not None:
        low = max(over + (step or _between(over, under)), over if low is None else low)
    start: int | float = 1 if low is None else low
    for limit, gap in ((high, 0), (under, step or 0.5)):
        if limit is not None and low is None:
            start = min(start, limit - gap)
    if step is not None:
        start = (math.ceil if low is not None else math.floor)(start / step) * step
    return int(start) if start == int(start) else start


def _between(over: float, under: float | None) -> float:
    return 1 if under is None else (under - over) / 2


def _text(schema: Mapping[str, Any]) -> str:
    text = _FORMATS.get(schema.get("format", ""), _WORD)
    least, most = int(schema.get("minLength", 0)), schema.get("maxLength")
    if least > len(text):
        if least > _MOST_VALUES:
            raise NoSampleError
        text = text * (least // len(text) + 1)
        text = text[:least]
    return text if most is None else text[: int(most)]


def _matches(pattern: str, text: str) -> bool:
    """Say whether a short text matches; a long one could take a malicious pattern for ever."""
    try:
        return len(text) <= _LONGEST_MATCHED and re.search(pattern, text) is not None
    except re.error:
        return False
