"""Paths into the arguments of a tool call: `a.b[0].c`, with keys that hold dots in quotes (`a["b.c"]`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from skilleval.scorers.base import MISSING
from skilleval.scorers.values import shown

_STEP = re.compile(
    r"""(?P<dot>\.?)(?P<name>[^.\[\]"']+)|\[(?:(?P<index>\d+)|"(?P<double>[^"]*)"|'(?P<single>[^']*)')\]"""
)
_INDEX = re.compile(r"0|[1-9]\d*")


class UnusablePathError(ValueError):
    """A path that cannot be read; the message shows it."""


def read_path(path: object) -> tuple[str, ...]:
    """Give the keys of a path, in order; that of a list's item is its number.

    Raises:
        UnusablePathError: it is no text, is empty, or has a place that is neither a name nor `[n]` nor `["key"]`.
    """
    if not isinstance(path, str) or not path:
        raise UnusablePathError(f"`path` is {shown(path, 80)}, no path such as a.b[0].c")
    keys, at = [], 0
    while at < len(path):
        step = _STEP.match(path, at)
        # A name follows a dot, but for the first one.
        if step is None or (step["name"] is not None and bool(step["dot"]) != (at > 0)):
            raise UnusablePathError(f"the path {shown(path, 80)} cannot be read at {shown(path[at:], 40)}")
        keys.append(next(key for key in step.group("name", "index", "double", "single") if key is not None))
        at = step.end()
    return tuple(keys)


def value_at(value: Any, keys: Sequence[str]) -> Any:
    """Give what stands at a path, `MISSING` where nothing does; only keys and items count, nothing like a length."""
    for key in keys:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.fullmatch(key) and len(key) < 10 and int(key) < len(value):  # noqa: PLR2004 - digits; no list is longer
            value = value[int(key)]
        else:
            return MISSING
    return value
