"""Where the operations of an OpenAPI document are asked."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from openapi_pydantic.v3.v3_1 import Server

from skilleval.catalog.openapi.document import ApiDocument, Node, UnusableOperationError
from skilleval.catalog.rules import said

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_SECRET = re.compile(r"[^/]*//[^/?#]*@")
_ADDRESS = re.compile(r"https?://[^\s/{}]+[^\s{}]*", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Say whether a text is an address that skills can have, without name and password."""
    try:
        has_host = bool(urlsplit(text).hostname)
    except ValueError:
        return False
    return has_host and _ADDRESS.fullmatch(text) is not None and not _SECRET.match(text)


def server_address(document: ApiDocument, *owners: Node) -> str:
    """Give the first server of the first owner that has any: an address, or a path below one that is not said.

    Raises:
        UnusableOperationError: it is no HTTP address.
        CatalogError: the document is malformed at this point.
    """
    for owner in owners:
        for node in document.items(owner.child("servers")):
            return _address(document, node)
    return ""


def _address(document: ApiDocument, node: Node) -> str:
    server = document.read(Server, node)
    values = {name: variable.default for name, variable in (server.variables or {}).items()}
    for name in _VARIABLE.findall(server.url):
        if name not in values:
            raise document.refusal((*node.place, "variables", name), "a variable with a default", "nothing")
    url = _VARIABLE.sub(lambda found: str(values[found[1]]), server.url).rstrip("/")
    if "://" not in url:
        return f"/{url.lstrip('/')}" if url else ""
    if is_address(url):
        return url
    if _SECRET.match(url):
        hint = "use a security scheme: addresses are shown in messages"
        raise document.refusal((*node.place, "url"), "an address without name and password", "one with", hint)
    raise UnusableOperationError(f"its server {said(url)} is no HTTP address")
