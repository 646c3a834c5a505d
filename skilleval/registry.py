"""Looking a part up by its kind: adapters, sandboxes, scorers and writers are found the same way.

A kind is a name of ours, the name of an entry point that another package offers (group `skilleval.scorers` etc.), or
a reference `module:attribute`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Mapping
from typing import Any

from skilleval.errors import ConfigError, Problem
from skilleval.strict import nearest

_GROUP = "skilleval.{}"


def part(registry: Mapping[str, Any], kind: str, *, key: str, group: str) -> Any:
    """Give the part of a kind; `key` is the setting that names it, `group` the plural it belongs to, e.g. `scorers`.

    Raises:
        ConfigError: there is no such kind (the nearest known one is named), or it cannot be imported.
    """
    if kind in registry:
        return registry[kind]
    offered = _offered(group)
    if kind in offered:
        return _loaded(offered[kind].load, kind, key)
    if ":" in kind:
        return _loaded(lambda: _attribute(kind), kind, key)
    known = kinds(registry, group=group)
    raise _unusable(key, f"one of {', '.join(known)}", kind, nearest(kind, known))


def kinds(registry: Mapping[str, Any], *, group: str) -> list[str]:
    """Give all kinds of a group: ours and those that installed packages offer."""
    return sorted({*registry, *_offered(group)})


def _offered(group: str) -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group=_GROUP.format(group))}


def _attribute(reference: str) -> Any:
    module, _, name = reference.partition(":")
    found: Any = importlib.import_module(module)
    for step in name.split("."):
        found = getattr(found, step)
    return found


def _loaded(load: Any, kind: str, key: str) -> Any:
    try:
        return load()
    except (ImportError, AttributeError, ValueError) as error:
        raise _unusable(key, "a part that can be imported", kind, str(error)) from None


def _unusable(key: str, expected: str, found: str, hint: str) -> ConfigError:
    problem = Problem(where="config", key=key, expected=expected, found=found, hint=hint)
    return ConfigError("1 setting cannot be used", problems=(problem,))
