"""Taking out what must not be stored: patterns of the user's own, applied before a row is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Protocol

from skilleval.errors import ConfigError, Problem
from skilleval.results.secrets import CUT, MAX_CUTS, SHORTEST, Secrets

MARK = "[redacted]"

_JSON = frozenset({"input", "expected", "output", "request", "tool_calls"})
_TEXT = frozenset({"message", "stdout", "stderr", "reason", "evidence", "check", "reply", "response_model"})
_LISTS = ("tries", "scores", "judgements")


class Hidden(Protocol):
    """A text that is known beforehand and must not be kept, such as the key that a skill was given."""

    def redacted(
        self, text: str, *, is_cut_before: bool = False, is_cut: bool = False, shortest: int = 1
    ) -> str:
        """Give a text without it, however it is spelled there; where the text was cut, without parts of it."""
        ...


class Redactor:
    """Replaces whatever a pattern matches by `MARK`, in inputs, outputs and all texts made from them.

    Values of JSON columns are taken apart first: a pattern sees one text, one key or one number at a time, and never
    breaks the JSON around it. What it matched anywhere in a trial is then looked for in all texts of the trial, also
    where only a part of it was kept. `n_redacted` counts the places.

    What is `hidden` is taken out before, and is not counted: nobody asked for it by a pattern that may be wrong.
    """

    def __init__(self, patterns: Sequence[str], hidden: Sequence[Hidden] = ()) -> None:
        self.n_redacted = 0
        self._patterns = tuple(_compiled(pattern, index) for index, pattern in enumerate(patterns))
        self._hidden = tuple(hidden)

    def line(self, line: dict[str, Any]) -> dict[str, Any]:
        """Give a journal line without what must not be stored; the line itself where nothing is asked for."""
        if self._hidden:
            line = _changed(line, self.unhidden)
        if self._patterns:
            secrets = Secrets(self._patterns, _all_texts(line))
            line = _changed(line, partial(self._marked, secrets))
        return line

    def unhidden(self, text: str, *, may_be_cut: bool = False) -> str:
        """Give a text without what is hidden."""
        for one in self._hidden:
            text = one.redacted(text)
        return self._uncut(text) if may_be_cut else text

    def _uncut(self, text: str) -> str:
        """Take out what cuts may have left; texts are cut at both ends, at times without a sign."""
        pieces = text.split(CUT, MAX_CUTS)
        for one in self._hidden:
            pieces = [
                one.redacted(piece, is_cut_before=True, is_cut=True, shortest=SHORTEST) for piece in pieces
            ]
        return CUT.join(pieces)

    def _marked(self, secrets: Secrets, text: str, *, may_be_cut: bool = False) -> str:
        kept: list[str] = []
        last = 0
        for start, end in secrets.spans(text, may_be_cut=may_be_cut):
            kept += (text[last:start], MARK)
            last = end
            self.n_redacted += 1
        return "".join((*kept, text[last:]))


class _Change(Protocol):
    def __call__(self, text: str, *, may_be_cut: bool = False) -> str: ...


def _changed(line: dict[str, Any], change: _Change) -> dict[str, Any]:
    def row(one: dict[str, Any]) -> dict[str, Any]:
        return {name: _column(name, value, change) for name, value in one.items()}

    return {
        "trial": row(line["trial"]),
        **{name: [row(one) for one in line.get(name, ())] for name in _LISTS},
    }


def _column(name: str, stored: Any, change: _Change) -> Any:
    if stored is None:
        return None
    if name in _JSON:
        value = json.loads(stored)
        changed = _value(value, change)
        return stored if changed == value else json.dumps(changed, ensure_ascii=False, separators=(",", ":"))
    return change(stored, may_be_cut=True) if name in _TEXT else stored


def _value(value: Any, change: _Change) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_value(item, change) for item in value]
    if isinstance(value, dict):
        return _members(value, change)
    if _is_number(value):
        digits = json.dumps(value)
        changed = change(digits)
        return value if changed == digits else changed
    return value


def _members(members: dict[str, Any], change: _Change) -> dict[str, Any]:
    """Redact keys and values; keys that come out equal are numbered, for no value may get lost."""
    redacted: dict[str, Any] = {}
    for key, item in members.items():
        name = first = change(key)
        n = 1
        while name in redacted:
            n += 1
            name = f"{first} {n}"
        redacted[name] = _value(item, change)
    return redacted


def _all_texts(line: dict[str, Any]) -> Iterator[str]:
    for row in (line["trial"], *(one for name in _LISTS for one in line.get(name, ()))):
        for name, value in row.items():
            if value is None:
                continue
            if name in _JSON:
                yield from _texts_in(json.loads(value))
            elif name in _TEXT:
                yield value


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts_in(item)
    elif _is_number(value):
        yield json.dumps(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compiled(pattern: str, index: int) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise _unusable(index, pattern, str(error)) from None
    if compiled.match(""):
        raise _unusable(index, pattern, "it matches the empty text, so everything")
    return compiled


def _unusable(index: int, pattern: str, why: str) -> ConfigError:
    key = f"privacy.redact[{index}]"
    problem = Problem(where="config", key=key, expected="a regular expression", found=pattern, hint=why)
    return ConfigError("1 setting cannot be used", problems=(problem,))
