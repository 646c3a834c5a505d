"""What the `parameters` of an `adapter.config.json` must be: the places where the members of an input go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skilleval.catalog.documents import key_path
from skilleval.catalog.rules import said
from skilleval.errors import Problem

STYLES = {
    "path": ("simple", "json"),
    "header": ("simple", "json"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject", "json"),
}
"""Where a parameter goes, and how its value may be written there; the first is the usual one."""
SET_BY_US = frozenset({"connection", "content-length", "host", "transfer-encoding", "accept-encoding"})
CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key"})

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PORT = "port"


def place_problems(value: Mapping[str, Any], entrypoint: str, where: str) -> Iterator[Problem]:
    """Find what the schema cannot: keys without effect, names that no header has, placeholders without a value."""
    parameters: Mapping[str, Mapping[str, Any]] | None = value.get("parameters")
    if parameters is None:
        return
    for name, place in parameters.items():
        yield from _effect_problems(place, key_path(("parameters", name)), where)
        if place["in"] == "header":
            wire, key = place.get("name", name), key_path(("parameters", name, "name"))
            yield from _header_problems(wire, key, where)
    bodies = [name for name, place in parameters.items() if place["in"] == "body"]
    for name in bodies[1:]:
        found = f"{bodies[0]} and {name}"
        yield Problem(where=where, key=key_path(("parameters", name)), expected="one body", found=found)
    in_path = {name for name, place in parameters.items() if place["in"] == "path"}
    yield from _path_problems(in_path, entrypoint, where, is_served="serve" in value)


def is_free_header(name: str) -> bool:
    """Say whether a skill may set a header: it is a name, no credential and nothing that we set."""
    word = name.lower()
    is_ours = word in SET_BY_US or word.startswith("x-skilleval-")
    return bool(_HEADER.fullmatch(name)) and word not in CREDENTIALS and not is_ours


def _effect_problems(place: Mapping[str, Any], key: str, where: str) -> Iterator[Problem]:
    spot, style = place["in"], place.get("style")
    if spot == "body":
        for name in sorted(place.keys() - {"in"}):
            yield Problem(where=where, key=f"{key}.{name}", expected="in alone, for the body", found=name)
        return
    if spot == "path" and "name" in place:
        hint = "the placeholder in the entrypoint has the name of the parameter"
        yield Problem(where=where, key=f"{key}.name", expected="no name in the path", found="one", hint=hint)
    if style is not None and style not in STYLES[spot]:
        expected = f"{' or '.join(STYLES[spot])}, in: {spot}"
        yield Problem(where=where, key=f"{key}.style", expected=expected, found=said(style))
    if "explode" in place and style in {"json", "deepObject"}:
        yield Problem(where=where, key=f"{key}.explode", expected=f"none with style {style}", found="one")


def _header_problems(name: str, key: str, where: str) -> Iterator[Problem]:
    if name.lower() in CREDENTIALS:
        hint = "use authType and authTokenEnvKey: a benchmark holds no secrets"
        yield Problem(where=where, key=key, expected="no credentials", found=said(name), hint=hint)
    elif not is_free_header(name) or name.lower() == "content-type":
        yield Problem(where=where, key=key, expected="a header of your own", found=said(name))


def _path_problems(names: set[str], entrypoint: str, where: str, *, is_served: bool) -> Iterator[Problem]:
    if not entrypoint.startswith("/"):
        hint = "put the rest of the address into baseUrl"
        expected = "a path that begins with /, beside parameters"
        yield Problem(where=where, key="entrypoint", expected=expected, found=said(entrypoint), hint=hint)
        return
    held = set(_PLACEHOLDER.findall(entrypoint.partition("?")[0]))
    if _PORT in names | held and not is_served:
        hint = "{port} stands for the port of a server of the skill's own: choose another name"
        yield Problem(where=where, key=f"parameters.{_PORT}", expected="another name", found=_PORT, hint=hint)
        return
    for name in sorted(names - held):
        expected = f"{{{name}}} in the entrypoint"
        yield Problem(
            where=where, key=key_path(("parameters", name)), expected=expected, found=said(entrypoint)
        )
    for name in sorted(held - names - {_PORT}):
        expected = "a parameter in: path for each placeholder of the entrypoint"
        yield Problem(where=where, key=key_path(("parameters", name)), expected=expected, found="nothing")
