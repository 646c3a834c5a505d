"""Judges an answer to a GAIA question by the rule that the benchmark publishes (quasi exact match).

A number is compared by value after `$`, `%` and `,` are left out; a list (`,` or `;` between its parts) part by part;
any other text by its letters and digits, in lower case.
"""

from __future__ import annotations

import re
import string

ANSWER_KEYS = ("result", "output", "answer")
UNITS = str.maketrans("", "", "$%,")
PUNCTUATION = str.maketrans("", "", string.punctuation)
SEPARATORS = re.compile("[,;]")


def answer_in(output: object) -> str:
    """Give the answer in an output as text: whole, or under the first of the usual keys."""
    if isinstance(output, dict):
        output = next((output[key] for key in ANSWER_KEYS if key in output), output)
    if isinstance(output, list):
        return ", ".join(str(part) for part in output)
    return str(output)


def is_number(text: str) -> bool:
    """Say whether a text is a number as it stands."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def same_number(found: str, expected: str) -> bool:
    """Compare with a number by value."""
    bare = found.translate(UNITS)
    return is_number(bare) and float(bare) == float(expected)


def plain(text: str, *, punctuation: bool) -> str:
    """Give a text without white space, in lower case, with or without its punctuation."""
    text = "".join(text.split()).lower()
    return text if punctuation else text.translate(PUNCTUATION)


def same_part(found: str, expected: str) -> bool:
    """Compare one part of a list."""
    if is_number(expected):
        return same_number(found, expected)
    return plain(found, punctuation=True) == plain(expected, punctuation=True)


def score(output: object, expected: dict[str, str], _input: object) -> dict[str, object]:
    """Say whether the answer is the expected one."""
    found, wanted = answer_in(output), expected["value"]
    if is_number(wanted):
        passed = same_number(found, wanted)
    elif SEPARATORS.search(wanted):
        parts, wanted_parts = SEPARATORS.split(found), SEPARATORS.split(wanted)
        passed = len(parts) == len(wanted_parts) and all(map(same_part, parts, wanted_parts))
    else:
        passed = plain(found, punctuation=False) == plain(wanted, punctuation=False)
    return {"passed": passed, "score": float(passed), "reason": f"expected {wanted}, found {found[:200]}"}
