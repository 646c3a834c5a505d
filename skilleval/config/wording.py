"""Plain words for what a model refuses: no names of classes, no words of a library."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from pydantic import BaseModel

from skilleval.config.request import EXPERIMENT
from skilleval.config.trees import at
from skilleval.errors import Problem
from skilleval.strict import shown

_ABSENT = object()
_NOTHING = "nothing"
_PATTERN = "String should match pattern"
_NAME = "a name of letters, digits, `.`, `_` and `-` that begins with none of `.` and `-`"
_MAPPING = "a mapping"
_VALUE = "a value"


def in_plain_words(
    problem: Problem, model: type[BaseModel], values: Mapping[str, Any], groups: Collection[str]
) -> Problem:
    """Say a problem in plain words; where the name of an option stands for a group, say how to choose it."""
    value = at(values, problem.key, _ABSENT)
    if problem.key in groups and _names_options(value):
        expected = _keys_expected(model, problem.key) or "no key of this name"
        return replace(problem, expected=expected, found=shown(value), hint=_choosing(problem.key, value))
    expected = _expected(problem, model)
    found = problem.found if value is _ABSENT or expected == "a known key" else shown(value)
    hint = _elsewhere(problem, model) or problem.hint or _scorer_hint(problem, value)
    return replace(problem, expected=expected, found=found, hint=hint)


def completing(problems: Iterable[Problem], groups: Collection[str]) -> str:
    """Say how an option of one's own takes over what it leaves out; "" where no setting of a group is missing."""
    for one in problems:
        group, _, name = one.key.partition(".")
        if name and group in groups and one.expected == _VALUE and one.found == _NOTHING:
            return f"a file of your own in conf/{group}/ takes over the rest of an option with `defaults: [OPTION]`"
    return ""


def _elsewhere(problem: Problem, model: type[BaseModel]) -> str:
    """Say where a key of this name belongs that stands in the wrong place, e.g. `repeats` at the top of a file."""
    if problem.expected != "a known key":
        return ""
    name = problem.key.rpartition(".")[2]
    places = [place for place in _places(model) if place.rpartition(".")[2] == name]
    return f"did you mean {' or '.join(places)}?" if places else ""


def _places(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Give the dotted key of every setting with a fixed name."""
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}"
        if _is_model(field.annotation):
            yield from _places(field.annotation, f"{prefix}{name}.")


def _names_options(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
    )


def _choosing(group: str, value: str | list[str]) -> str:
    option = value if isinstance(value, str) else f"[{', '.join(value)}]"
    if group == EXPERIMENT:
        return f"an experiment is asked for on the command line: +{group}={option}"
    return f"to choose an option write defaults: [{{override /{group}: {option}}}]"


def _expected(problem: Problem, model: type[BaseModel]) -> str:
    expected = problem.expected
    if expected == _MAPPING or (problem.found == _NOTHING and expected == _VALUE):
        return _keys_expected(model, problem.key) or expected
    return _NAME if expected.startswith(_PATTERN) else expected


def _keys_expected(model: type[BaseModel], key: str) -> str:
    """Give the keys that a mapping at a dotted key has, "" where no mapping of fixed keys is expected."""
    inner: Any = model
    for part in key.split("."):
        field = inner.model_fields.get(part) if _is_model(inner) else None
        inner = field.annotation if field else None
    return f"a mapping with the keys {', '.join(inner.model_fields)}" if _is_model(inner) else ""


def _is_model(annotation: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _scorer_hint(problem: Problem, value: Any) -> str:
    """Say what is missing where no scorer was chosen, or where options are given to one that was not."""
    block, _, name = problem.key.partition(".")
    if problem.key == "scorers" and value is _ABSENT:
        return "choose one with scorer=OPTION"
    if block != "scorers" or "`kind`" not in problem.expected or not isinstance(value, Mapping):
        return ""
    return f"choose this scorer with defaults: [{{override /scorer: {name}}}], or give it a kind"
