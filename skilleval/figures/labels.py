"""Names for the rows of a summary: as short as they can be while no two rows share one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

_FITTING = 22
"""So many letters fit beside a mark on a phone and on paper."""

_TELLING = (
    "mode",
    "skill_version",
    "model",
    "adapter",
    "sandbox",
    "benchmark_id",
    "benchmark_version",
    "run_id",
)

_CONDITION = ("run_id", "condition_id", "benchmark_id", "benchmark_version")


def row_labels(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name each condition × scorer: the skill, then only what tells it from rows of the same skill.

    The scorer is named where the rows hold several.
    """
    labels = [[str(row.get("skill_id") or "")] for row in rows]
    for key in _TELLING:
        _add_where_telling(labels, rows, key)
    if len({row["scorer"] for row in rows if row.get("scorer")}) > 1:
        for label, row in zip(labels, rows, strict=True):
            label.extend([str(row["scorer"])] if row.get("scorer") else [])
    return _numbered([" · ".join(label) for label in labels])


def condition_labels(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the condition of each row, not its scorer: rows that judge the same trials share a name."""
    keys = [tuple(row.get(key) for key in _CONDITION) for row in rows]
    first = {key: {**row, "scorer": None} for key, row in zip(reversed(keys), reversed(rows), strict=True)}
    names = dict(zip(first, row_labels(list(first.values())), strict=True))
    return [names[key] for key in keys]


def fitting_labels(labels: Sequence[str]) -> list[str]:
    """Shorten long labels in their middle, so that they fit beside a mark; labels that differ stay different.

    Numbers follow the order of the whole labels, so that each figure gives a label the same one.
    """
    ordered = sorted(range(len(labels)), key=lambda at: labels[at])
    short = _numbered([_middle_out(labels[at]) for at in ordered])
    return [label for _, label in sorted(zip(ordered, short, strict=True))]


def _middle_out(label: str) -> str:
    if len(label) <= _FITTING:
        return label
    tail = (_FITTING - 1) // 2
    return f"{label[: _FITTING - 1 - tail]}…{label[-tail:]}"


def _add_where_telling(labels: list[list[str]], rows: Sequence[Mapping[str, Any]], key: str) -> None:
    """Add a value to the labels that rows with different values share."""
    values: dict[str, set[str]] = {}
    for label, row in zip(labels, rows, strict=True):
        values.setdefault(" · ".join(label), set()).add(str(row.get(key) or ""))
    telling = {name for name, found in values.items() if len(found) > 1}
    for label, row in zip(labels, rows, strict=True):
        if " · ".join(label) in telling and row.get(key):
            label.append(str(row[key]))


def _numbered(labels: list[str]) -> list[str]:
    """Number the labels that are still equal, so that a chart never draws two rows as one."""
    repeated = {label for label, n in Counter(labels).items() if n > 1}
    taken = set(labels)
    seen: Counter[str] = Counter()
    unique = []
    for label in labels:
        name = label
        while label in repeated and (name == label or name in taken):
            seen[label] += 1
            name = f"{label} #{seen[label]}"
        taken.add(name)
        unique.append(name)
    return unique
