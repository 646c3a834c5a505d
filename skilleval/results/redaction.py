"""Taking out what must not be stored: patterns of the user's own, applied before a row is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from skilleval.errors import ConfigError, Problem
from skilleval.results.secrets import Secrets

MARK = "[redacted]"

_JSON = frozenset({"input", "expected", "output"})
_TEXT = frozenset({"message", "stdout", "stderr", "reason", "evidence", "check"})


class Redactor:
    """Replaces whatever a pattern matches by `MARK`, in inputs, outputs and all texts made from them.

    Values of JSON columns are taken apart first: a pattern sees one text, one key or one number at a time, and never
    breaks the JSON around it. What it matched anywhere in a trial is then looked for in all texts of the trial, also
    where only a part of it was kept. `n_redacted` counts the places.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.n_redacted = 0
        self._patterns = tuple(_compiled(pattern, index) for index, pattern in enumerate(patterns))

    def line(self, line: dict[str, Any]) -> dict[str, Any]:
        """Give a journal line without what must not be stored; the line itself where nothing is asked for."""
        if not self._patterns:
            return line
        rows = [line["trial"], *line["tries"], *line["scores"]]
        opened = [{name: _opened(name, value) for name, value in row.items()} for row in rows]
        secrets = Secrets(self._patterns, _all_texts(opened))
        trial, *others = [
            {name: self._column(name, row[name], value, secrets) for name, value in each.items()}
            for row, each in zip(rows, opened, strict=True)
        ]
        n_tries = len(line["tries"])
        return {"trial": trial, "tries": others[:n_tries], "scores": others[n_tries:]}

    def _column(self, name: str, stored: Any, value: Any, secrets: Secrets) -> Any:
        if stored is None:
            return None
        if name in _JSON:
            return json.dumps(self._value(value, secrets), ensure_ascii=False, separators=(",", ":"))
        return self._text(value, secrets, may_be_cut=True) if name in _TEXT else stored

    def _value(self, value: Any, secrets: Secrets) -> Any:
        if isinstance(value, str):
            return self._text(value, secrets)
        if isinstance(value, list):
            return [self._value(item, secrets) for item in value]
        if isinstance(value, dict):
            return self._members(value, secrets)
        if _is_number(value):
            digits = json.dumps(value)
            redacted = self._text(digits, secrets)
            return value if redacted == digits else redacted
        return value

    def _members(self, members: dict[str, Any], secrets: Secrets) -> dict[str, Any]:
        """Redact keys and values; keys that come out equal are numbered, for no value may get lost."""
        redacted: dict[str, Any] = {}
        for key, item in members.items():
            name = first = self._text(key, secrets)
            n = 1
            while name in redacted:
                n += 1
                name = f"{first} {n}"
            redacted[name] = self._value(item, secrets)
        return redacted

    def _text(self, text: str, secrets: Secrets, *, may_be_cut: bool = False) -> str:
        kept: list[str] = []
        last = 0
        for start, end in secrets.spans(text, may_be_cut=may_be_cut):
            kept += (text[last:start], MARK)
            last = end
            self.n_redacted += 1
        return "".join((*kept, text[last:]))


def _opened(name: str, value: Any) -> Any:
    return json.loads(value) if name in _JSON and value is not None else value


def _all_texts(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        for name, value in row.items():
            if name in _JSON:
                yield from _texts_in(value)
            elif name in _TEXT and value is not None:
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
