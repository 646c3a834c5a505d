"""Where the members of an input go in an HTTP request, for skills whose `adapter.config.json` has `parameters`.

The forms of lists and objects are those of OpenAPI (`style`, `explode`), so that such a skill can be any HTTP API.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from skilleval.adapters.text import compact_json

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_IN_HEADERS = re.compile(r"[!-~](?:[ -~]*[!-~])?|")
_STEPS = frozenset({"", ".", ".."})
_USUAL = {"path": "simple", "header": "simple", "query": "form", "body": "json"}


class UnsendableError(ValueError):
    """An input cannot be made into a request of the skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one member of the input goes: `where` is path, query, header or body; `name` is its name there."""

    where: str
    name: str
    style: str
    explode: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An input as parts of a request. `body` is JSON text, null where there is none."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None

    def address(self, template: str) -> str:
        """Fill in an address whose placeholders are names of members, and add the query.

        Raises:
            UnsendableError: the input has no value for one of them.
        """
        start, mark, rest = template.partition("?")
        queries = [part for part in (rest, self.query) if part]
        mark = "?" if queries else mark
        return f"{_PLACEHOLDER.sub(self._step, start)}{mark}{'&'.join(queries)}"

    def _step(self, found: re.Match[str]) -> str:
        if found[1] not in self.path:
            raise UnsendableError(f"the input has no {found[1]}, which is part of the address")
        return self.path[found[1]]


def build_places(parameters: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Place]:
    """Make places of the valid `parameters` of an `adapter.config.json`."""
    return {name: _place(name, said) for name, said in parameters.items()}


def _place(name: str, said: Mapping[str, Any]) -> Place:
    where = said["in"]
    style = said.get("style", _USUAL[where])
    return Place(
        where=where, name=said.get("name", name), style=style, explode=said.get("explode", style == "form")
    )


def placed(places: Mapping[str, Place], given: Mapping[str, Any]) -> Placed:
    """Put each member of an input where it belongs; a null is left out, but for the body.

    Raises:
        UnsendableError: a member has no place, or its value fits into none.
    """
    strangers = [name for name in given if name not in places]
    if strangers:
        raise UnsendableError(f"the skill has no parameter {strangers[0]}")
    path: dict[str, str] = {}
    query: list[str] = []
    headers: dict[str, str] = {}
    body: str | None = None
    for name, value in given.items():
        place = places[name]
        if place.where == "body":
            body = json_text(value)
        elif value is not None and place.where == "path":
            path[name] = _path_step(place, value)
        elif value is not None and place.where == "query":
            query += _query_pairs(place, value)
        elif value is not None:
            headers[place.name] = _header(place, value)
    return Placed(path=path, query="&".join(query), headers=headers, body=body)


def json_text(value: Any) -> str:
    """Give a value as the JSON text of a body; lone surrogates stay, to be escaped where it becomes bytes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _path_step(place: Place, value: Any) -> str:
    step = _simple(place, value, _quoted)
    if step in _STEPS:
        # Another address than the one that was declared: `/pets/..` is `/`.
        raise UnsendableError(f"{place.name} is {step!r}, which is no part of an address")
    return step


def _header(place: Place, value: Any) -> str:
    text = _simple(place, value, str)
    if not _IN_HEADERS.fullmatch(text):
        raise UnsendableError(f"{place.name} holds what a header cannot: only printable ASCII characters")
    return text


def _query_pairs(place: Place, value: Any) -> Iterator[str]:
    name = _quoted(place.name)
    if place.style == "json" or not isinstance(value, list | dict):
        yield f"{name}={_quoted(_text(value, is_json=place.style == 'json'))}"
    elif isinstance(value, dict) and place.style == "deepObject":
        yield from (f"{name}{_quoted(f'[{key}]')}={_quoted(_text(item))}" for key, item in value.items())
    elif isinstance(value, dict) and place.explode:
        yield from (f"{_quoted(key)}={_quoted(_text(item))}" for key, item in value.items())
    elif place.explode or place.style == "deepObject":
        yield from (f"{name}={_quoted(_text(item))}" for item in value)
    else:
        yield f"{name}={_SEPARATORS[place.style].join(map(_quoted, _flat(value)))}"


_SEPARATORS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


def _simple(place: Place, value: Any, spelled: Callable[[str], str]) -> str:
    if place.style == "json" or not isinstance(value, list | dict):
        return spelled(_text(value, is_json=place.style == "json"))
    if isinstance(value, dict) and place.explode:
        return ",".join(f"{spelled(key)}={spelled(_text(item))}" for key, item in value.items())
    return ",".join(map(spelled, _flat(value)))


def _flat(value: list[Any] | dict[str, Any]) -> Iterator[str]:
    if isinstance(value, list):
        yield from map(_text, value)
    else:
        for key, item in value.items():
            yield from (key, _text(item))


def _text(value: Any, *, is_json: bool = False) -> str:
    """Give a value as text: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) and not is_json else compact_json(value)[0]


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")
