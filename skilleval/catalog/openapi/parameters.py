"""The parameters of an operation and its body as members of one input, each with a name of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from openapi_pydantic.v3.v3_1 import Example, ParameterLocation
from openapi_pydantic.v3.v3_1 import Parameter as ParameterModel

from skilleval.catalog.adapter_places import STYLES, is_free_header
from skilleval.catalog.openapi.document import ApiDocument, Node, UnusableOperationError
from skilleval.catalog.openapi.media import JSON, is_json

BODY = "body"

_ASIDE = ("schema", "content", "example", "examples", "style")
_NOT_PARAMETERS = frozenset({"accept", "content-type", "authorization"})
"""Headers that OpenAPI says other than by parameters."""
_BRACES = re.compile(r"[{}]")
_PORT = "port"
_USUAL_STYLES = {"path": "simple", "header": "simple", "query": "form"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One member of an input.

    `member` is its name in the input, `wire_name` its name in the request; `examples` are those that stand beside its
    schema, the best one first.
    """

    member: str
    where: str
    wire_name: str
    schema: Node
    is_required: bool
    style: str
    explode: bool
    description: str = ""
    examples: tuple[Any, ...] = ()

    def place(self) -> dict[str, Any]:
        """Give its entry in `adapter.config.json`; what goes without saying is left out."""
        if self.where == BODY:
            return {"in": BODY}
        said: dict[str, Any] = {"in": self.where}
        if self.where != "path" and self.wire_name != self.member:
            said["name"] = self.wire_name
        if self.style != _USUAL_STYLES[self.where]:
            said["style"] = self.style
        if self.style not in {"json", "deepObject"} and self.explode != (self.style == "form"):
            said["explode"] = self.explode
        return said


def body_parameter(document: ApiDocument, media: Node, *, is_required: bool) -> Parameter:
    """Make a member of a request body, which is kept whole: its fields do not mix with other parameters."""
    return Parameter(
        member=BODY,
        where=BODY,
        wire_name=BODY,
        schema=_some(media.child("schema")),
        is_required=is_required,
        style="json",
        explode=False,
        examples=tuple(_examples(document, media)),
    )


def read_parameters(
    document: ApiDocument, owners: tuple[Node, Node], body: Parameter | None
) -> tuple[Parameter, ...]:
    """Read the parameters of a path and its operation, whose own ones win; the body comes last.

    Raises:
        UnusableOperationError: one that is needed cannot be sent.
        CatalogError: the document is malformed at this point.
    """
    found: dict[tuple[str, str], Parameter] = {}
    for owner in owners:
        for node in document.items(owner.child("parameters")):
            one = _parameter(document, document.followed(node))
            if one is not None:
                found[one.where, one.wire_name] = one
    parameters = [*found.values(), *((body,) if body is not None else ())]
    return tuple(_named(parameters))


def _parameter(document: ApiDocument, node: Node) -> Parameter | None:
    """Read a parameter; null where it is not needed and cannot be sent."""
    model = document.read(ParameterModel, node, without=_ASIDE)
    if not model.name:
        raise document.refusal((*node.place, "name"), "a name", '""')
    where = model.param_in.value
    is_required = model.required or where == "path"
    obstacle = _obstacle(document, model, node)
    if obstacle:
        if is_required and model.name.lower() not in _NOT_PARAMETERS:
            raise UnusableOperationError(f"it needs the {where} parameter {model.name}, {obstacle}")
        return None
    media = next(document.members(node.child("content")), None)
    style = "json" if media is not None else node.child("style").value or _USUAL_STYLES[where]
    return Parameter(
        member=model.name,
        where=where,
        wire_name=model.name,
        schema=_some((media or node).child("schema")),
        is_required=is_required,
        style=style,
        explode=style == "form" if model.explode is None else model.explode,
        description=model.description or "",
        examples=tuple(_examples(document, media or node)),
    )


def _obstacle(document: ApiDocument, model: ParameterModel, node: Node) -> str:
    """Say why a parameter cannot be sent; empty where it can."""
    if model.param_in is ParameterLocation.COOKIE:
        return "and skills have no cookies"
    if model.param_in is ParameterLocation.HEADER and (
        model.name.lower() in _NOT_PARAMETERS or not is_free_header(model.name)
    ):
        return "a header that is not free to be set"
    kind = next((str(media.place[-1]) for media in document.members(node.child("content"))), JSON)
    if not is_json(kind):
        return f"written as {kind}"
    style = node.value.get("style")
    if style is not None and style not in STYLES[model.param_in.value]:
        return f"in the style {style}, which is not written here"
    return ""


def _some(schema: Node) -> Node:
    return schema if schema.value is not None else Node({}, schema.place)


def _named(parameters: list[Parameter]) -> Iterator[Parameter]:
    """Give each its own name: its plain one, with the place before it where two have the same."""
    plain = {id(one): _BRACES.sub("_", one.wire_name) for one in parameters}
    counts = Counter(plain.values())
    taken = {name for name, count in counts.items() if count == 1}
    for one in parameters:
        name = plain[id(one)]
        # In an address {port} stands for the port of a server that the skill brings.
        if counts[name] > 1 or (one.where == "path" and name == _PORT):
            name = f"{one.where}_{name}"
            while name in taken:
                name += "_"
            taken.add(name)
        yield replace(one, member=name)


def _examples(document: ApiDocument, node: Node) -> Iterator[Any]:
    if "example" in node.value:
        yield node.value["example"]
    examples = node.child("examples")
    if isinstance(examples.value, dict):
        for item in document.members(examples):
            example = document.followed(item)
            document.read(Example, example)
            if "value" in example.value:
                yield example.value["value"]
