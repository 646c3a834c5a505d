"""Taking out what must not be stored: patterns of the user's own, applied before a row is written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from skilleval.errors import ConfigError, Problem

MARK = "[redacted]"

_JSON = frozenset({"input", "expected", "output"})
_TEXT = frozenset({"message", "stdout", "stderr", "reason", "evidence", "check"})


class Redactor:
    """Replaces whatever a pattern matches by `MARK`, in inputs, outputs and all texts made from them.

    Values of JSON columns are taken apart first: a pattern sees each text as the skill meant it, and never breaks the
    JSON around it. `n_redacted` counts the places.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.n_redacted = 0
        self._patterns = tuple(_compiled(pattern, index) for index, pattern in enumerate(patterns))

    def line(self, line: dict[str, Any]) -> dict[str, Any]:
        """Give a journal line without what must not be stored; the line itself where nothing is asked for."""
        if not self._patterns:
            return line
        return {
            "trial": self._row(line["trial"]),
            "tries": [self._row(row) for row in line["tries"]],
            "scores": [self._row(row) for row in line["scores"]],
        }

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        return {name: self._column(name, value) for name, value in row.items()}

    def _column(self, name: str, value: Any) -> Any:
        if value is None:
            return None
        if name in _JSON:
            return json.dumps(self._value(json.loads(value)), ensure_ascii=False, separators=(",", ":"))
        return self._text(value) if name in _TEXT else value

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {self._text(key): self._value(item) for key, item in value.items()}
        return value

    def _text(self, text: str) -> str:
        for pattern in self._patterns:
            text, n = pattern.subn(MARK, text)
            self.n_redacted += n
        return text


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
