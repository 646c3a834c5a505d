"""`numeric` finds the number of an answer, however it is written."""

from __future__ import annotations

from typing import Any

import pytest
from cases import case_input
from samples import judged, record

from skilleval.domain.scores import Verdict
from skilleval.domain.tasks import Evaluator
from skilleval.scorers.base import MISSING, Finding
from skilleval.scorers.numeric import NumericOptions, NumericScorer

NUMERIC = NumericScorer(NumericOptions(tolerance=0.0, rel_tolerance=0.0, strip_units=True))


def finding(output: Any, value: Any, **options: Any) -> Finding:
    """Judge one output."""
    evaluator = Evaluator(kind="numeric", options=options) if options else None
    (one,) = judged(NUMERIC, record(output, expected={"value": value}, evaluator=evaluator))
    return one


def verdict(output: Any, value: Any, **options: Any) -> Verdict:
    """Give the verdict on one output."""
    return finding(output, value, **options).verdict


def test_c17_numbers_are_equal_however_they_are_written() -> None:
    """The five pairs of the case, in both directions."""
    pairs = case_input("C17")["pairs"]
    for turned in (pairs, [pair[::-1] for pair in pairs]):
        passed = [verdict(output, expected) is Verdict.PASSED for expected, output in turned]
        assert passed == [True, True, True, True, False]


def test_c17_the_mode_is_recorded() -> None:
    """The options of the scorer are part of what is stored."""
    assert NUMERIC.info.options == {"tolerance": 0.0, "rel_tolerance": 0.0, "strip_units": True}


def test_c18_a_match_without_a_digit_is_never_a_number() -> None:
    """The commas of a sentence are no numbers; the case itself passes."""
    case = case_input("C18")
    assert verdict(case["output"], case["expected"]) is Verdict.PASSED
    for text in (",", "no, not, at, all.", "$", "-", ".", "e", "-.", "$,", "٣ ½"):
        assert finding(text, 72).reason.startswith("no number in the output")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("29 km", 29),
        ("29km", 29),
        ("-$29.50", -29.5),
        ("$-29", -29),
        ("−5 °C", -5),
        ("1,234,567.89 m", 1234567.89),
        ("1,234, and no more", 1234),
        ("1,2", 2),
        ("1,234,56", 56),
        ("1234,567", 567),
        ("pages 3-4", 4),
        ("5 - 3", 3),
        ("wait...50", 50),
        ("about .5.", 0.5),
        ("12.5 %", 12.5),
        ("1.5e3 J", 1500),
        ("H2O at 7", 7),
        ("7 of H2O", 7),
        ("7 in version 1.2.3", 7),
        ("(29)", 29),
        ("x=29", 29),
    ],
)
def test_the_last_number_in_the_text_counts(text: str, number: float) -> None:
    """Units, currency and punctuation around a number do not matter; words and versions hold none."""
    assert verdict(text, number) is Verdict.PASSED
    assert verdict({"result": text}, number) is Verdict.PASSED
    assert verdict(text, -number) is Verdict.FAILED


@pytest.mark.parametrize("text", ["29", " 29\n", "29.", "29.0", "+29", "2.9e1", "0029"])
def test_without_stripping_a_text_must_be_a_number(text: str) -> None:
    """`stripUnits: false` takes a number and nothing around it."""
    assert verdict(text, 29, strip_units=False) is Verdict.PASSED
    assert verdict(f"{text} km", 29, strip_units=False) is Verdict.FAILED
    assert verdict(f"${text}", 29, strip_units=False) is Verdict.FAILED


@pytest.mark.parametrize(
    ("output", "value", "options", "expected"),
    [
        (29.1, 29, {"tolerance": 0.1}, Verdict.PASSED),
        (29.11, 29, {"tolerance": 0.1}, Verdict.FAILED),
        (0.1 + 0.2, 0.3, {}, Verdict.FAILED),
        (0.1 + 0.2, 0.3, {"tolerance": 1e-9}, Verdict.PASSED),
        (101, 100, {"rel_tolerance": 0.01}, Verdict.PASSED),
        (101.01, 100, {"rel_tolerance": 0.01}, Verdict.FAILED),
        (-101, -100, {"rel_tolerance": 0.01}, Verdict.PASSED),
        (100, 101, {"rel_tolerance": 0.01}, Verdict.PASSED),
        (5, 0, {"rel_tolerance": 0.5}, Verdict.FAILED),
        (0.5, 0, {"rel_tolerance": 0.5, "tolerance": 0.5}, Verdict.PASSED),
        (10**30 + 1, 10**30, {}, Verdict.FAILED),
        (str(10**30), 10**30, {}, Verdict.PASSED),
        (1e300, 1e300, {}, Verdict.PASSED),
    ],
)
def test_the_larger_tolerance_counts(
    output: Any, value: Any, options: dict[str, Any], expected: Verdict
) -> None:
    """Decimal numbers are compared as written; the relative tolerance is a share of the expected number."""
    assert verdict(output, value, **options) is expected


@pytest.mark.parametrize(
    "output", [True, [29], {"value": 29}, None, float("nan"), float("inf"), "NaN", "inf", "1e999"]
)
def test_what_is_no_number_fails_with_the_reason(output: Any) -> None:
    """Booleans, lists, objects, NaN and infinity are no numbers, even where 1 or 29 is expected."""
    for value in (1, 29):
        one = finding(output, value)
        assert (one.verdict, one.score) == (Verdict.FAILED, 0.0)
        assert one.reason.startswith("no number in the output")


@pytest.mark.parametrize(
    "value", [True, None, [3], {"a": 3}, "three", "3 or 4", "", float("nan"), float("inf")]
)
def test_an_expected_value_that_is_not_one_number_is_ungraded(value: Any) -> None:
    """A task that does not say which number it expects gives no score."""
    one = finding(3, value)
    assert one.verdict is Verdict.UNGRADED
    assert "is not one number" in one.reason


@pytest.mark.parametrize(
    "text", ["1,111" + ",111" * 300_000 + "2", "9" * 1_000_000, "1," * 300_000, "." * 300_000]
)
def test_long_texts_take_linear_time(text: str) -> None:
    """Neither commas nor digits without end make the search slow."""
    import time

    started = time.monotonic()
    assert verdict(text, 29) is Verdict.FAILED
    assert time.monotonic() - started < 30


def test_no_output_is_no_number() -> None:
    """A skill without an answer fails."""
    assert verdict(MISSING, 0) is Verdict.FAILED


def test_the_reason_shows_both_numbers() -> None:
    """A failure can be understood from its row alone."""
    assert finding("about 28.50 km", 29).reason == "expected 29, found 28.5"


def test_depth_of_an_output_cannot_break_the_reason() -> None:
    """A value nested far beyond the recursion limit fails like any other that is no number."""
    deep: Any = 1
    for _ in range(50_000):
        deep = [deep]
    assert finding(deep, 1).verdict is Verdict.FAILED
