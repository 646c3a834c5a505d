"""Checks of a gate in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_samples import QUICK, SHORT, UNKNOWN, WORSE
from reports import CALCULATOR, HOSTILE, WRONG, demo_report, report_of

from skilleval.report import WRITERS
from skilleval.report.document import State, from_json
from skilleval.report.gate_table import gate_table, gate_text_table
from skilleval.report.gates import (
    GateCheck,
    failed_first,
    found_text,
    gate_sentence,
    margin_text,
    rule_text,
    whom,
    why_text,
    with_gate,
)


@pytest.mark.parametrize(
    ("check", "rule", "found", "margin"),
    [
        (SHORT, "completion_rate ≥ 0.9", "0.65", "0.25 short"),
        (replace(SHORT, bound="low"), "low end of completion_rate ≥ 0.9", "0.65", "0.25 short"),
        (QUICK, "p95_ms ≤ 500 ms", "120 ms", "380 ms to spare"),
        (
            WORSE,
            "regression of completion_rate ≤ 0.02, significance 0.05",
            "0.07 worse (0.76 → 0.69, 10 tasks, p = 0.031)",
            "0.05 beyond",
        ),
        (
            replace(
                WORSE, relative=True, limit=0.5, value=-0.25, margin=0.75, significance=None, p_value=None
            ),
            "regression of completion_rate ≤ 50 %",
            "25 % better (0.76 → 0.69, 10 tasks)",
            "75 % to spare",
        ),
        (UNKNOWN, "regression of completion_rate ≤ 0.02, significance 0.05", "–", "–"),
        (
            replace(QUICK, metric="cost_usd", limit=2.0, value=2.5, margin=-0.5, scope="tag sums"),
            "cost_usd ≤ 2.00 USD (tag sums)",
            "2.50 USD",
            "0.50 USD beyond",
        ),
    ],
)
def test_a_check_in_words(check: GateCheck, rule: str, found: str, margin: str) -> None:
    """Rule, figure and margin stand in the unit of the metric."""
    cells = (rule_text(check), found_text(check), margin_text(check))
    assert tuple(cell.replace("\u202f", " ") for cell in cells) == (rule, found, margin)


def test_what_failed_comes_first() -> None:
    """Then what could not be checked, then what passed; each in the order of the rules."""
    assert failed_first([QUICK, UNKNOWN, WORSE, SHORT]) == [SHORT, WORSE, UNKNOWN, QUICK]


def test_the_sentence_counts_and_names() -> None:
    """The first failures are named, the others counted; what was skipped is not said to have passed."""
    assert gate_sentence([]) == ""
    assert gate_sentence([QUICK]) == "1 of 1 check of the gate passed"
    assert gate_sentence([QUICK, UNKNOWN]) == "1 of 2 checks of the gate passed, 1 could not be checked"
    said = gate_sentence([SHORT, SHORT, SHORT, QUICK])
    first = "completion_rate ≥ 0.9 for calculator 1.0.0 · task: 0.65, 0.25 short"
    assert said == f"3 of 4 checks of the gate failed: {first}; {first}; 1 more"


def test_a_failed_check_is_the_verdict() -> None:
    """The gate is said first, and a report whose gate is closed has failed."""
    report = with_gate(report_of(CALCULATOR), [SHORT])
    assert report.verdict.state is State.FAILED
    assert report.verdict.sentence.startswith("1 of 1 check of the gate failed: completion_rate ≥ 0.9")
    open_report = with_gate(report_of(CALCULATOR), [QUICK])
    assert open_report.verdict.state is report_of(CALCULATOR).verdict.state
    assert with_gate(report_of(CALCULATOR), []) == report_of(CALCULATOR)


def test_a_gate_that_decides_is_the_whole_verdict() -> None:
    """Then the word is that of the exit code, whatever the rates; where nothing could be checked it is open."""
    failing = report_of(WRONG)
    assert failing.verdict.state is State.FAILED
    assert with_gate(failing, [QUICK], decides=True).verdict.state is State.PASSED
    assert with_gate(failing, [UNKNOWN], decides=True).verdict.state is State.INCONCLUSIVE
    assert with_gate(failing, [QUICK, SHORT], decides=True).verdict.state is State.FAILED


def test_a_report_without_rules_says_nothing_of_them() -> None:
    """JSON reports of runs without rules are what they were."""
    assert '"gates"' not in WRITERS["json"].render(demo_report())
    assert gate_text_table(demo_report()) is None
    assert gate_table([]) == ""


def test_checks_survive_their_json() -> None:
    """A report read back has the same checks."""
    report = with_gate(demo_report(), [SHORT, QUICK, WORSE, UNKNOWN])
    assert from_json(WRITERS["json"].render(report)).gates == report.gates


@pytest.mark.parametrize("name", ["html", "markdown", "comment", "github", "junit"])
def test_every_format_shows_the_gate(name: str) -> None:
    """What failed, and by how much, stands in each of them."""
    text = WRITERS[name].render(with_gate(demo_report(), [SHORT, QUICK]))
    assert "completion_rate ≥ 0.9" in text
    assert "0.25 short" in text


def test_names_and_reasons_are_safe() -> None:
    """Foreign text in a check is one line, with what is hidden spelled out."""
    check = replace(SHORT, skill_id=f"{HOSTILE}\n\x1b[31m", reason="a\nb", value=None)
    assert "\n" not in whom(check)
    assert "\x1b" not in whom(check)
    assert why_text(check) == "a\\nb"
    (row,) = gate_table([check]).splitlines()[2:]
    assert row.count("| ") == 5
