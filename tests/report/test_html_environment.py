from __future__ import annotations

import pytest

from skilleval.report.html_environment import padding, said, stripes


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("0.93", "\u2007"),
        ("0.933", ""),
        ("1", "\u2008\u2007\u2007\u2007"),
        ("0.9996", ""),
        ("–", ""),
    ],
)
def test_decimals_stand_in_line(text: str, filled: str) -> None:
    """Short decimals are filled with spaces as wide as figures; nothing visible is added."""
    assert padding(text) == filled


def test_a_sentence_isolates_names_from_right_to_left() -> None:
    """Each such name is an element of its own, spaces within it included; figures and markup stay as they are."""
    name = "\u05de\u05d9 \u05d0"
    assert said(f"{name}: 0.7 <b>; {name}") == f"<bdi>{name}</bdi>: 0.7 &lt;b&gt;; <bdi>{name}</bdi>"
    assert said("plain\u202e") == 'plain<span class="hidden">\\u202e</span>'


def test_stripes_of_one_kind_are_one_element() -> None:
    """Passed and failed repeats that follow each other are counted; what has an outline stays single."""
    assert list(stripes("ppfeeu")) == [("p", 2), ("f", 1), ("e", 1), ("e", 1), ("u", 1)]
