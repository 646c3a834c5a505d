"""What a value of a report may be, by the name it stands under: a report that was read is held against this.

The name of a number says its unit (`p95_ms`, `cost_usd`, `n_tasks`), so it says its range too. Names without a rule may
hold any single value: other versions know other metrics.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any

from skilleval.errors import Problem
from skilleval.report.details_rules import details_problems

_LARGEST = 2**63 - 1  # what a column of whole numbers holds
_SLACK = 1e-9  # a mean of ones may be a hair above 1
_FOUND_LENGTH = 80


class Kind(StrEnum):
    """The kinds of values that names promise; the words are those of a message."""

    WHOLE = "a whole number, 0 or more"
    SHARE = "a number from 0 to 1"
    AMOUNT = "a number, 0 or more"
    DIFFERENCE = "a number from -1 to 1"
    TEXT = "a text"


_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"n_eff|clustered_se|weight|repeat_rate_sd_\w+|\w+_(ms|usd)(_ci_(low|high))?", Kind.AMOUNT),
    (r"(tokens|seconds|usd)_(candidate|baseline|ratio)", Kind.AMOUNT),
    (r"n|n_\w+|\w+_tokens|k|repeat|length|try_index|min_task_graded", Kind.WHOLE),
    (r"rate|\w+_rate|completion_(rate_macro|low|high)|ci_(low|high)|threshold", Kind.SHARE),
    (r"pass_(at|hat)_k|repeat_rate_mean|consistency|task_agreement", Kind.SHARE),
    (r"partial_score(_ci_(low|high))?", Kind.SHARE),
    (r"(score|rate|passed)_(candidate|baseline)|p_value", Kind.SHARE),
    (r"latency_term|speed|reliability|composite", Kind.SHARE),
    (r"\w+_(id|version|digest|method|reason)|scorer|adapter|model|sandbox|mode|isolation", Kind.TEXT),
    (r"name|baseline", Kind.TEXT),
    (r"(|passed_)uplift(|_low|_high|_discriminating)", Kind.DIFFERENCE),
)
_RANGES = (
    ("ci_low", "ci_high"),
    ("partial_score_ci_low", "partial_score_ci_high"),
    ("completion_low", "completion_high"),
)
_OF_REPORT = ("threshold", "n_failures")
_PARTS = ("run", "summary", "matrix", "failures", "causes", "slices")
_OPTIONAL_PARTS = ("uplift", "uplift_cases", "assertions", "judge_spend", "gates")


@cache
def kind_of(name: str) -> Kind | None:
    """Say what a name promises; null where it promises nothing."""
    return next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, name)), None)


def value_problems(document: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """Find the values of a report, as plain JSON, that cannot be what their names say; null is always possible."""
    yield from _problems({name: document[name] for name in _OF_REPORT}, "", where)
    for name in (*_PARTS, *(part for part in _OPTIONAL_PARTS if part in document)):
        part = document[name]
        for place, values in [(name, part)] if isinstance(part, Mapping) else _placed(name, part):
            yield from _problems(values, f"{place}.", where)
    if "details" in document:
        yield from _details_problems(document["details"], where)
    for run_id, n in document["provenance"]["reused"].items():
        if not _fits(n, Kind.WHOLE):
            yield _problem(where, f"provenance.reused.{run_id}", Kind.WHOLE.value, n)


def _details_problems(details: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """Hold the single trials against their names, with all that is inside them."""
    yield from _problems({"n_trials": details["n_trials"]}, "details.", where)
    for name in ("tasks", "conditions", "trials"):
        for place, row in _placed(f"details.{name}", details[name]):
            yield from _problems(row, f"{place}.", where)
            for part in ("transcript", "checks", "tries"):
                for inside, values in _placed(f"{place}.{part}", row.get(part, ())):
                    yield from _problems(values, f"{inside}.", where)
    yield from details_problems(details, where)


def _placed(name: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((f"{name}[{index}]", row) for index, row in enumerate(rows))


def _problems(values: Mapping[str, Any], prefix: str, where: str) -> Iterator[Problem]:
    for name, value in values.items():
        kind = kind_of(name)
        if isinstance(value, Mapping):
            yield from _problems(value, f"{prefix}{name}.", where)
        elif value is not None and kind is not None and not _fits(value, kind):
            yield _problem(where, f"{prefix}{name}", kind.value, value)
    for low, high in _RANGES:
        ends: list[Any] = [values.get(low), values.get(high)]
        if all(_fits(end, Kind.SHARE) for end in ends) and ends[0] > ends[1] + _SLACK:
            yield _problem(where, f"{prefix}{low}", f"at most {high}, which is {ends[1]}", ends[0])


def _fits(value: Any, kind: Kind) -> bool:
    if kind is Kind.TEXT:
        return isinstance(value, str)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if kind is Kind.WHOLE:
        return isinstance(value, int) and 0 <= value <= _LARGEST
    if kind is Kind.AMOUNT:
        return 0 <= value <= sys.float_info.max
    return (0 if kind is Kind.SHARE else -1) - _SLACK <= value <= 1 + _SLACK


def _problem(where: str, key: str, expected: str, found: object) -> Problem:
    return Problem(where=where, key=key, expected=expected, found=repr(found)[:_FOUND_LENGTH])
