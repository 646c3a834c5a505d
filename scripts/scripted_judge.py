"""The scripted model as a judge: it looks for the phrases that an assertion quotes, and quotes them.

It reads whatever prompt holds a JSON list of `{id, text}` and an output between two lines with the same long mark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scripted_answers import UNKNOWN
from scripted_request import Asked

_QUOTED = re.compile(r"[\"“](.+?)[\"”]")
_DENIES = re.compile(r"\b(?:not|never|no|without)\b", re.IGNORECASE)
_MARK = re.compile(r"[0-9a-f]{12,}", re.IGNORECASE)
_OUTPUT = re.compile(r"output|answer|response|reply|completion|tool", re.IGNORECASE)
_NOT_OUTPUT = re.compile(r"expected|reference|input|prompt", re.IGNORECASE)
_JUDGES = re.compile(r"\b(?:judge|judging|grade|grader|grading)\b", re.IGNORECASE)
_SCALE = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:to|and|–|…|\.\.)\s*(-?\d+(?:\.\d+)?)")

Verdict = dict[str, Any]


def assertions_in(asked: Asked) -> list[Mapping[str, Any]]:
    """Give the assertions that a request wants to be judged; none: it asks for something else."""
    unfenced = _without_blocks(asked.user)
    decoder = json.JSONDecoder()
    for start in re.finditer(r"\[", unfenced):
        try:
            value, _ = decoder.raw_decode(unfenced, start.start())
        except json.JSONDecodeError:
            continue
        if value and isinstance(value, list) and all(_is_assertion(item) for item in value):
            return value
    return []


def _is_assertion(item: Any) -> bool:
    return isinstance(item, dict) and "id" in item and isinstance(item.get("text"), str)


def is_rubric(asked: Asked) -> bool:
    """Say whether a request wants a number on a scale."""
    return not asked.system.startswith("<skill") and bool(_JUDGES.search(asked.system))


def verdicts(asked: Asked) -> list[Verdict]:
    """Judge every assertion, in their order."""
    output = output_in(asked.user)
    return [
        {"id": item["id"], "passed": passed, "evidence": evidence}
        for item in assertions_in(asked)
        for passed, evidence in [_judged(item["text"], output)]
    ]


def rubric_reply(asked: Asked) -> str:
    """Give the share of quoted phrases that occur, on the scale of the rubric; without phrases 0.8 of the scale.

    Where a form of the reply is asked for, it is an object with `reason` and `score`.
    """
    low, high = _scale(asked.user)
    output = output_in(asked.user)
    phrases = _QUOTED.findall(_without_blocks(asked.user))
    share = sum(bool(_found(phrase, output)) for phrase in phrases) / len(phrases) if phrases else 0.8
    if not output.strip() or UNKNOWN.rstrip(".").casefold() in output.casefold():
        share = 0.0
    value = round(low + share * (high - low), 6)
    return json.dumps({"reason": "", "score": value}) if asked.has_schema else f"{value:g}"


def output_in(text: str) -> str:
    """Give what is to be judged: the fenced blocks that are called output, answer, tool calls or the like."""
    blocks = list(_blocks(text))
    named = [body for label, body in blocks if _OUTPUT.search(label) and not _NOT_OUTPUT.search(label)]
    return "\n".join(named) if named else "\n".join(body for _, body in blocks[-1:]) or text


def _judged(assertion: str, output: str) -> tuple[bool, str]:
    phrases = _QUOTED.findall(assertion)
    if not phrases:
        return False, "the assertion quotes nothing to look for"
    found = [_found(phrase, output) for phrase in phrases]
    if _DENIES.search(assertion.split('"', maxsplit=1)[0]):
        return (False, next(filter(None, found))) if any(found) else (True, output.strip()[:60])
    if '" or "' in assertion:
        return any(found), next(filter(None, found), "none of the quoted phrases occurs")
    return all(found), " … ".join(filter(None, found)) or "the quoted phrase does not occur"


def _found(phrase: str, output: str) -> str:
    found = re.search(re.escape(phrase), output, re.IGNORECASE)
    return found[0] if found else ""


def _scale(text: str) -> tuple[float, float]:
    found = _SCALE.search(_without_blocks(text))
    return (float(found[1]), float(found[2])) if found else (0.0, 10.0)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Find what stands between two lines with the same mark; a label is the opening line and the line before it."""
    lines = text.splitlines()
    for start, end in _fenced(lines):
        yield " ".join(lines[max(start - 1, 0) : start + 1]), "\n".join(lines[start + 1 : end])


def _fenced(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Give the first and the last line of each block."""
    free_from = 0
    for at, line in enumerate(lines):
        mark = _MARK.search(line) if at >= free_from else None
        end = next((i for i in range(at + 1, len(lines)) if mark[0] in lines[i]), 0) if mark else 0
        if end:
            free_from = end + 1
            yield at, end


def _without_blocks(text: str) -> str:
    lines = text.splitlines()
    for start, end in reversed(list(_fenced(lines))):
        del lines[start : end + 1]
    return "\n".join(lines)
