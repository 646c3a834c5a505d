"""The base of every options model: frozen, typed strictly, closed to unknown keys."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from skilleval.errors import ConfigError, Problem

_FOUND_LENGTH = 120
_ALL_PERCENT = 100
_WORDS: tuple[tuple[str, str], ...] = (
    (r"a valid integer.*", "a whole number"),
    (r"a valid number", "a number"),
    (r"a valid string", "a text"),
    (r"a valid boolean.*", "true or false"),
    (r"a valid (?:tuple|list)", "a list"),
    (r"a valid dictionary", "a mapping"),
    (r"(greater|less) than or equal to (.*)", r"a number \1 than or equal to \2"),
    (r"(greater|less) than (.*)", r"a number \1 than \2"),
    (r"String should have at least 1 .*", "a text that is not empty"),
    (r"\w+ should have at least 1 item.*", "at least one entry"),
)


class StrictModel(BaseModel):
    """Options without defaults of their own: defaults live in `conf/`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @classmethod
    def parse(cls, values: Mapping[str, Any], *, where: str, prefix: str = "") -> Self:
        """Validate plain values (as YAML gives them) into the model.

        Raises:
            ConfigError: one problem a wrong key, with its dotted path, what was expected and what was found.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            problems = tuple(_problem(cls, item, where, prefix) for item in error.errors(include_url=False))
            msg = f"{len(problems)} setting{'s' if len(problems) > 1 else ''} cannot be used"
            raise ConfigError(msg, problems=problems) from None


def nearest(word: str, known: list[str]) -> str:
    """Give a hint that names the nearest known word, or all of them."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"known: {', '.join(sorted(set(known)))}"


def shown(value: Any) -> str:
    """Show a value as one would write it in a settings file."""
    return json.dumps(value, ensure_ascii=False, default=str)[:_FOUND_LENGTH]


def _problem(model: type[BaseModel], item: Any, where: str, prefix: str) -> Problem:
    path = [str(part) for part in item["loc"]]
    key = ".".join([prefix, *path] if prefix else path)
    if item["type"] == "extra_forbidden":
        known = _fields_at(model, path[:-1])
        return Problem(
            where=where, key=key, expected="a known key", found=path[-1], hint=nearest(path[-1], known)
        )
    if item["type"] == "missing":
        return Problem(where=where, key=key, expected="a value", found="nothing")
    return Problem(
        where=where, key=key, expected=_expected(item), found=shown(item["input"]), hint=_as_share(item)
    )


def _as_share(item: Any) -> str:
    """Say what to write for a percentage where a number up to 1 is asked for."""
    found = item["input"]
    is_capped = 1 in {item.get("ctx", {}).get(bound) for bound in ("le", "lt")}
    return percent_hint(found) if is_capped and isinstance(found, int | float) else ""


def percent_hint(number: float) -> str:
    """Give the share that a percentage comes to, e.g. of 90; nothing where it can be none."""
    return f"{number:g} % is {number / 100:g}" if 1 < abs(number) <= _ALL_PERCENT else ""


def _expected(item: Any) -> str:
    """Give what was expected; the classes of ours are mappings to everybody else."""
    return "a mapping" if item["type"] == "model_type" else _plain_words(str(item["msg"]))


def _plain_words(expected: str) -> str:
    """Say what a model expects without the words of the library that checks it."""
    said = expected.removeprefix("Input should be ").removeprefix("Value error, ")
    for pattern, words in _WORDS:
        found = re.fullmatch(pattern, said)
        if found:
            return found.expand(words)
    return re.sub(r"'([^']*)'", r"\1", said)


def _fields_at(model: type[BaseModel], path: list[str]) -> list[str]:
    """Give the keys that are known at a place; the number of an entry in a list leads to the model of its entries."""
    current = model
    for part in path:
        if part.isdecimal():
            continue
        field = current.model_fields.get(part)
        found = None if field is None else _model_in(field.annotation)
        if found is None:
            break
        current = found
    return list(current.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Find the model that a field holds, alone or in a list."""
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and issubclass(one, BaseModel):
            return one
    return None
