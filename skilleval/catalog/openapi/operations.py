"""Reads the operations of an OpenAPI document: what each is given, where that goes, and what it answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from openapi_pydantic.v3.v3_1 import Operation as OperationModel
from openapi_pydantic.v3.v3_1 import RequestBody, Response

from skilleval.catalog.openapi.document import ApiDocument, Node, UnusableOperationError
from skilleval.catalog.openapi.media import json_media, listed
from skilleval.catalog.openapi.parameters import Parameter, body_parameter, read_parameters
from skilleval.catalog.openapi.security import Auth, operation_auth
from skilleval.catalog.openapi.servers import server_address

_METHODS = ("get", "put", "post", "patch", "delete")
_OTHER_METHODS = ("head", "options", "trace")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation that a skill can be made of.

    `path` begins with the path of a server whose host is not said; its placeholders are names of parameters.
    `sends` and `accepts` are media types. `answers` are the schemas of its good answers, of which one holds.
    """

    method: str
    label: str
    own_id: str
    name: str
    description: str
    tags: tuple[str, ...]
    address: str
    path: str
    parameters: tuple[Parameter, ...]
    sends: str
    accepts: str
    answers: tuple[Node, ...]
    auth: Auth | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """An operation that no skill is made of, and why."""

    label: str
    reason: str


def read_operations(document: ApiDocument, *, base_url: str = "") -> Iterator[Operation | LeftOut]:
    """Read all operations in their order; `base_url` is asked in place of the document's servers.

    Raises:
        CatalogError: the document is malformed; it says where.
    """
    for item in document.members(document.node("paths")):
        path = str(item.place[-1])
        if path.startswith("x-"):
            continue
        try:
            target = document.followed(item)
        except UnusableOperationError as error:
            yield LeftOut(label=path, reason=str(error))
            continue
        if not isinstance(target.value, dict):
            raise document.refusal(item.place, "an object with the methods of this path", repr(target.value))
        yield from _of_path(document, path, target, base_url)


def _of_path(document: ApiDocument, path: str, item: Node, base_url: str) -> Iterator[Operation | LeftOut]:
    for method in (*_METHODS, *_OTHER_METHODS):
        if method not in item.value:
            continue
        label = f"{method.upper()} {path}"
        if method in _OTHER_METHODS:
            yield LeftOut(label=label, reason=f"{method.upper()} gives no output")
            continue
        try:
            yield _operation(document, label, item, item.child(method), base_url)
        except UnusableOperationError as error:
            yield LeftOut(label=label, reason=str(error))


def _operation(document: ApiDocument, label: str, item: Node, node: Node, base_url: str) -> Operation:
    aside = ("parameters", "requestBody", "responses", "callbacks", "security", "servers")
    model = document.read(OperationModel, node, without=aside)
    method, _, path = label.partition(" ")
    answers, accepts = _answers(document, node)
    body, sends = _body(document, node)
    parameters = read_parameters(document, (item, node), body)
    server = base_url.rstrip("/") or server_address(document, node, item, document.node())
    is_whole = "://" in server
    summary = " ".join((model.summary or "").split())
    return Operation(
        method=method,
        label=label,
        own_id=model.operationId or "",
        name=summary or (model.operationId or "").strip() or label,
        description=(model.description or summary).strip(),
        tags=tuple(dict.fromkeys((*(model.tags or ()), *(("deprecated",) if model.deprecated else ())))),
        address=server if is_whole else "",
        path=("" if is_whole else server) + _template(document, path, node, parameters),
        parameters=parameters,
        sends=sends,
        accepts=accepts,
        answers=answers,
        auth=operation_auth(document, node),
    )


def _template(document: ApiDocument, path: str, node: Node, parameters: tuple[Parameter, ...]) -> str:
    """Give the path with the names of members of the input as placeholders."""
    if not path.startswith("/") or any(character.isspace() for character in path):
        raise document.refusal(("paths", path), "a path that begins with / and has no spaces", repr(path))
    members = {one.wire_name: one.member for one in parameters if one.where == "path"}
    held = _PLACEHOLDER.findall(path)
    for name in [*members.keys() - set(held), *(name for name in held if name not in members)]:
        expected = f"the path parameter {name} in the path and among the parameters"
        raise document.refusal((*node.place, "parameters"), expected, f"it in one of {path} and these")
    return _PLACEHOLDER.sub(lambda found: f"{{{members[found[1]]}}}", path)


def _body(document: ApiDocument, node: Node) -> tuple[Parameter | None, str]:
    asked = document.followed(node.child("requestBody"))
    if asked.value is None:
        return None, ""
    model = document.read(RequestBody, asked, without=("content",), content={})
    content = asked.child("content")
    media = json_media(document, content)
    if media is not None:
        body = body_parameter(document, media[1], is_required=model.required)
        return body, media[0]
    if model.required:
        raise UnusableOperationError(f"it takes {listed(content)}, and skills are given JSON")
    return None, ""


def _answers(document: ApiDocument, node: Node) -> tuple[tuple[Node, ...], str]:
    """Give the schemas of good answers in JSON, and the media type of the first one."""
    good = [one for one in document.members(node.child("responses")) if _is_good(one)]
    if not good:
        raise UnusableOperationError("no answer 2xx is described")
    contents = [_content(document, one) for one in sorted(good, key=lambda one: str(one.place[-1]).upper())]
    media = [found for content in contents if (found := json_media(document, content)) is not None]
    if not media:
        kinds = next((listed(content) for content in contents if content.value), None)
        reason = f"it answers {kinds}, and an output is JSON" if kinds else "its answer has no content"
        raise UnusableOperationError(reason)
    schemas = tuple(node.child("schema") for _, node in media)
    if any(schema.value is None for schema in schemas):
        raise UnusableOperationError("its answer has no schema")
    return schemas, media[0][0]


def _content(document: ApiDocument, answer: Node) -> Node:
    target = document.followed(answer)
    document.read(Response, target, without=("headers", "links", "content"), description="")
    return target.child("content")


def _is_good(answer: Node) -> bool:
    code = str(answer.place[-1]).upper()
    return code == "2XX" or (len(code) == len("200") and code.startswith("2") and code.isdecimal())
