"""Plain words for what a model refuses: no names of classes, no words of a library."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from skilleval.config.request import EXPERIMENT
from skilleval.config.trees import at
from skilleval.errors import Problem

_ABSENT = object()
_NOTHING = "nothing"
_WORDS: tuple[tuple[str, str], ...] = (
    (r"a valid integer.*", "a whole number"),
    (r"a valid number", "a number"),
    (r"a valid string", "a text"),
    (r"a valid boolean.*", "true or false"),
    (r"a valid (?:tuple|list)", "a list"),
    (r"a valid dictionary", "a mapping"),
    (r"(greater|less) than or equal to (.*)", r"a number \1 than or equal to \2"),
    (r"(greater|less) than (.*)", r"a number \1 than \2"),
    (
        r"String should match pattern .*",
        "a name of letters, digits, `.`, `_` and `-` that begins with none of `.` and `-`",
    ),
    (r"String should have at least 1 .*", "a text that is not empty"),
    (r"\w+ should have at least 1 item.*", "at least one entry"),
)
_CLASS = re.compile(r"a valid dictionary or instance of \w+")


def in_plain_words(
    problem: Problem, model: type[BaseModel], values: Mapping[str, Any], groups: Collection[str]
) -> Problem:
    """Say a problem in plain words; where the name of an option stands for a group, say how to choose it."""
    value = at(values, problem.key, _ABSENT)
    if problem.key in groups and _names_options(value):
        expected = _keys_expected(model, problem.key) or "no key of this name"
        return replace(problem, expected=expected, found=_shown(value), hint=_choosing(problem.key, value))
    expected = _expected(problem, model)
    found = problem.found if value is _ABSENT or expected == "a known key" else _shown(value)
    hint = problem.hint or _scorer_hint(problem, value)
    return replace(problem, expected=expected, found=found, hint=hint)


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
    if _CLASS.fullmatch(problem.expected) or (problem.found == _NOTHING and problem.expected == "a value"):
        return _keys_expected(model, problem.key) or "a value"
    for pattern, words in _WORDS:
        found = re.fullmatch(pattern, problem.expected)
        if found:
            return found.expand(words)
    return problem.expected.replace("'", "")


def _keys_expected(model: type[BaseModel], key: str) -> str:
    """Give the keys that a mapping at a dotted key has, "" where no mapping of fixed keys is expected."""
    inner: Any = model
    for part in key.split("."):
        field = inner.model_fields.get(part) if _is_model(inner) else None
        inner = field.annotation if field else None
    return f"a mapping with the keys {', '.join(inner.model_fields)}" if _is_model(inner) else ""


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _scorer_hint(problem: Problem, value: Any) -> str:
    """Say what is missing where no scorer was chosen, or where options are given to one that was not."""
    block, _, name = problem.key.partition(".")
    if problem.key == "scorers" and value is _ABSENT:
        return "choose one with scorer=OPTION"
    if block != "scorers" or "`kind`" not in problem.expected or not isinstance(value, Mapping):
        return ""
    return f"choose this scorer with defaults: [{{override /scorer: {name}}}], or give it a kind"


def _shown(value: Any) -> str:
    """Show a value as one would write it in a settings file."""
    return json.dumps(value, ensure_ascii=False, default=str)[:120]
