from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports import HOSTILE

from skilleval.report.numbers import THIN_SPACE, count
from skilleval.report.text import (
    LAYOUT,
    block,
    is_hidden,
    joined_lines,
    json_text,
    one_line,
    pieces,
    script_json,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – text, 2 × 3", "plain – text, 2 × 3"),
        ("two\nlines\ttab", "two\\nlines\\ttab"),
        ("\x00\x1b[31m\x7f\x9b", "\\x00\\x1b[31m\\x7f\\x9b"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\u200bb\ufeffc\u00add", "a\\u200bb\\ufeffc\\xadd"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("a\u00a0b", "a\\xa0b"),
        ("\U000e0041", "\\U000e0041"),
        ("\u3164\u2800", "\\u3164\\u2800"),
        ("\ud800", "\\ud800"),
        ("日本語 émoji 😀", "日本語 émoji 😀"),
    ],
)
def test_hidden_characters_are_spelled_out(text: str, shown: str) -> None:
    """Control, format, bidi and blank characters are shown as escapes; letters of any script stay."""
    assert one_line(text) == shown


def test_a_line_is_cut_with_an_ellipsis() -> None:
    """A cut line has the length that was asked for and says that it was cut."""
    assert one_line("abcdef", limit=4) == "abc…"
    assert one_line("abcd", limit=4) == "abcd"


def test_a_block_keeps_lines_and_tabs() -> None:
    """In a block only carriage returns and what is hidden are spelled out."""
    assert block("a\r\n\tb\x07\n") == "a\\r\n\tb\\x07\n"


@given(st.text())
def test_nothing_hidden_is_left_in_a_line(text: str) -> None:
    """Whatever the text, its line draws every character it has."""
    assert not any(is_hidden(character) for character in one_line(text))


@given(st.text())
def test_pieces_lose_nothing(text: str) -> None:
    """The pieces of a text, put together again, are the text."""
    assert "".join(part for part, _ in pieces(text)) == text
    assert "".join(part for part, _ in pieces(text, keep=LAYOUT)) == text


@given(st.recursive(st.text() | st.integers() | st.none(), st.lists))
def test_script_json_cannot_leave_its_element(value: object) -> None:
    """No angle bracket, ampersand or line separator is left, and the value is still the same."""
    text = script_json(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == value


def test_c47_embedded_json_is_escaped() -> None:
    """The hostile output of C47 is inert inside a script element."""
    text = script_json({"output": HOSTILE})
    assert "</script" not in text
    assert "<!--" not in text
    assert json.loads(text) == {"output": HOSTILE}


def test_json_text_can_always_be_written_as_utf8() -> None:
    """A lone surrogate is escaped, because a file could not hold it."""
    assert json_text("\ud800").encode() == b'"\\ud800"'


def test_json_text_refuses_nan() -> None:
    """NaN is no JSON."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text(float("nan"))


def test_the_thin_space_of_our_own_numbers_is_plain() -> None:
    """The one at which no line ends stands in every number above 999, and is not spelled out."""
    assert not is_hidden(THIN_SPACE)
    assert one_line(count(1930)) == "1\u202f930"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1 setting cannot be used\n  a: no\n  b: no", "1 setting cannot be used: a: no; b: no"),
        ("one line", "one line"),
        ("", ""),
    ],
)
def test_a_message_and_its_problems_become_one_line(text: str, line: str) -> None:
    """A reason of several lines stands in a cell of a table without a mark of a line feed."""
    assert joined_lines(text) == line
