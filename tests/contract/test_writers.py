from __future__ import annotations

from collections.abc import Callable

import pytest
from reports import CALCULATOR, FLAKY, HOSTILE, WRONG, cell, demo_report, failure, report_of

from skilleval.report import WRITERS
from skilleval.report.document import Report, from_json

MANY = [
    row | {"skill_id": f"skill-{i}", "condition_id": f"c{i}"}
    for i in range(10)
    for row in (CALCULATOR, FLAKY, WRONG)
]
REPORTS: dict[str, Callable[[], Report]] = {
    "demo": demo_report,
    "empty": report_of,
    "one skill": lambda: report_of(CALCULATOR),
    "thirty skills": lambda: report_of(*MANY, matrix=[cell(row, "t", 1) for row in MANY]),
    "nothing known": lambda: report_of({}, manifest={}, gate={}, matrix=[cell(CALCULATOR, "t", 0)]),
    "hostile": lambda: report_of(
        CALCULATOR | {"skill_id": HOSTILE, "scorer": HOSTILE, "model": HOSTILE},
        failures=[failure(WRONG, HOSTILE, reason=HOSTILE, output=HOSTILE * 900)],
        manifest={"run_id": HOSTILE, "command": HOSTILE, "config": {HOSTILE: HOSTILE}},
    ),
}


@pytest.mark.parametrize("kind", REPORTS)
@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_writes_every_report(name: str, kind: str) -> None:
    """Every writer gives text that a UTF-8 file can hold, the same each time, with a final newline."""
    report = REPORTS[kind]()
    text = WRITERS[name].render(report)
    assert text.encode()
    assert text.endswith("\n")
    assert WRITERS[name].render(report) == text


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_says_the_same_of_a_report_that_was_stored(name: str) -> None:
    """What the JSON report keeps is all that a writer needs."""
    report = demo_report()
    stored = from_json(WRITERS["json"].render(report))
    assert WRITERS[name].render(stored) == WRITERS[name].render(report)


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_tells_verdict_and_skills(name: str) -> None:
    """Every format names every skill; all but the table of numbers tell the verdict."""
    text = WRITERS[name].render(demo_report())
    assert ("2 of 3 skills" in text) == (name != "csv")
    for skill in ("calculator", "flaky-calculator", "wrong-calculator"):
        assert skill in text


def test_suffixes_are_unlike() -> None:
    """Two formats of one report never write the same file."""
    suffixes = [writer.suffix for writer in WRITERS.values()]
    assert len(set(suffixes)) == len(suffixes)
    assert all(suffix.startswith(".") for suffix in suffixes)
