from __future__ import annotations

import re

from arm_frames import arm_report
from papers import group, paper
from reports import CALCULATOR, FLAKY, demo_report, report_of

from skilleval.report.numbers import rate
from skilleval.report.paper.quoted import numbers_tex, quoted


def by_macro() -> dict[str, str]:
    """Give the texts of the demo's numbers."""
    return {one.macro: one.text for one in quoted(paper())}


def test_numbers_are_those_of_the_report() -> None:
    """A macro says what the table of the report says."""
    found = by_macro()
    row = next(row for row in demo_report().summary if row["skill_id"] == "flaky-calculator")
    completion = row["completion_rate"]
    assert isinstance(completion, float)
    assert found["evalFlakyCalculatorCompletion"] == rate(completion) == "0.717"
    assert found["evalFlakyCalculatorCompletionLow"] == "0.592"
    assert found["evalFlakyCalculatorGraded"] == "60"
    assert found["evalWrongCalculatorDifference"] == "−1"
    assert found["evalWrongCalculatorPHolm"] == "p < 0.001"


def test_what_is_not_known_is_a_dash() -> None:
    """A number that nobody knows is neither 0 nor left out: the text that quotes it must still be set."""
    found = {
        one.macro: one for one in quoted(paper(group(report_of(CALCULATOR | {"p50_ms": None}), compared=())))
    }
    assert found["evalCalculatorMedianLatency"].text == "–"
    assert found["evalCalculatorMedianLatency"].value is None


def test_every_number_says_where_it_comes_from() -> None:
    """A comment beside the macro names table, row and column."""
    line = next(
        one for one in numbers_tex(quoted(paper())).splitlines() if r"{\evalFlakyCalculatorCompletion}" in one
    )
    assert line.endswith("% summary / flaky-calculator / completion_rate (share)")


def test_no_macro_is_defined_twice() -> None:
    """LaTeX stops at a macro that is there already, so names never fall together, whatever skills are called."""
    rows = [
        CALCULATOR | {"skill_id": "sum", "condition_id": "a"},
        FLAKY | {"skill_id": "sum!", "condition_id": "b"},
        FLAKY | {"skill_id": "Sum Completion", "condition_id": "c"},
        FLAKY | {"skill_id": "\u4e2d\u6587", "condition_id": "d"},
    ]
    macros = [one.macro for one in quoted(paper(group(report_of(*rows), compared=())))]
    assert len(set(macros)) == len(macros)
    assert all(re.fullmatch("eval[A-Za-z]+", macro) for macro in macros)


def test_benchmarks_have_macros_of_their_own() -> None:
    """With several benchmarks a macro begins with the name of one."""
    macros = {one.macro for one in quoted(paper(group(name="a"), group(name="b")))}
    assert {"evalACalculatorCompletion", "evalBCalculatorCompletion"} <= macros


def test_uplift_is_quoted() -> None:
    """What a skill adds has its value, its ends and its p."""
    found = {one.macro: one.text for one in quoted(paper(group(arm_report(), compared=())))}
    names = [name for name in found if name.endswith("OverWithoutSkillUplift")]
    assert names
    assert f"{names[0]}P" in found


def test_foreign_names_stay_in_their_comment() -> None:
    """A skill's name cannot end the comment that names it."""
    row = CALCULATOR | {"skill_id": "a\n\\input{x}"}
    lines = numbers_tex(quoted(paper(group(report_of(row), compared=())))).splitlines()
    assert all(line.startswith(("%", r"\newcommand{\eval")) for line in lines)
