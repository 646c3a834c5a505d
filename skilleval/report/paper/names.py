r"""Names of LaTeX macros: letters alone, readable, and never the same one twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

PREFIX = "eval"
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_WORDS = re.compile(r"[A-Za-z]+|[0-9]")
_LONGEST = 60


def letters(text: str) -> str:
    """Give a text in letters, each word with a capital: `gpt-4 mini` becomes `GptFourMini`; else empty."""
    plain = unicodedata.normalize("NFKD", text)
    words = _WORDS.findall("".join(one for one in plain if not unicodedata.combining(one)))
    spelled = (_DIGITS[int(word)] if word.isdigit() else f"{word[0].upper()}{word[1:]}" for word in words)
    return "".join(spelled)[:_LONGEST]


def distinct(texts: Sequence[str], *, otherwise: str) -> list[str]:
    """Name each text in letters; a text that has none is called what is given `otherwise`."""
    return unique([letters(text) or otherwise for text in texts])


def unique(names: Sequence[str]) -> list[str]:
    """Count in words the names that are there already: `Sum`, `SumTwo`, `SumThree`.

    TeX tells capitals apart, people in a hurry do not: names that differ in them alone count as one.
    """
    found: list[str] = []
    taken: set[str] = set()
    for base in names:
        name, n = base, 1
        while name.lower() in taken:
            n += 1
            name = f"{base}{letters(str(n))}"
        taken.add(name.lower())
        found.append(name)
    return found
