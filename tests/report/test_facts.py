from __future__ import annotations

import pytest
from reports import CALCULATOR, MANIFEST, report_of

from skilleval.report.facts import origins


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"trials": 18, "by_status": {"completed": 6, "skill_error": 12}}, "6 completed, 12 skill_error"),
        ({"completed": 179, "timeout": 1}, "179 completed, 1 timeout"),
    ],
)
def test_trials_are_counted_by_status(counts: dict[str, object], text: str) -> None:
    """How trials ended is said in words, never as the notation of the manifest."""
    assert dict(origins(report_of(CALCULATOR, manifest=MANIFEST | {"counts": counts})))["trials"] == text


def test_parts_of_parts_are_words_too() -> None:
    """A value with parts stands in brackets, a list with blanks between; braces and quotes are nowhere."""
    platform = {"system": "Linux", "cpu": {"cores": 2, "flags": ["a", "b"]}, "gone": None}
    found = dict(origins(report_of(CALCULATOR, manifest=MANIFEST | {"platform": platform})))
    assert found["platform"] == "system Linux, cpu (cores 2, flags a b)"
