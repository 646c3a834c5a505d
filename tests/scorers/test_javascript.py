"""Values are printed, and patterns read, as JavaScript does."""

from __future__ import annotations

from typing import Any

import pytest

from skilleval.scorers.base import MISSING
from skilleval.scorers.javascript import as_text, printed, translated, trimmed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5.0, "5"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (12.5, "12.5"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1.5e300, "-1.5e+300"),
        (0.000001, "0.000001"),
        (0.0000015, "0.0000015"),
        (1e-7, "1e-7"),
        (2**53 + 1, "9007199254740992"),
        (10**400, "Infinity"),
        (-(10**400), "-Infinity"),
        (True, "true"),
        (None, "null"),
        (MISSING, "undefined"),
        ([1, None, [2, [3]], {}], "1,,2,3,[object Object]"),
        ([], ""),
        ({"a": 1}, "[object Object]"),
    ],
)
def test_values_print_as_string_does(value: Any, text: str) -> None:
    """`String(value)`, with the rules for numbers of ECMAScript."""
    assert printed(value) == text


def test_objects_become_compact_json() -> None:
    """`JSON.stringify`: no spaces, escapes for quotes and line breaks, other scripts as they are."""
    assert as_text({"a": [1.0, 'é\n"x"'], "b": None}) == '{"a":[1,"é\\n\\"x\\""],"b":null}'
    assert as_text("a\nb") == "a\nb"


def test_trim_takes_the_white_space_of_javascript() -> None:
    """The byte order mark is white space there, a separator control character is not."""
    assert trimmed("\ufeff\u2003 a\n") == "a"
    assert trimmed("\x1ca") == "\x1ca"


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("^abc$", r"^abc\Z"),
        (r"\$5", r"\$5"),
        ("[$.]", "[$.]"),
        ("a.b", r"a[^\n\r\u2028\u2029]b"),
        (r"\A\Z\d", r"AZ\d"),
        ("[^]x[]", r"[\s\S]x(?!)"),
        (r"[[\]$]$", r"[\[\]$]\Z"),
        (r"(?<n>a)\k<n>", r"(?<n>a)\g<n>"),
        ("(?:a)(?=b)(?!c)(?<=d)(?<!e)", "(?:a)(?=b)(?!c)(?<=d)(?<!e)"),
        ("(?i)a", None),
        ("(?P<n>a)", None),
        ("(?>a)", None),
        ("(?#a)", None),
        ("[(?i)]", "[(?i)]"),
    ],
)
def test_patterns_are_rewritten_where_they_differ(pattern: str, written: str | None) -> None:
    """Line ends, dots, empty classes and named groups mean what they mean there; foreign groups are refused."""
    assert translated(pattern) == written
