"""Applies the JSON Schemas of this package and says each violation as a `Problem`."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from skilleval.catalog.documents import key_path
from skilleval.errors import Problem
from skilleval.strict import nearest

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

# Below this likeness two keys are different words: `timeout` is `timeoutMs` misspelt, `meta` is not `metadata`.
_MISSPELT = 0.7
_FOUND_LENGTH = 80
_DEFINED = "#/$defs/"


@dataclass(frozen=True, slots=True)
class _Broken:
    keyword: str
    rule: Mapping[str, Any]
    allowed: Any
    found: Any
    place: tuple[str | int, ...]
    where: str
    message: str

    def problem(self, *more: str, expected: str, found: str, hint: str = "") -> Problem:
        key = key_path((*self.place, *more))
        return Problem(where=self.where, key=key, expected=expected, found=found, hint=hint)


@cache
def schema(name: str) -> Mapping[str, Any]:
    """Load one of the shipped JSON Schemas, `skill` or `benchmark`."""
    text = (files("skilleval.catalog") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    whole = schema(name)
    return Draft202012Validator(_inlined(whole, whole.get("$defs", {})))


def _inlined(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Put what is defined in the place of references to it: to look each up takes as long as all other rules."""
    if isinstance(part, Mapping):
        if part.keys() == {"$ref"}:
            return _inlined(definitions[part["$ref"].removeprefix(_DEFINED)], definitions)
        return {key: _inlined(item, definitions) for key, item in part.items()}
    return [_inlined(item, definitions) for item in part] if isinstance(part, list) else part


def violations(value: object, *, name: str, where: str) -> tuple[Problem, ...]:
    """Hold a value against the schema `name`; empty where it fits."""
    broken = (_broken(error, where) for error in _validator(name).iter_errors(value))
    # jsonschema reports each missing key apart without naming it, so `_problems` names all of them each time.
    return tuple(dict.fromkeys(problem for rule in broken for problem in _problems(rule)))


def misspelt(key: str, known: Collection[str]) -> str | None:
    """Give the known key that `key` seems to mean; null where it is a word of its own."""
    plain = {_plain(name): name for name in known}
    close = difflib.get_close_matches(_plain(key), plain, n=1, cutoff=_MISSPELT)
    return plain[close[0]] if close else None


def said(value: object) -> str:
    """Show a value in a message: as JSON text, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _FOUND_LENGTH else f"{text[: _FOUND_LENGTH - 1]}…"


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def _broken(error: ValidationError, where: str) -> _Broken:
    rule, allowed = cast("Mapping[str, Any]", error.schema), cast("Any", error.validator_value)
    place = tuple(error.absolute_path)
    return _Broken(str(error.validator), rule, allowed, error.instance, place, where, error.message)


def _problems(broken: _Broken) -> Iterator[Problem]:
    if broken.keyword == "required":
        yield from _missing(broken)
    elif broken.keyword == "additionalProperties":
        yield from _unknown(broken)
    elif broken.keyword == "anyOf":
        names = [option["required"][0] for option in broken.allowed]
        yield broken.problem(names[0], expected=" or ".join(names), found="neither")
    else:
        is_word = broken.keyword == "enum" and isinstance(broken.found, str)
        hint = nearest(broken.found, broken.allowed) if is_word else ""
        expected = broken.rule.get("description", broken.message)
        yield broken.problem(expected=expected, found=said(broken.found), hint=hint)


def _missing(broken: _Broken) -> Iterator[Problem]:
    known = broken.rule["properties"]
    strangers = [key for key in broken.found if key not in known]
    for name in broken.allowed:
        if name not in broken.found:
            close = [key for key in strangers if misspelt(key, [name])]
            hint = f"rename {close[0]} to {name}" if close else ""
            expected = known[name].get("description", "a value")
            yield broken.problem(name, expected=expected, found="nothing", hint=hint)


def _unknown(broken: _Broken) -> Iterator[Problem]:
    known = list(broken.rule["properties"])
    for key in broken.found:
        if key not in known:
            hint = nearest(misspelt(key, known) or key, known)
            yield broken.problem(key, expected="a known key", found=said(key), hint=hint)
