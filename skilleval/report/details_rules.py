"""What must hold between the parts of the details of a report that was read: names that lead somewhere, lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skilleval.errors import Problem

_FOUND_LENGTH = 80


def details_problems(details: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """Find trials of unknown tasks or conditions, numbers of trials that contradict each other, and short lengths."""
    yield from _strangers(details, where)
    n_shown, n_trials = len(details["trials"]), details["n_trials"]
    if n_shown > n_trials:
        yield _problem(where, "n_trials", f"at least {n_shown}, which are shown", n_trials)
    if details["is_complete"] != (n_shown == n_trials):
        yield _problem(where, "is_complete", str(n_shown == n_trials).lower(), details["is_complete"])
    yield from _short_lengths(details, "", where)


def _strangers(details: Mapping[str, Any], where: str) -> Iterator[Problem]:
    for name, part in (("task_id", "tasks"), ("condition_id", "conditions")):
        known = {row[name] for row in details[part]}
        if len(known) < len(details[part]):
            yield _problem(where, part, f"each {name} once", f"{len(known)} of {len(details[part])}")
        for i, trial in enumerate(details["trials"]):
            if trial[name] not in known:
                yield _problem(where, f"trials[{i}].{name}", f"one of details.{part}", trial[name])


def _short_lengths(value: Any, key: str, where: str) -> Iterator[Problem]:
    """Find the excerpts that say that they are longer than the whole text."""
    if isinstance(value, Mapping):
        if value.keys() == {"text", "length"}:
            if value["length"] < len(value["text"]):
                yield _problem(where, f"{key}.length", f"at least {len(value['text'])}", value["length"])
            return
        for name, item in value.items():
            if isinstance(item, Mapping | list | tuple):
                yield from _short_lengths(item, f"{key}.{name}" if key else name, where)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from _short_lengths(item, f"{key}[{i}]", where)


def _problem(where: str, key: str, expected: str, found: object) -> Problem:
    return Problem(where=where, key=f"details.{key}", expected=expected, found=repr(found)[:_FOUND_LENGTH])
