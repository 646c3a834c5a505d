"""What a file says and what its rows give, line by line: a number that differs is told apart from its wording."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from skilleval.figures.layout import LAYOUT_COLUMNS

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_LAST_BITS = 1e-12
_NAMED = re.compile(r"\\newcommand\{\\(\w+)\}|(.*?) & ")
_MARKS = re.compile(r"\\textdagger|†")
_SIGNED = re.compile(r"\\ensuremath\{-\}(?=\d)|[−+-](?=\d)")


class Kind(StrEnum):
    """What is wrong: rows, a number, the words around numbers, how a figure is drawn, or a whole file.

    `changed` is a drawing that is not what was written.
    """

    DATA = "data"
    NUMBER = "number"
    WORDING = "wording"
    DRAWING = "drawing"
    CHANGED = "changed"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference; `found` stands in the file, `expected` is what the rows give. `line` is null for a whole file."""

    file: str
    kind: Kind
    line: int | None = None
    what: str = ""
    found: str = ""
    expected: str = ""


def text_differences(file: str, found: str, expected: str) -> Iterator[Difference]:
    """Compare two texts; a line that one of them lacks counts as a number where it holds one."""
    ours, theirs = found.splitlines(), expected.splitlines()
    matcher = difflib.SequenceMatcher(a=ours, b=theirs, autojunk=False)
    n = 0
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        for offset, (one, other) in enumerate(
            zip_longest(ours[start:end], theirs[other_start:other_end], fillvalue="")
        ):
            n += 1
            kind = Kind.WORDING if _said(one) == _said(other) else Kind.NUMBER
            yield Difference(file=file, kind=kind, line=start + offset + 1, found=one, expected=other)
    if not n and found != expected:
        yield Difference(file=file, kind=Kind.WORDING, what="line ends differ")


def _said(line: str) -> tuple[list[str], int, str]:
    """Give the numbers of a line, its marks of significance, and whose they are: a macro's, or a table row's.

    A number under another name is another claim. A line without numbers, as a header, has no name.
    """
    numbers, marks, named = _numbers(line), len(_MARKS.findall(line)), _NAMED.match(line)
    owner = (named[1] or named[2]) if named and numbers else ""
    return numbers, marks, owner


def _numbers(line: str) -> list[str]:
    """Give the numbers of a line with their signs, however the sign is written."""
    return _NUMBER.findall(_SIGNED.sub(lambda match: f" {_sign(match.group())}", line)) + [
        _sign(sign) for sign in _SIGNED.findall(line)
    ]


def _sign(text: str) -> str:
    return "+" if text == "+" else "-"


def spec_differences(file: str, found: str, expected: str) -> Iterator[Difference]:
    """Compare two specifications of a figure: the numbers that are drawn, then how they are drawn."""
    try:
        one, other = json.loads(found), json.loads(expected)
    except (ValueError, RecursionError):
        yield from text_differences(file, found, expected)
        return
    if same_values(one, other):
        return
    if same_values(_drawn(one), _drawn(other)):
        yield Difference(file=file, kind=Kind.DRAWING, what="the same numbers, drawn in another way")
        return
    # One figure is one difference, however many of its lines moved; the first that parts is shown.
    line = next(text_differences(file, found, expected))
    yield replace(line, kind=Kind.NUMBER, what="what is drawn differs")


def _drawn(spec: Any) -> list[Any]:
    """Give the rows that a specification holds: names and outcomes count as numbers do, layout does not.

    In an order of their own: sets of rows are called by the digest of all that is in them.
    """
    return sorted(_row_sets(spec), key=lambda rows: json.dumps(rows, sort_keys=True))


def _row_sets(spec: Any, *, within: bool = False) -> Iterator[Any]:
    if within and isinstance(spec, list):
        yield [_without_layout(row) for row in spec]
    elif isinstance(spec, Mapping):
        for key, value in spec.items():
            yield from _row_sets(value, within=within or key in {"datasets", "values"})
    elif isinstance(spec, list):
        for item in spec:
            yield from _row_sets(item)


def _without_layout(row: Any) -> Any:
    if not isinstance(row, Mapping):
        return row
    return {key: value for key, value in row.items() if key not in LAYOUT_COLUMNS}


def number_differences(
    file: str, found: Sequence[Mapping[str, Any]], expected: Sequence[Mapping[str, Any]]
) -> Iterator[Difference]:
    """Compare the numbers of two `paper.json`, by their macros; their texts must be equal in all but spaces."""
    ours, theirs = ({str(one.get("macro")): one for one in side} for side in (found, expected))
    for macro in dict.fromkeys((*ours, *theirs)):
        one, other = ours.get(macro), theirs.get(macro)
        if one is None or other is None:
            said = "" if one is None else str(one.get("text"))
            given = "" if other is None else str(other.get("text"))
            yield Difference(file=file, kind=Kind.NUMBER, what=f"\\{macro}", found=said, expected=given)
        elif not same_values(one.get("value"), other.get("value")):
            values: dict[str, Any] = {"found": repr(one.get("value")), "expected": repr(other.get("value"))}
            yield Difference(file=file, kind=Kind.NUMBER, what=f"\\{macro}", **values)
        elif kept := [key for key in other if key != "value" and one.get(key) != other[key]]:
            told: dict[str, Any] = {
                "found": str([one.get(key) for key in kept]),
                "expected": str([other[key] for key in kept]),
            }
            texts = [without_spaces(str(side.get("text"))) for side in (one, other)]
            kind = Kind.WORDING if texts[0] == texts[1] else Kind.NUMBER
            yield Difference(file=file, kind=kind, what=f"\\{macro}: {', '.join(kept)}", **told)


def without_spaces(text: str) -> str:
    """Leave out spaces of every width: which one stands before a unit is how a number is set, not what it is."""
    return "".join(text.split())


def same_values(one: Any, other: Any) -> bool:
    """Say whether two JSON values are one: numbers up to what the order of a sum may change on another processor."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_values(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_values, one, other))
    if _is_number(one) and _is_number(other):
        return math.isclose(one, other, rel_tol=_LAST_BITS, abs_tol=_LAST_BITS)
    return bool(type(one) is type(other) and one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
