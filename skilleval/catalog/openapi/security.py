"""What an operation asks of who calls it: by which header it knows them, and which variable holds the token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from openapi_pydantic.v3.v3_1 import SecurityScheme

from skilleval.catalog.adapter_places import is_free_header
from skilleval.catalog.openapi.document import ApiDocument, Node, UnusableOperationError
from skilleval.catalog.rules import said

_NO_LETTER = re.compile(r"[^A-Z0-9]+")
_LONGEST_NAME = 80
_API_KEY_HEADER = "x-api-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """How a skill says who calls, as in `adapter.config.json`; `variable` is only the name of where the token is."""

    kind: str
    variable: str
    header: str = ""

    def options(self) -> dict[str, str]:
        """Give the keys of an `adapter.config.json`."""
        header = {"authHeader": self.header} if self.header else {}
        return {"authType": self.kind, "authTokenEnvKey": self.variable, **header}


def operation_auth(document: ApiDocument, operation: Node) -> Auth | None:
    """Give the first way in that a skill can take; null where anybody may call.

    Raises:
        UnusableOperationError: there is no such way.
        CatalogError: the document is malformed at this point.
    """
    asked = operation.child("security")
    if asked.value is None:
        asked = document.node("security")
    reasons: list[str] = []
    for way in document.items(asked):
        names = [node.place[-1] for node in document.members(way)]
        if not names:
            return None
        reason = _obstacle(document, names)
        if reason is None:
            return _auth(document, str(names[0]))
        reasons.append(reason)
    if reasons:
        raise UnusableOperationError(f"it asks for {', or '.join(dict.fromkeys(reasons))}")
    return None


def _scheme(document: ApiDocument, name: str) -> SecurityScheme:
    place = ("components", "securitySchemes", name)
    node = document.node(*place)
    if node.value is None:
        raise document.refusal(place, "the security scheme that operations ask for", "nothing")
    return document.read(SecurityScheme, document.followed(node), without=("flows",))


def _obstacle(document: ApiDocument, names: list[str | int]) -> str | None:
    """Say why a skill cannot fulfil a requirement; null where it can."""
    if len(names) > 1:
        return f"{' and '.join(map(str, names))} at once"
    return next(_obstacles(_scheme(document, str(names[0]))), None)


def _obstacles(scheme: SecurityScheme) -> Iterator[str]:
    kind, spot = scheme.type.lower(), scheme.security_scheme_in
    if kind == "http" and (scheme.scheme or "").lower() != "bearer":
        yield f"HTTP authentication of the kind {scheme.scheme}"
    elif kind == "apikey" and (spot != "header" or not scheme.name):
        yield f"a key in the {spot}"
    elif kind == "apikey" and not _is_usable(str(scheme.name)):
        yield f"a key in the header {said(scheme.name)}"
    elif kind not in {"http", "apikey", "oauth2", "openidconnect"}:
        yield scheme.type


def _is_usable(name: str) -> bool:
    return is_free_header(name) or name.lower() in {_API_KEY_HEADER, "authorization"}


def _auth(document: ApiDocument, name: str) -> Auth:
    scheme = _scheme(document, name)
    title = document.node("info", "title").value
    variable = _variable(title if isinstance(title, str) else "", name)
    if scheme.type.lower() != "apikey":
        return Auth(kind="bearer", variable=variable)
    header: Any = scheme.name
    if header.lower() == _API_KEY_HEADER:
        return Auth(kind="api_key", variable=variable)
    return Auth(kind="header", variable=variable, header=header)


def _variable(*words: str) -> str:
    """Name a variable that the file of a skill may name, and that two APIs do not share by chance."""
    parts = (_NO_LETTER.sub("_", word.upper()).strip("_") for word in words)
    return "_".join(("SKILLEVAL", *filter(None, parts)))[:_LONGEST_NAME].rstrip("_")
