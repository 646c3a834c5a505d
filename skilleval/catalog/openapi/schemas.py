"""Makes JSON Schemas that stand on their own of the schemas in an OpenAPI document.

What a schema refers to becomes one of its `$defs`, so that schemas may refer to themselves. OpenAPI 3.0 has a dialect
of its own, which is put into JSON Schema 2020-12. What a request must not hold is taken out of inputs, what an answer
need not hold is not asked of outputs.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skilleval.catalog.openapi.document import ApiDocument, Node, Place, UnusableOperationError
from skilleval.catalog.openapi.keywords import (
    DIALECTS,
    DROPPED,
    NAMED_SCHEMAS,
    REMARKS,
    SCHEMA_LISTS,
    SCHEMAS,
    wrong_value,
)
from skilleval.catalog.rules import said

DEFINITIONS = "$defs"
MOST_CHARACTERS = 60_000
"""Of the definitions of one schema: there are APIs in which everything leads to everything, in each operation."""

_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A schema whose references name definitions, and the places of these."""

    schema: Any
    places: tuple[Place, ...]
    size: int


class Schemas:
    """The schemas of a document, as they hold for inputs or for outputs; each is converted once."""

    def __init__(self, document: ApiDocument, *, is_input: bool) -> None:
        self._document = document
        self._is_input = is_input
        self._names: dict[Place, str] = {}
        self._taken: set[str] = set()
        self._converted: dict[Place, Converted] = {}
        self._places: dict[Place, None] = {}

    def closed(self, schema: Mapping[str, Any], parts: Mapping[str, Node]) -> tuple[dict[str, Any], bool]:
        """Give a schema with parts of the document as `properties`, all definitions, and whether these are whole."""
        properties = {name: self._part(node) for name, node in parts.items()}
        places = tuple(place for part in properties.values() for place in part.places)
        named = {name: part.schema for name, part in properties.items()}
        return self._with_definitions({**schema, "properties": named}, places)

    def one(self, nodes: list[Node]) -> tuple[dict[str, Any], bool]:
        """Give the schema of what fits one of several schemas, and whether its definitions are whole."""
        parts = [self._part(node) for node in nodes]
        written = [part.schema for part in parts]
        distinct = [item for index, item in enumerate(written) if item not in written[:index]]
        root = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
        if isinstance(root, bool):
            root = {} if root else {"not": {}}
        return self._with_definitions(root, tuple(place for part in parts for place in part.places))

    def _with_definitions(
        self, root: Mapping[str, Any], places: tuple[Place, ...]
    ) -> tuple[dict[str, Any], bool]:
        waiting, left = deque(dict.fromkeys(places)), MOST_CHARACTERS
        definitions: dict[str, Any] = {}
        is_whole = True
        while waiting:
            place = waiting.popleft()
            name = self._name(place)
            if name in definitions:
                continue
            converted = self._definition(place)
            if definitions and converted.size > left:
                definitions[name], is_whole = {"$comment": "left out: too much for one schema"}, False
                continue
            definitions[name], left = converted.schema, left - converted.size
            waiting.extend(converted.places)
        more = {DEFINITIONS: dict(sorted(definitions.items()))} if definitions else {}
        return {**root, **more}, is_whole

    def _definition(self, place: Place) -> Converted:
        if place not in self._converted:
            self._converted[place] = self._part(self._document.node(*place))
        return self._converted[place]

    def _part(self, node: Node) -> Converted:
        self._places = {}
        schema = self._schema(node)
        return Converted(schema=schema, places=tuple(self._places), size=len(json.dumps(schema)))

    def _name(self, place: Place) -> str:
        if place not in self._names:
            word = _NO_NAME.sub("_", str(place[-1])).strip("_") or "schema"
            name, number = word, 1
            while name in self._taken:
                number += 1
                name = f"{word}_{number}"
            self._names[place] = name
            self._taken.add(name)
        return self._names[place]

    def _schema(self, node: Node) -> Any:
        value = node.value
        if isinstance(value, bool) and (self._document.is_31 or node.place[-1] == "additionalProperties"):
            return value
        if not isinstance(value, dict):
            raise self._document.refusal(node.place, "a schema: an object", said(value))
        self._check(node)
        reference = self._reference(node)
        if reference is not None and not self._document.is_31:
            return reference  # what stands beside a reference has no meaning before 3.1
        written = {name: item for name, item in self._keywords(node) if name not in self._absent(node)}
        return self._nullable(node, {**(reference or {}), **written})

    def _reference(self, node: Node) -> dict[str, str] | None:
        if "$ref" not in node.value:
            return None
        self._document.followed(node)  # a schema that is only a reference to itself is none
        place = self._document.target(node).place
        self._places[place] = None
        return {"$ref": f"#/{DEFINITIONS}/{self._name(place)}"}

    def _check(self, node: Node) -> None:
        for name, item in node.value.items():
            expected = wrong_value(name, item)
            if expected is not None:
                raise self._document.refusal((*node.place, name), expected, said(item))
            if name in {"$dynamicRef", "$recursiveRef"}:
                raise UnusableOperationError(f"its schemas use {name}, which is not followed")
            if name == "$schema" and str(item).rstrip("#") not in DIALECTS:
                raise UnusableOperationError(f"its schemas are written in {said(item)}")

    def _keywords(self, node: Node) -> Iterator[tuple[str, Any]]:
        """Give the keywords of a schema as JSON Schema 2020-12 has them."""
        for name, item in node.value.items():
            part = node.child(name)
            if name in NAMED_SCHEMAS:
                yield name, self._named(part, node)
            elif name in SCHEMA_LISTS:
                yield name, [self._schema(part.child(index)) for index in range(len(item))]
            elif name in SCHEMAS:
                yield name, self._schema(part)
            else:
                yield from self._plain(name, item, node)
        if "example" in node.value and not isinstance(node.value.get("examples"), list):
            yield "examples", [node.value["example"]]

    def _plain(self, name: str, item: Any, node: Node) -> Iterator[tuple[str, Any]]:
        if name == "required":
            yield from self._required(node)
        elif name in _INCLUSIVE and isinstance(item, bool):
            limit = node.value.get(_INCLUSIVE[name])
            if item and limit is not None:
                yield name, limit
        elif name == "examples" and not isinstance(item, list):
            return  # written where it has no meaning
        elif name not in DROPPED and name != "$ref" and not name.startswith("x-"):
            yield name, item

    def _absent(self, node: Node) -> set[str]:
        """Name the limits that 3.0 makes exclusive by a truth value beside them."""
        return {limit for name, limit in _INCLUSIVE.items() if node.value.get(name) is True}

    def _named(self, part: Node, owner: Node) -> dict[str, Any]:
        hidden = (
            self._one_way(owner, "readOnly") if self._is_input and part.place[-1] == "properties" else set()
        )
        return {name: self._schema(part.child(name)) for name in part.value if name not in hidden}

    def _required(self, node: Node) -> Iterator[tuple[str, list[str]]]:
        free = self._one_way(node, "readOnly" if self._is_input else "writeOnly")
        names = [name for name in dict.fromkeys(node.value["required"]) if name not in free]
        if names:
            yield "required", names

    def _one_way(self, node: Node, keyword: str) -> set[str]:
        """Name the properties that only answers have (readOnly), or only requests (writeOnly)."""
        properties = node.child("properties")
        return {
            name
            for name, item in (properties.value or {}).items()
            if isinstance(item, dict)
            and self._document.followed(properties.child(name)).value.get(keyword) is True
        }

    def _nullable(self, node: Node, written: dict[str, Any]) -> dict[str, Any]:
        if self._document.is_31 or node.value.get("nullable") is not True:
            return written
        if isinstance(written.get("type"), str) and "enum" not in written:
            return {**written, "type": [written["type"], "null"]}
        return {"anyOf": [written, {"type": "null"}]}


_INCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def says_nothing(schema: Any, definitions: Mapping[str, Any]) -> bool:
    """Say whether a schema accepts everything, so that there is nothing to check."""
    seen: set[str] = set()
    while isinstance(schema, dict):
        told = schema.keys() - REMARKS - {DEFINITIONS}
        if told != {"$ref"} or schema["$ref"] in seen:
            return not told
        seen.add(schema["$ref"])
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    return schema is True
