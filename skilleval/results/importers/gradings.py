"""What an attempt of a workspace left: its grading in either spelling, its timing in either unit, its output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from skilleval.domain.attempts import Usage
from skilleval.domain.scores import Verdict
from skilleval.results.importers.base import ImportedCheck, verdict_of
from skilleval.results.importers.files import read_json, read_text
from skilleval.results.importers.node import Node, unusable

SCORER = "evals"
"""The name of the scorer that judges cases of evals in a run of our own."""
_RULE = "llm_judge"
_SPELLINGS = ("assertion_results", "expectations")
_OUTPUTS = ("output.txt", "response.txt", "response.md", "output.md")


def grading_of(attempt: Path) -> Node | None:
    """Read the grading of an attempt; null where it was not graded."""
    path = attempt / "grading.json"
    return read_json(path) if path.is_file() else None


def checks_of(grading: Node | None) -> tuple[ImportedCheck, ...]:
    """Give a check for each assertion; nothing was graded where there is none, whatever a summary says of it.

    Raises:
        ResultsError: the grading has neither list of assertions.
    """
    if grading is None:
        return ()
    for spelling in _SPELLINGS:
        found = grading.get(spelling)
        if found.value is not None:
            return tuple(_checks(found))
    keys = ", ".join(sorted(map(str, grading.value))) or "no key"
    raise unusable(grading.where, "", f"a list {' or '.join(_SPELLINGS)}", keys)


def _checks(assertions: Node) -> Iterator[ImportedCheck]:
    for index, one in enumerate(assertions.items(), start=1):
        passed, evidence = one.get("passed"), one.get("evidence")
        is_graded = passed.value is not None
        yield ImportedCheck(
            scorer=SCORER,
            rule=_RULE,
            check_id=f"assertion-{index}",
            check=one["text"].text(),
            verdict=verdict_of(passed.truth()) if is_graded else Verdict.UNGRADED,
            score=float(passed.truth()) if is_graded else None,
            evidence="" if evidence.value is None else evidence.text(),
        )


def latency_of(attempt: Path, grading: Node | None) -> float | None:
    """Give the time of the executor in ms: of the three places where it may stand the first one; null without any.

    Only `duration_ms` is in ms, all others are in seconds; the time of the grader never counts.

    Raises:
        ResultsError: a time is no number.
    """
    timing = _timing(attempt)
    graded = Node(None, "") if grading is None else grading.get("timing")
    seconds = [
        (node, key)
        for node in (timing, graded)
        for key in ("executor_duration_seconds", "total_duration_seconds")
        if isinstance(node.value, dict)
    ]
    if isinstance(timing.value, dict) and timing.get("duration_ms").value is not None:
        return timing["duration_ms"].amount()
    known = (node[key].amount() * 1000 for node, key in seconds if node.get(key).value is not None)
    return next(known, None)


def usage_of(attempt: Path) -> Usage:
    """Give the tokens of the executor; 0 is written there for a call that reported none.

    Raises:
        ResultsError: they are no number.
    """
    timing = _timing(attempt)
    tokens = timing.get("total_tokens") if isinstance(timing.value, dict) else timing
    return Usage(total_tokens=None if tokens.value is None else tokens.whole() or None)


def text_of(attempt: Path) -> str | None:
    """Give what the subject wrote, as it was written; null where no file holds it."""
    texts = (read_text(attempt / "outputs" / name) for name in _OUTPUTS)
    return next((text for text in texts if text is not None), None)


def as_output(text: str | None) -> str | None:
    """Give a text as an output of ours: JSON text."""
    return None if text is None else json.dumps(text, ensure_ascii=False)


def _timing(attempt: Path) -> Node:
    path = attempt / "timing.json"
    return read_json(path) if path.is_file() else Node(None, str(path))
