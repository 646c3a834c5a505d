"""Reads what a case asserts, in all the forms that are met: texts, and objects with the text under many names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skilleval.catalog.evals.findings import Findings, Said

LISTS = ("assertions", "expectations")
"""The second name is what skill-creator writes; both may be there."""
_TEXTS = ("text", "value", "criterion", "assertion", "expectation", "description")
_KNOWN = (*_TEXTS, "id", "name", "weight", "required", "check", "expected", "type")
_PROMOTED = "The output satisfies this description: "


def assertions_of(place: str, item: Mapping[str, Any], findings: Findings) -> tuple[Mapping[str, Any], ...]:
    """Give the assertions of a case as objects with `id` and `text`, and `weight` and `required` where given."""
    written = [
        (f"{place}.{key}[{index}]", entry)
        for key in LISTS
        for index, entry in enumerate(findings.entries(place, item, key))
    ]
    read = [(spot, one) for spot, entry in written if (one := _assertion(spot, entry, findings)) is not None]
    return tuple(with_ids(read, "a", findings))


def promoted(text: str, key: str) -> Mapping[str, Any]:
    """Make the keys of `expected` for a case that has only a description of the expected output."""
    return {"assertions": [{"id": "a1", "text": f"{_PROMOTED}{text}"}], "assertions_from": key}


def with_ids(
    read: list[tuple[str, dict[str, Any]]], prefix: str, findings: Findings
) -> Iterator[Mapping[str, Any]]:
    """Give each object an id: its own, else `a1`, `a2`, … by position, past those that are taken."""
    given: dict[str, str] = {}
    for place, one in read:
        if "id" in one and one["id"] in given:
            found = Said(f"{one['id']} also at {given[one['id']]}")
            findings.problem(f"{place}.id", expected="an id of its own", found=found)
        elif "id" in one:
            given[one["id"]] = place
    taken = set(given)
    for index, (_, one) in enumerate(read, start=1):
        name = next(
            name for n in range(index, index + len(read) + 1) if (name := f"{prefix}{n}") not in taken
        )
        taken |= {name} if "id" not in one else set()
        yield {"id": name, **one}


def _assertion(place: str, entry: Any, findings: Findings) -> dict[str, Any] | None:
    if isinstance(entry, str) and entry.strip():
        return {"text": entry}
    text = _text(entry) if isinstance(entry, dict) else None
    if text is None:
        expected = f"a text, or an object with {', '.join(_TEXTS[:3])} or {_TEXTS[3]}"
        findings.problem(place, expected=expected, found=entry)
        return None
    for key in entry:
        if key not in _KNOWN:
            findings.stranger(place, key, _KNOWN)
    return {"text": text, **marks(place, entry, findings)}


def _text(entry: Mapping[str, Any]) -> str | None:
    for key in _TEXTS:
        if isinstance(entry.get(key), str) and entry[key].strip():
            return str(entry[key])
    if isinstance(entry.get("check"), str):
        expected = entry.get("expected")
        return f"{entry['check']}: {expected}" if expected is not None else str(entry["check"])
    return None


def marks(place: str, entry: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """Read what every check may say of itself: `id`, `weight`, `required`."""
    said: dict[str, Any] = {}
    written = entry.get("id")
    if isinstance(written, str | int) and not isinstance(written, bool) and str(written).strip():
        said["id"] = str(written).strip()
    weight = entry.get("weight")
    if weight is not None:
        if is_number(weight) and weight >= 0:
            said["weight"] = float(weight)
        else:
            findings.problem(f"{place}.weight", expected="a number from 0", found=weight)
    required = entry.get("required")
    if isinstance(required, bool):
        said["required"] = required
    elif required is not None:
        findings.problem(f"{place}.required", expected="true or false", found=required)
    return said


def is_number(value: object) -> bool:
    """Say whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
