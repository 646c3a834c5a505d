from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.report.numbers import (
    DASH,
    Style,
    count,
    duration,
    interval,
    money,
    p_text,
    rate,
    shown,
    signed,
    signed_interval,
    times,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "–"),
        (0.0, "0"),
        (1.0, "1"),
        (1, "1"),
        (0.7, "0.7"),
        (0.93, "0.93"),
        (14 / 15, "0.933"),
        (0.0123456, "0.0123"),
        (0.00001, "0.00001"),
        (0.285, "0.285"),
        (0.9996, "0.9996"),
        (0.99999, "0.99999"),
        (-0.0833, "\u22120.0833"),
        (-0.0, "0"),
    ],
)
def test_a_rate_has_three_significant_digits(value: float | None, text: str) -> None:
    """A rate is cut to 3 significant digits, never up to a 1 it is not, with a true minus sign."""
    assert rate(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(0.88, 0.96, "[0.88, 0.96]"), (0.788948, 1.0, "[0.789, 1]"), (None, 1.0, "–"), (0.1, math.nan, "–")],
)
def test_an_interval_shows_both_ends_or_a_dash(low: float | None, high: float | None, text: str) -> None:
    """An interval with an unknown end is no interval."""
    assert interval(low, high) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0\u202fms"),
        (0.1234, "0.123\u202fms"),
        (8.421, "8.42\u202fms"),
        (99.96, "100\u202fms"),
        (842.4, "842\u202fms"),
        (8421.4, "8\u202f421\u202fms"),
        (9999.4, "9\u202f999\u202fms"),
        (9999.6, "10\u202fs"),
        (10_000.0, "10\u202fs"),
        (12_345.0, "12.3\u202fs"),
        (1_234_567.0, "1\u202f235\u202fs"),
    ],
)
def test_a_duration_changes_its_unit_at_ten_seconds(value: float | None, text: str) -> None:
    """Times are ms below ten seconds, then s, always with the unit."""
    assert duration(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0.00"),
        (12.0, "12.00"),
        (1.234, "1.23"),
        (1234.5, "1\u202f234.50"),
        (0.056, "0.056"),
        (0.0123, "0.012"),
        (0.0999, "0.10"),
        (-3.5, "\u22123.50"),
    ],
)
def test_money_is_written_to_the_cent_or_finer(value: float | None, text: str) -> None:
    """Amounts have cents; below ten cents they have 2 significant digits."""
    assert money(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0, "0"), (999, "999"), (1000, "1\u202f000"), (1234567, "1\u202f234\u202f567")],
)
def test_a_count_is_grouped_by_thin_spaces(value: float | None, text: str) -> None:
    """Thousands are apart by a thin space."""
    assert count(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.0, "0"), (0.42, "+0.42"), (-0.1, "\u22120.1"), (float("nan"), "–")]
)
def test_a_difference_has_its_sign(value: float | None, text: str) -> None:
    """More is marked as more, less as less, and nothing as neither."""
    assert signed(value, Style.RATE) == text


def test_an_interval_of_a_difference_has_both_signs() -> None:
    """Where it lies is seen at once; half an interval is none."""
    assert signed_interval(-0.1, 0.3) == "[\u22120.1, +0.3]"
    assert signed_interval(None, 0.3) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (0.002, "p = 0.002"), (0.03125, "p = 0.031"), (1.0, "p = 1"), (0.0009, "p < 0.001")],
)
def test_a_p_value_has_two_digits_or_a_bound(value: float | None, text: str) -> None:
    """Below a thousandth only the bound is written."""
    assert p_text(value) == text


@given(st.one_of(st.none(), st.floats(), st.integers(-(10**30), 10**30)), st.sampled_from(Style))
def test_every_number_can_be_written(value: float | None, style: Style) -> None:
    """No number that a file may hold breaks a writer, and none is shown as NaN or with an exponent."""
    text = shown(value, style)
    assert text == DASH or text[-1].isdigit() or text.endswith("s")
    assert "e" not in text.lower()


@given(st.floats(0, 1))
def test_a_rate_shows_its_ends_only_at_its_ends(value: float) -> None:
    """What is shown as 0 or as 1 is 0, or 1 to nine digits."""
    if rate(value) == "0":
        assert value == 0
    if rate(value) == "1":
        assert value >= 1 - 1e-9


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.3149, "×1.31"),
        (0.0005, "×0.0005"),
        (1e6, "×1\u202f000\u202f000"),
        (5.79e-71, "×5.79e-71"),
        (1.7267e82, "×1.73e+82"),
        (None, "–"),
    ],
)
def test_a_ratio_is_short_however_large(value: float | None, text: str) -> None:
    """The interval of two tasks that went apart spans many powers of ten, and still fits a line."""
    assert times(value) == text
