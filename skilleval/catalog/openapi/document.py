"""An OpenAPI document: read, its references followed, its parts read by the models of `openapi_pydantic`.

A part is read once it is needed, without what is not needed of it: a document of thousands of operations is read
quickly, and its errors have the place where they stand. Schemas stay as they are written, for `schemas`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from openapi_pydantic.v3.v3_1 import Info
from pydantic import BaseModel, ValidationError

from skilleval.catalog.documents import key_path, read_document
from skilleval.catalog.rules import said
from skilleval.catalog.yaml_text import read_yaml
from skilleval.errors import CatalogError, Problem

Place = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)

_VERSION = re.compile(r"3\.([01])(?:\.[0-9]+)?(?:-\S+)?")
_MOST_STEPS = 50
_REF = "$ref"


class UnusableOperationError(Exception):
    """An operation that no skill can be made of; its text says why."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value in the document, and where it stands."""

    value: Any
    place: Place

    def child(self, part: str | int) -> Node:
        """Give what stands at a key or index; null where there is nothing."""
        is_index = isinstance(self.value, list) and isinstance(part, int)
        held = (
            self.value.get(part) if isinstance(self.value, dict) else self.value[part] if is_index else None
        )
        return Node(held, (*self.place, part))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiDocument:
    """A document with its file as the user wrote it. `is_31` says whether it is OpenAPI 3.1."""

    where: str
    root: Mapping[str, Any]
    is_31: bool

    def node(self, *place: str | int) -> Node:
        """Give what stands at a place; its value is null where there is nothing."""
        node = Node(self.root, ())
        for part in place:
            node = node.child(part)
        return node

    def refusal(self, place: Place, expected: str, found: str, hint: str = "") -> CatalogError:
        """Give the error that says what is wrong at a place."""
        problem = Problem(where=self.where, key=key_path(place), expected=expected, found=found, hint=hint)
        return CatalogError(f"{self.where} is no usable OpenAPI document", problems=(problem,))

    def members(self, node: Node) -> Iterator[Node]:
        """Give what an object holds; nothing where there is none.

        Raises:
            CatalogError: it is no object.
        """
        if node.value is not None and not isinstance(node.value, dict):
            raise self.refusal(node.place, "an object", said(node.value))
        yield from (node.child(name) for name in node.value or ())

    def items(self, node: Node) -> Iterator[Node]:
        """Give what a list holds; nothing where there is none.

        Raises:
            CatalogError: it is no list.
        """
        if node.value is not None and not isinstance(node.value, list):
            raise self.refusal(node.place, "a list", said(node.value))
        yield from (node.child(index) for index in range(len(node.value or ())))

    def followed(self, node: Node) -> Node:
        """Give what a reference, if it is one, leads to in the end.

        Raises:
            UnusableOperationError: it leads out of the document, to nothing, or round in a circle.
            CatalogError: it is no text.
        """
        current = node
        for _ in range(_MOST_STEPS):
            if not isinstance(current.value, dict) or _REF not in current.value:
                return current
            current = self.target(current)
        raise UnusableOperationError(_astray(node, "which leads back to itself"))

    def target(self, node: Node) -> Node:
        """Give what a reference leads to, which may be another one.

        Raises:
            UnusableOperationError: it leads out of the document, or to nothing.
            CatalogError: it is no text.
        """
        reference = node.value[_REF]
        if not isinstance(reference, str):
            raise self.refusal((*node.place, _REF), "a reference, as text", said(reference))
        if not reference.startswith("#/"):
            raise UnusableOperationError(
                f"it refers to {reference}: only pointers in this document are followed"
            )
        current = Node(self.root, ())
        for part in reference[2:].split("/"):
            step = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(current.value, dict) and step in current.value:
                current = current.child(step)
            elif isinstance(current.value, list) and step.isdecimal() and int(step) < len(current.value):
                current = current.child(int(step))
            else:
                raise UnusableOperationError(_astray(node, "which is not in this document"))
        return current

    def read(self, model: type[Model], node: Node, *, without: Collection[str] = (), **more: Any) -> Model:
        """Read an object by a model, but for some keys; `more` stands in for keys that the model insists on.

        Raises:
            CatalogError: it does not fit the model; it says the first place where.
        """
        if not isinstance(node.value, dict):
            raise self.refusal(node.place, "an object", said(node.value))
        value = {name: item for name, item in node.value.items() if name not in without}
        try:
            return model.model_validate({**value, **more})
        except ValidationError as error:
            raise self._misfit(node, error) from None

    def _misfit(self, node: Node, error: ValidationError) -> CatalogError:
        first = error.errors(include_url=False)[0]
        place, value = node.place, node.value
        for part in first["loc"]:
            # Among the steps are names of models that were tried, which are no places.
            is_key = isinstance(value, dict) and part in value
            if is_key or (isinstance(value, list) and isinstance(part, int)):
                place, value = (*place, part), value[part]
        if first["type"] == "missing":
            return self.refusal((*place, str(first["loc"][-1])), "a value", "nothing")
        expected = first["msg"].removeprefix("Input should be ").removeprefix("a valid ")
        return self.refusal(place, _WORDS.get(expected, expected), said(value))


def _astray(node: Node, why: str) -> str:
    """Say which reference cannot be followed, and where it stands: the operation that needs it may be far away."""
    return f"it refers to {node.value[_REF]}, {why} ({key_path((*node.place, _REF))})"


_WORDS = {"string": "a text", "dictionary": "an object", "list": "a list", "boolean": "true or false"}


def read_api(path: Path) -> ApiDocument:
    """Read an OpenAPI document, JSON or YAML.

    Raises:
        CatalogError: it cannot be read, or is of another kind or version.
    """
    where = str(path)
    value = read_document(path).value if _is_json(path) else read_yaml(path)
    if not isinstance(value, dict):
        problem = Problem(where=where, expected="an OpenAPI document: an object", found=said(value))
        raise CatalogError(f"{where} is no usable OpenAPI document", problems=(problem,))
    version = value.get("openapi")
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    document = ApiDocument(where=where, root=value, is_31=match is not None and match[1] == "1")
    if match is not None:
        document.read(Info, document.node("info"), without=("contact", "license"))
        return document
    if "swagger" in value:
        found, hint = f"swagger {said(value['swagger'])}", "convert it to OpenAPI 3 first"
    else:
        found, hint = "nothing" if version is None else said(version), ""
    raise document.refusal(("openapi",), '"3.0.x" or "3.1.x"', found, hint)


def _is_json(path: Path) -> bool:
    if path.suffix.lower() in {".yaml", ".yml"}:
        return False
    try:
        with path.open("rb") as file:
            return path.suffix.lower() == ".json" or file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(
                b"{"
            )
    except OSError:
        return True  # whose reader says what is wrong
