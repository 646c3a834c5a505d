"""The words of an address as what is asked for."""

from __future__ import annotations

from collections.abc import Mapping

from skilleval.errors import Problem, UsageError
from skilleval.report.run_list import Asked

_WORDS = ("q", "benchmark", "skill", "scorer", "experiment", "state", "shards", "since", "until")
_LONGEST = 500
_DIGITS = 6


def asked(query: Mapping[str, str]) -> Asked:
    """Read which runs are asked for; unknown words are nobody's business.

    Raises:
        UsageError: a word is too long, or the number of a page is none.
    """
    words = {name: query.get(name, "").strip() for name in _WORDS}
    long = [name for name, value in words.items() if len(value) > _LONGEST]
    if long:
        problems = tuple(
            Problem(where=name, expected=f"at most {_LONGEST} characters", found=str(len(words[name])))
            for name in long
        )
        raise UsageError("runs cannot be chosen so", problems=problems)
    return Asked(**words, sort=query.get("sort") or Asked().sort, page=_page(query.get("page") or "1"))


def _page(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS and int(text) > 0):
        problem = Problem(where="page", expected="a number from 1", found=repr(text)[:80])
        raise UsageError("there is no such page", problems=(problem,))
    return int(text)


def needed(query: Mapping[str, str], name: str, meaning: str) -> str:
    """Give a word that must be there.

    Raises:
        UsageError: it is not.
    """
    if not query.get(name):
        raise UsageError(f"{meaning} is not named", hint="choose it in the list of runs")
    return query[name]
