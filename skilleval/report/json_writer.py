"""The report as JSON: the format that the others can be made from later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilleval.report.document import Report, to_json
from skilleval.report.text import json_text

_BY_LINES = frozenset({"details", "matrix"})
"""What has a row a trial or a task: a line for each row, or most of the file would be the spaces before its keys."""


def render(report: Report) -> str:
    """Write the document as JSON with a final newline."""
    document = to_json(report)
    parts = [f"{json_text(key)}: {_value(key, value)}" for key, value in document.items()]
    return _laid_out("{", parts, "}", level=0) + "\n"


def _value(key: str, value: Any) -> str:
    """Write a value of the document; no text in JSON holds a line break, so every one of them is of the layout."""
    if key in _BY_LINES:
        return _by_lines(value)
    return json_text(value, indent=2).replace("\n", "\n  ")


def _by_lines(value: Any, level: int = 1) -> str:
    """Write an object key by key, and a list item by item, each of them a line."""
    if isinstance(value, Mapping) and level == 1:
        parts = [f"{json_text(key)}: {_by_lines(part, level + 1)}" for key, part in value.items()]
        return _laid_out("{", parts, "}", level=level)
    if isinstance(value, list | tuple) and value:
        return _laid_out("[", [json_text(item) for item in value], "]", level=level)
    return json_text(value)


def _laid_out(begin: str, parts: list[str], end: str, *, level: int) -> str:
    margin = "  " * level
    return begin + ",".join(f"\n{margin}  {part}" for part in parts) + f"\n{margin}{end}"
