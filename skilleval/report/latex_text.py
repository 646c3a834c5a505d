r"""Foreign text in LaTeX: shown as it is, in ASCII that pdflatex sets, and never a command.

Every character that means something to TeX is replaced by the command that draws it. Accented Latin letters are
written with TeX's accents, a few signs by name; all other characters are spelled as `\u4e2d`, for a font that lacks
them would end the run.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from skilleval.report.text import escaped, one_line

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
}
_SIGNS = {
    "\u2009": r"\,",
    "\u202f": r"\,",
    "\u3000": r"\quad{}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "·": r"\textperiodcentered{}",
    "•": r"\textbullet{}",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    "§": r"\textsection{}",
    "©": r"\textcopyright{}",
    "®": r"\textregistered{}",
    "™": r"\texttrademark{}",
    "°": r"\textdegree{}",
    "€": r"\texteuro{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "\N{LEFT SINGLE QUOTATION MARK}": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"\i{}",
}
_MATHS = {
    "−": "-",
    "×": r"\times",
    "±": r"\pm",
    "≤": r"\leq",
    "≥": r"\geq",
    "≈": r"\approx",
    "≠": r"\neq",
    "→": r"\rightarrow",
    "Δ": r"\Delta",
    "\N{GREEK SMALL LETTER ALPHA}": r"\alpha",
    "β": r"\beta",
    "κ": r"\kappa",
    "μ": r"\mu",
    "\N{MICRO SIGN}": r"\mu",
    "ρ": r"\rho",
    "σ": r"\sigma",
    "τ": r"\tau",
    "ω": r"\omega",
    "²": "^2",
    "✓": r"\surd",
    "✕": r"\times",
    "○": r"\circ",
    "◐": r"\oslash",
    "▲": r"\bigtriangleup",
}
_ACCENTS = {
    "\u0300": r"\`",
    "\u0301": r"\'",
    "\u0302": r"\^",
    "\u0303": r"\~",
    "\u0304": r"\=",
    "\u0306": r"\u",
    "\u0307": r"\.",
    "\u0308": r"\"",
    "\u030a": r"\r",
    "\u030b": r"\H",
    "\u030c": r"\v",
    "\u0327": r"\c",
    "\u0328": r"\k",
}
_JOINTS = frozenset("_-/.:,;@=")
_LONG_WORD = 12
_LONGEST_WORD = 40
"""A word may break behind a joint once it has so many letters; behind any letter once it has this many."""

_BREAK = r"\allowbreak{}"


def escape(text: str, *, limit: int | None = None) -> str:
    r"""Give foreign text as one line of LaTeX; `limit` cuts the text, not what it is written with.

    A text that begins with a bracket or a star would be an option of the `\\` or `\item` before it.
    """
    parts: list[str] = []
    run = 0
    before = ""
    for character in one_line(text, limit=limit):
        run = 0 if character.isspace() else run + 1
        parts.append(_apart(before, character) + _drawn(character))
        if run >= _LONGEST_WORD or (run >= _LONG_WORD and character in _JOINTS):
            parts.append(_BREAK)
            run = 0
        before = character
    line = "".join(parts)
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def comment(text: str) -> str:
    """Give foreign text for a comment of LaTeX, BibTeX or a shell: one line of ASCII."""
    return "".join(one if one.isascii() else escaped(one) for one in one_line(text))


def _apart(before: str, character: str) -> str:
    """Keep two hyphens, commas or signs from becoming one sign (`--`, `,,`)."""
    return "{}" if before == character and character in "-," else ""


@cache
def _drawn(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii():
        return character
    if character in _SIGNS:
        return _SIGNS[character]
    if character in _MATHS:
        return rf"\ensuremath{{{_MATHS[character]}}}"
    return _accented(character) or _spelled(character)


def _accented(character: str) -> str:
    """Write a Latin letter with its accent, empty for any other character."""
    letter, accent = unicodedata.normalize("NFD", character)[:1], unicodedata.normalize("NFD", character)[1:]
    if accent in _ACCENTS and letter.isascii() and letter.isalpha():
        return f"{_ACCENTS[accent]}{{{letter}}}"
    return ""


def _spelled(character: str) -> str:
    return rf"\texttt{{\textbackslash{{}}{escaped(character)[1:]}}}{_BREAK}"
