from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.report.paper.names import distinct, letters


@pytest.mark.parametrize(
    ("text", "expected"),
    [("gpt-4 mini", "GptFourMini"), ("caf\u00e9", "Cafe"), ("\u4e2d\u6587", ""), ("p95", "PNineFive")],
)
def test_names_are_letters(text: str, expected: str) -> None:
    """Digits are said in words, accents and other scripts left out."""
    assert letters(text) == expected


def test_equal_names_are_counted() -> None:
    """Two skills whose names become one get macros of their own; so do names that capitals alone tell apart."""
    assert distinct(["a-b", "a b", "A_B", "\u4e2d"], otherwise="Row") == ["AB", "ABTwo", "ABThree", "Row"]


@given(st.lists(st.text(max_size=12), max_size=12))
def test_no_name_is_used_twice(texts: list[str]) -> None:
    """Every name is of letters alone and there once, whatever the texts are."""
    found = distinct(texts, otherwise="Row")
    assert len({name.lower() for name in found}) == len(texts)
    assert all(re.fullmatch("[A-Za-z]+", name) for name in found)
