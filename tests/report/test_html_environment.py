from __future__ import annotations

import pytest

from skilleval.report.html_environment import padding


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
