"""Strict JSON files: what a catalog file must be before anybody asks what it means."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from skilleval.errors import CatalogError, Problem

_PLAIN_KEY = re.compile(r"[\w$-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A JSON file as it was read. `where` is its path as the user wrote it, `digest` the SHA-256 of its bytes."""

    where: str
    path: Path
    value: Any
    digest: str


@dataclass(frozen=True, slots=True)
class _Repeated:
    names: list[str]
    members: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _NotFinite:
    text: str


def key_path(parts: Iterable[str | int]) -> str:
    """Write a place inside a document the way people say it, e.g. `tasks[3].id`."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part)}]"
    return text


def read_document(path: Path) -> Document:
    """Read a JSON file strictly: UTF-8, no repeated keys, finite numbers only.

    Raises:
        CatalogError: says the place of what is wrong, by line and column or by key.
    """
    where = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        _refuse(Problem(where=where, expected="a file that can be read", found=error.strerror or str(error)))
    value = _parsed(_decoded(data, where), where)
    return Document(where=where, path=path.resolve(), value=value, digest=hashlib.sha256(data).hexdigest())


def _refuse(*problems: Problem) -> NoReturn:
    msg = f"{problems[0].where} cannot be used"
    raise CatalogError(msg, problems=problems)


def _decoded(data: bytes, where: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        _refuse(Problem(where=where, expected="UTF-8 text", found=found, hint="save the file as UTF-8"))
    if not text.strip():
        _refuse(Problem(where=where, expected="JSON", found="an empty file"))
    return text


def _parsed(text: str, where: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_NotFinite, parse_float=_float)
        faults = tuple(_faults(value, (), where))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        hint = "JSON has no comments, no trailing commas and only double quotes"
        _refuse(Problem(where=where, key=place, expected="JSON", found=error.msg.lower(), hint=hint))
    except RecursionError:
        _refuse(Problem(where=where, expected="JSON of reasonable depth", found="too many nested values"))
    except ValueError:
        # Python refuses to convert integers of more than some thousand digits.
        _refuse(
            Problem(where=where, expected="numbers of reasonable length", found="an integer that is too long")
        )
    if faults:
        _refuse(*faults)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Repeated:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    counts = Counter(name for name, _ in pairs)
    return _Repeated([name for name, count in counts.items() if count > 1], members)


def _float(text: str) -> float | _NotFinite:
    number = float(text)
    return number if math.isfinite(number) else _NotFinite(text)


def _faults(value: object, place: tuple[str | int, ...], where: str) -> Iterator[Problem]:
    if isinstance(value, _Repeated):
        for name in value.names:
            yield Problem(
                where=where, key=key_path((*place, name)), expected="each key once", found="it again"
            )
        yield from _faults(value.members, place, where)
    elif isinstance(value, _NotFinite):
        yield Problem(where=where, key=key_path(place), expected="a finite number", found=value.text)
    elif isinstance(value, str) and _SURROGATE.search(value):
        found = json.dumps(value)[:80]
        yield Problem(where=where, key=key_path(place), expected="text that UTF-8 can hold", found=found)
    else:
        for part, item in _parts(value):
            yield from _faults(item, (*place, part), where)


def _parts(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, list):
        yield from enumerate(value)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name, name
            yield name, item
