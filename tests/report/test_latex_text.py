from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.report.latex_text import comment, escape
from skilleval.report.numbers import count

# What escaped text may hold of TeX: the commands that draw a character, and nothing that does anything else.
_COMMAND = re.compile(r"\\([A-Za-z]+|.)")
_HARMLESS = {
    *"{}$&#%_,`'^~=.\"urHvck",
    *("textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar"),
    *("textquotedbl", "textquotesingle", "textasciigrave", "allowbreak", "texttt", "ensuremath", "ldots"),
    *("textperiodcentered", "textbullet", "textdagger", "textdaggerdbl", "textsection", "textcopyright"),
    *("textregistered", "texttrademark", "textdegree", "texteuro", "textquotedblleft", "textquotedblright"),
    *("textquoteleft", "textquoteright", "ss", "ae", "AE", "oe", "OE", "o", "O", "l", "L", "i", "quad"),
    *("times", "pm", "leq", "geq", "approx", "neq", "rightarrow", "Delta", "alpha", "beta", "kappa", "mu"),
    *("rho", "sigma", "tau", "omega", "surd", "circ", "oslash", "bigtriangleup"),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_b & 100 % #1 $x$", r"a\_b \& 100 \% \#1 \$x\$"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/\allowbreak{}passwd\}"),
        ("--help", "-{}-help"),
        ("caf\u00e9 \u0142\u00f3d\u017a", r"caf\'{e} \l{}\'{o}d\'{z}"),
        ("−0.3 × 2", r"\ensuremath{-}0.3 \ensuremath{\times} 2"),
        ("[0.5, 0.9]", "{}[0.5, 0.9]"),
        ("*", "{}*"),
        ("\u4e2d", r"\texttt{\textbackslash{}u4e2d}\allowbreak{}"),
        ("a\u202eb", r"a\textbackslash{}u202eb"),
        ("a\nb\x00", r"a\textbackslash{}nb\textbackslash{}x00"),
        ("", ""),
    ],
)
def test_foreign_text_is_drawn_as_it_is(text: str, expected: str) -> None:
    """Each special character becomes the command that draws it; what no font has is spelled."""
    assert escape(text) == expected


@given(st.text(max_size=60))
def test_no_text_can_give_a_command(text: str) -> None:
    """Whatever is escaped is one line of ASCII, with balanced braces and harmless commands alone."""
    found = escape(text)
    assert found.isascii()
    assert "\n" not in found
    assert set(_COMMAND.findall(found)) <= _HARMLESS
    bare = _COMMAND.sub("", found)
    assert not set("$&#%_~") & set(bare)
    depth = 0
    for sign in re.sub(r"\\[{}]", "", found):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0


def test_a_long_word_may_break() -> None:
    """A word without an end does not leave the page: it may break."""
    assert escape("x" * 200).count(r"\allowbreak{}") == 5


def test_a_limit_cuts_the_text_not_its_spelling() -> None:
    """What is cut is what was said, so that no command is cut in two."""
    assert escape("%" * 10, limit=3) == r"\%\%\ldots{}"


@given(st.text(max_size=60))
def test_a_comment_is_one_line_of_ascii(text: str) -> None:
    """Nothing foreign leaves the comment it stands in."""
    found = comment(text)
    assert found.isascii()
    assert len(found.splitlines()) <= 1


def test_the_thin_space_of_numbers_is_that_of_latex() -> None:
    """A number above 999 is set with the thin space at which no line ends."""
    assert escape(count(1930)) == r"1\,930"
