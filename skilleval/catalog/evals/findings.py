"""Collects what is wrong with a file of evals and what is worth saying, so that one mistake does not hide others."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from skilleval.catalog.notices import Notices
from skilleval.catalog.rules import said
from skilleval.errors import Problem

_SURELY = 0.85
_PERHAPS = 0.75


class Findings:
    """Problems and notices of one file. `is_strict` makes problems of unknown keys; `unknown` counts those."""

    def __init__(self, where: str, *, is_strict: bool = False) -> None:
        self.where = where
        self.notices = Notices(where)
        self.problems: list[Problem] = []
        self.unknown: Counter[str] = Counter()
        self._is_strict = is_strict

    def problem(self, key: str, *, expected: str, found: object, hint: str = "") -> None:
        """Keep a mistake; what was found is shown as JSON unless it is said in words."""
        words = found if isinstance(found, Said) else said(found)
        self.problems.append(
            Problem(where=self.where, key=key, expected=expected, found=str(words), hint=hint)
        )

    def stranger(self, place: str, name: str, known: Collection[str]) -> None:
        """Keep a key that has no effect, with the known one that it seems to mean."""
        self.unknown[name] += 1
        close = _meant(name, known)
        hint = f"did you mean {close}?" if close else ""
        if self._is_strict:
            self.problem(f"{place}.{name}", expected="a known key", found=name, hint=hint)
        else:
            self.notices.add(
                f"{place}.{name}", f"unknown key {name}, without effect{f' ({hint})' if hint else ''}"
            )

    def text(self, place: str, item: Mapping[str, Any], key: str) -> str | None:
        """Give a text that is not blank; null where there is none, with a problem where it is something else."""
        value = item.get(key)
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        if isinstance(value, str):
            return None
        self.problem(f"{place}.{key}", expected="a text", found=value)
        return None

    def entries(self, place: str, item: Mapping[str, Any], key: str) -> list[Any]:
        """Give the entries of a list; one text or object stands for a list of one."""
        value = item.get(key)
        if isinstance(value, list):
            return value
        if value is None:
            return []
        if isinstance(value, str | dict):
            self.notices.alias(f"{place}.{key}", "one value", "a list of one")
            return [value]
        self.problem(f"{place}.{key}", expected="a list", found=value)
        return []


class Said(str):
    """What was found, said in words rather than shown."""

    __slots__ = ()


def is_surely(name: str, known: str) -> bool:
    """Say whether one key is another one with a slip of the finger."""
    return bool(difflib.get_close_matches(name.lower(), [known], n=1, cutoff=_SURELY))


def _meant(name: str, known: Collection[str]) -> str | None:
    """Give the known key that a stranger seems to mean; `description` must not be taken for `script`."""
    plain = {one.replace("_", "").lower(): one for one in sorted(known, reverse=True)}
    close = difflib.get_close_matches(name.replace("_", "").lower(), plain, n=1, cutoff=_PERHAPS)
    return plain[close[0]] if close else None
