"""Nested mappings seen as dotted keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_ABSENT = object()
_OPEN = frozenset({"params"})
"""Names of mappings whose keys are somebody else's, such as parameters of requests, whatever is shipped in them."""


def leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Give each leaf as dotted key and value; lists and empty mappings are leaves."""
    for name, value in tree.items():
        key = f"{prefix}.{name}" if prefix else str(name)
        if isinstance(value, Mapping) and value:
            yield from leaves(value, key)
        else:
            yield key, value


def at(tree: Mapping[str, Any], key: str, default: Any = None) -> Any:
    """Give what stands at a dotted key."""
    node: Any = tree
    for part in key.split("."):
        node = node.get(part, _ABSENT) if isinstance(node, Mapping) else _ABSENT
        if node is _ABSENT:
            return default
    return node


def placed(key: str, value: Any) -> dict[str, Any]:
    """Give a tree that holds one value at a dotted key ("" for the root)."""
    for part in reversed(key.split(".") if key else []):
        value = {part: value}
    return dict(value)


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Give a tree in which what stands above wins, key by key; lists are replaced as a whole."""
    both = dict(below)
    for name, value in above.items():
        deep = isinstance(value, Mapping) and isinstance(both.get(name), Mapping)
        both[name] = merged(both[name], value) if deep else value
    return both


def without(tree: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Give a copy that lacks what stands at a dotted key."""
    head, _, rest = key.partition(".")
    kept = {name: value for name, value in tree.items() if name != head or rest}
    if rest and isinstance(tree.get(head), Mapping):
        kept[head] = without(tree[head], rest)
    return kept


def siblings(tree: Mapping[str, Any], key: str) -> tuple[str, list[str]]:
    """Give the first part of a dotted key that is not in the tree, and the names known in its place."""
    node: Any = tree
    for part in key.split("."):
        if not isinstance(node, Mapping) or part not in node:
            return part, [str(name) for name in node] if isinstance(node, Mapping) else []
        node = node[part]
    return key.rpartition(".")[2], []


def covers(outer: str, inner: str) -> bool:
    """Say whether one dotted key is the other or stands above it."""
    return inner == outer or inner.startswith(f"{outer}.")


def is_open(tree: Mapping[str, Any], key: str) -> bool:
    """Say whether a dotted key stands in a mapping, however deep, that takes keys it does not have yet."""
    parts = key.split(".")
    above = (".".join(parts[:n]) for n in range(1, len(parts)))
    held = ((name, at(tree, name)) for name in above)
    return any(
        isinstance(found, Mapping) and (not found or name.rpartition(".")[2] in _OPEN) for name, found in held
    )
