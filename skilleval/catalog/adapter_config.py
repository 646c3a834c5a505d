"""Reads `adapter.config.json`, which may stand beside a `skill.json` and says how the skill wants to be driven.

Every key takes effect or is refused: a setting that is silently without effect is worse than none.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from skilleval.catalog.adapter_places import CREDENTIALS, SET_BY_US, place_problems
from skilleval.catalog.documents import Document, read_document
from skilleval.catalog.rules import misspelt, said, violations
from skilleval.errors import CatalogError, Problem

ADAPTER_CONFIG = "adapter.config.json"

_EVERYWHERE = frozenset({"$schema", "type", "timeoutMs", "retries"})
_KEYS = {
    "http": _EVERYWHERE
    | {"baseUrl", "method", "headers", "authType", "authTokenEnvKey", "authHeader", "serve", "parameters"},
    "subprocess": _EVERYWHERE | {"command", "args"},
    "mcp": _EVERYWHERE | {"command", "args", "headers", "authType", "authTokenEnvKey", "authHeader"},
}
_NOT_YOURS = {
    "inprocess": "only who runs a skill may trust it that far: adapter.python.inprocess=true",
    "token": "name the variable that holds it with authTokenEnvKey: secrets never stand in a file",
}
_JSON_TYPE = re.compile(r"application/(?:[!-~]+\+)?json", re.IGNORECASE)
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterConfig:
    """What the file comes to: options by their snake_case names, and the entrypoint where it gives another one."""

    options: Mapping[str, Any] = field(default_factory=dict)
    entrypoint: str | None = None


def read_adapter_config(folder: Path, manifest: Mapping[str, Any]) -> AdapterConfig:
    """Read the file in a skill's folder; without one there are no options. `manifest` is its valid `skill.json`.

    Raises:
        CatalogError: one problem a mistake, with the key, what was expected and what was found.
    """
    path = folder / ADAPTER_CONFIG
    if not (path.exists() or path.is_symlink()):
        return AdapterConfig()
    document = read_document(path)
    problems = violations(_without_strangers(document), name="adapter", where=document.where)
    problems = (*_strangers(document), *problems) or tuple(_contradictions(document, manifest))
    if problems:
        msg = f"{document.where} cannot be used"
        raise CatalogError(msg, problems=problems)
    return _adapter_config(document.value)


def _strangers(document: Document) -> Iterator[Problem]:
    """Say what is wrong with keys that people expect and that must not be there."""
    if isinstance(document.value, dict):
        for key in document.value:
            meant = misspelt(key, _NOT_YOURS)
            if meant is not None:
                expected = "no such key here"
                yield Problem(
                    where=document.where, key=key, expected=expected, found=said(key), hint=_NOT_YOURS[meant]
                )


def _without_strangers(document: Document) -> object:
    if not isinstance(document.value, dict):
        return document.value
    return {key: value for key, value in document.value.items() if misspelt(key, _NOT_YOURS) is None}


def _contradictions(document: Document, manifest: Mapping[str, Any]) -> Iterator[Problem]:
    value, kind, where = document.value, manifest["adapterType"], document.where
    if value.get("type", kind) != kind:
        expected = f"{kind}, the adapterType of skill.json"
        yield Problem(where=where, key="type", expected=expected, found=said(value["type"]))
        return
    known = _KEYS.get(kind, _EVERYWHERE)
    for key in sorted(value.keys() - known):
        owner = next(owner for owner, keys in _KEYS.items() if key in keys)
        hint = f"only skills of adapterType {owner} have it; here it would be without effect"
        yield Problem(
            where=where, key=key, expected=f"a key for adapterType {kind}", found=said(key), hint=hint
        )
    if "args" in value and "command" not in value:
        yield Problem(where=where, key="command", expected="a program to go with args", found="nothing")
    yield from _header_problems(value.get("headers", {}), where)
    yield from _auth_problems(value, where)
    yield from _address_problems(value, manifest["entrypoint"], where)
    yield from place_problems(value, manifest["entrypoint"], where)


def _header_problems(headers: Mapping[str, str], where: str) -> Iterator[Problem]:
    for name, value in headers.items():
        word, key = name.lower(), f"headers.{name}"
        if word in CREDENTIALS:
            hint = "use authType and authTokenEnvKey: secrets never stand in a file"
            yield Problem(where=where, key=key, expected="no credentials", found=said(name), hint=hint)
        elif word in SET_BY_US or word.startswith("x-skilleval-"):
            yield Problem(where=where, key=key, expected="a header of your own", found=said(name))
        elif word == "content-type" and not _JSON_TYPE.fullmatch(value.partition(";")[0].strip()):
            expected = "application/json, or a type that ends with +json"
            yield Problem(where=where, key=key, expected=expected, found=said(value))


def _auth_problems(value: Mapping[str, Any], where: str) -> Iterator[Problem]:
    kind = value.get("authType", "none")
    wanted = {
        "authTokenEnvKey": kind != "none",
        "authHeader": kind == "header",
    }
    for key, is_wanted in wanted.items():
        if is_wanted and key not in value:
            yield Problem(where=where, key=key, expected=f"a name, for authType {kind}", found="nothing")
        elif not is_wanted and key in value:
            hint = "without effect here: remove it, or choose an authType that uses it"
            yield Problem(
                where=where,
                key=key,
                expected=f"no {key} with authType {kind}",
                found=said(value[key]),
                hint=hint,
            )


def _address_problems(value: Mapping[str, Any], entrypoint: str, where: str) -> Iterator[Problem]:
    base = value.get("baseUrl")
    if base is None:
        return
    if ("{port}" in base) != ("serve" in value):
        expected = "{port} where the free port goes" if "serve" in value else "a fixed port without serve"
        yield Problem(where=where, key="baseUrl", expected=expected, found=said(base))
    if "://" in entrypoint and not _is_below(entrypoint, base):
        hint = "make the entrypoint of skill.json a path such as /invoke"
        yield Problem(
            where=where, key="baseUrl", expected=f"the start of {entrypoint}", found=said(base), hint=hint
        )


def _is_below(address: str, base: str) -> bool:
    whole, start = urlsplit(address), urlsplit(base)
    is_same_host = (whole.scheme, whole.netloc) == (start.scheme, start.netloc)
    return is_same_host and f"{whole.path}/".startswith(f"{start.path.rstrip('/')}/")


def _adapter_config(value: Mapping[str, Any]) -> AdapterConfig:
    unread = {"$schema", "type", "command", "args"}
    options = {_snake_case(key): item for key, item in value.items() if key not in unread}
    if "auth_type" in options:
        options["auth_type"] = options["auth_type"].replace("-", "_")
    if "retries" in options:
        options["retries"] = int(options["retries"])  # 1.0 is a whole number in JSON
    if "serve" in options:
        options["serve"] = {"ready": "tcp", **options["serve"]}
    has_command = "command" in value
    entrypoint = shlex.join([value["command"], *value.get("args", ())]) if has_command else None
    return AdapterConfig(options=options, entrypoint=entrypoint)


def _snake_case(key: str) -> str:
    return _WORD_START.sub("_", key).lower()
