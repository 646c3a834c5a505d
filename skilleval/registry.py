"""Looking a part up by its kind: adapters, sandboxes, scorers and writers are found the same way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from skilleval.errors import ConfigError, Problem
from skilleval.strict import nearest

_T = TypeVar("_T")


def part(registry: Mapping[str, _T], kind: str, *, key: str) -> _T:
    """Give the registered part of a kind; `key` is the setting that names it.

    Raises:
        ConfigError: there is no such kind; the nearest known one is named.
    """
    if kind in registry:
        return registry[kind]
    problem = Problem(
        where="config",
        key=key,
        expected=f"one of {', '.join(sorted(registry))}",
        found=kind,
        hint=nearest(kind, list(registry)),
    )
    msg = "1 setting cannot be used"
    raise ConfigError(msg, problems=(problem,))
