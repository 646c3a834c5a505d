"""Recognises the many shapes in which people write evals, by what is there and never by the name of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skilleval.catalog.evals.documents import Lines
from skilleval.catalog.evals.findings import is_surely
from skilleval.catalog.shapes import described

WRAPPERS = ("evals", "test_cases", "cases", "scenarios", "tasks", "tests", "trigger_queries", "queries")
"""Keys under which the cases are found, the best first."""
BEHAVIOUR = "expected_behavior"
"""Criteria of another tool that are plain sentences, so that they can be judged."""
_VERDICTS: Mapping[str, bool] = {
    "shouldTrigger": True,
    "should_trigger": True,
    "positive": True,
    "shouldNotTrigger": False,
    "should_not_trigger": False,
    "negative": False,
}
PROMPTS = ("prompt", "query", "utterance", "input", "task", "instruction", "question", "text", "trigger")
"""Names under which the prompt is found, the best first."""
_NESTED = "vars"
_CRITERIA = frozenset(
    {
        "assert", "checks", "criteria", "deterministic_assertions", "dimensions", "evaluation_criteria", "expect",
        "graders", "must_contain", "must_not_contain", "rubric", "rubrics",
    }
)  # fmt: skip
_ELSEWHERE = "file://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An entry of a file of evals; `trigger` is what the list it stands in says of it, null where nothing."""

    place: str
    value: Any
    trigger: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a file of evals is made of. `about` is what stands beside the cases; `stranger` says what it is instead.

    `prompt_key` is null where no key could be the prompt; `n_elsewhere` counts cases that are in other files.
    """

    items: tuple[Item, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    wrapper: str | None = None
    prompt_key: str | None = None
    stranger: str | None = None
    n_elsewhere: int = 0


def shape_of(value: Any) -> Shape:
    """Recognise the shape of a parsed file."""
    if isinstance(value, Lines):
        items = tuple(Item(place=place, value=item) for place, item in value)
        return Shape(items=items, prompt_key=_prompt_key(items))
    if isinstance(value, list):
        items = tuple(_listed(value, ""))
        return Shape(items=items, prompt_key=_prompt_key(items))
    if isinstance(value, dict):
        return _shape_of_object(value)
    return Shape(stranger=described(value))


def _shape_of_object(value: Mapping[str, Any]) -> Shape:
    wrapper = next((key for key in WRAPPERS if isinstance(value.get(key), list)), None)
    verdicts = [key for key in _VERDICTS if isinstance(value.get(key), list)]
    if wrapper is not None:
        inside = value[wrapper]
        if inside and all(isinstance(item, str) and item.startswith(_ELSEWHERE) for item in inside):
            return Shape(about=value, wrapper=wrapper, n_elsewhere=len(inside))
        items = tuple(_listed(inside, wrapper))
    elif verdicts:
        items = tuple(item for key in verdicts for item in _listed(value[key], key, trigger=_VERDICTS[key]))
    else:
        is_schema = "$schema" in value or {"properties", "type"} <= value.keys()
        return Shape(about=value, stranger="a JSON Schema" if is_schema else described(value))
    about = {key: part for key, part in value.items() if key != wrapper and key not in verdicts}
    return Shape(items=items, about=about, wrapper=wrapper, prompt_key=_prompt_key(items))


def _listed(items: list[Any], name: str, *, trigger: bool | None = None) -> Iterator[Item]:
    for index, value in enumerate(items):
        item = {"query": value} if isinstance(value, str) and trigger is not None else value
        yield Item(place=f"{name}[{index}]", value=item, trigger=trigger)


def _prompt_key(items: tuple[Item, ...]) -> str | None:
    """Give the key that holds the prompts: `prompt` where it is used at all, else one that every case has."""
    objects = [item.value for item in items if isinstance(item.value, dict)]
    if any(PROMPTS[0] in value for value in objects):
        return PROMPTS[0]
    for key in PROMPTS:
        if objects and all(isinstance(value.get(key), str) and value[key].strip() for value in objects):
            return key
    nested = [value.get(_NESTED) for value in objects]
    if nested and all(isinstance(value, dict) and PROMPTS[0] in value for value in nested):
        return f"{_NESTED}.{PROMPTS[0]}"
    return None


def prompt_of(value: Mapping[str, Any], key: str | None) -> Any:
    """Give what stands under the key of the prompts; null where nothing does."""
    if key is None:
        return None
    outer, dot, inner = key.partition(".")
    return value[outer].get(inner) if dot and isinstance(value.get(outer), dict) else value.get(key)


def is_criterion(key: str) -> bool:
    """Say whether a key of another tool says what is expected."""
    if key == "expected_output" or is_surely(key, "expected_output"):
        return False
    is_expected = key.startswith("expected_") or "_expected_" in key or key.endswith("_expected")
    return is_expected or key in _CRITERIA


def n_criteria(value: Any) -> int:
    """Count criteria: a list counts its entries, anything else but null is one."""
    return len(value) if isinstance(value, list) else int(value is not None)
