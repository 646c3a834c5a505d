"""Which rule judges a task, and whether it finds in `expectedOutput` what it needs.

A task says its rule by `evaluator.type` or `expectedOutput.type`; where it says neither, what it expects may say it
(`patterns` can only be meant for `regex`). A task that no rule could ever judge is refused before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skilleval.catalog.paths import is_file
from skilleval.errors import Problem

_ALIASES = {"exact_match": "exact", "schema": "json_schema"}
_PATH = "customScorerPath"

# What each kind reads of `expectedOutput`; one of these is enough.
_READS: Mapping[str, tuple[str, ...]] = {
    "exact": ("value",),
    "numeric": ("value",),
    "contains": ("keywords", "value"),
    "regex": ("patterns", "value"),
    "json_schema": ("schema",),
    "custom": (_PATH,),
    "llm_judge": ("judgePrompt", "criteria", "value"),
}
# These kinds are given all the rest of `expectedOutput` too, so that other keys beside theirs are no contradiction.
_GIVEN_ALL = {_PATH: "custom", "judgePrompt": "llm_judge", "criteria": "llm_judge"}
_ALONE = {"keywords": "contains", "patterns": "regex", "schema": "json_schema"}
_KEYS = ("value", *_ALONE, *_GIVEN_ALL)


def canonical(word: str) -> str:
    """Give the kind that a word names, which may be an alias."""
    return _ALIASES.get(word, word)


def stated_kind(item: Mapping[str, Any]) -> str | None:
    """Give the kind that a task names by a type; null where it names none."""
    word = item.get("evaluator", {}).get("type") or item["expectedOutput"].get("type")
    return None if word is None else canonical(word)


def implied_kind(expected: Mapping[str, Any]) -> tuple[str, str] | None:
    """Give the kind that the keys of `expectedOutput` can only mean, and the key that says so.

    Null where a value is all there is, which several kinds can judge, and where the keys say nothing clear.
    """
    all_given = [(kind, key) for key, kind in _GIVEN_ALL.items() if key in expected]
    if all_given:
        return all_given[0] if len({kind for kind, _ in all_given}) == 1 else None
    alone = [(kind, key) for key, kind in _ALONE.items() if key in expected]
    return alone[0] if len(alone) == 1 and "value" not in expected else None


def nothing_to_check(item: Mapping[str, Any]) -> bool:
    """Say whether a task expects nothing that any rule could check, as where an answer is withheld."""
    return not any(key in item["expectedOutput"] for key in _KEYS) and stated_kind(item) != "custom"


def judging_problems(item: Mapping[str, Any], key: str, where: str, folder: Path) -> Iterator[Problem]:
    """Find what would leave a task ungraded for ever; `folder` is the benchmark's."""
    kind = stated_kind(item)
    if kind is None:
        yield from _unclear(item["expectedOutput"], key, where)
        kind, _ = implied_kind(item["expectedOutput"]) or (None, "")
    elif kind in _READS:
        yield from _unread(item, kind, key, where)
    if kind == "custom":
        yield from _absent_scorer(item, key, where, folder)


def _unclear(expected: Mapping[str, Any], key: str, where: str) -> Iterator[Problem]:
    found = [name for name in _KEYS if name in expected]
    if found in ([], ["value"]) or implied_kind(expected) is not None:
        return
    meant = {"value": ("exact", "numeric")} | {name: (kind,) for name, kind in (_ALONE | _GIVEN_ALL).items()}
    kinds = sorted({kind for name in found for kind in meant[name]})
    yield Problem(
        where=where,
        key=f"{key}.evaluator.type",
        expected=f"the rule that judges, one of {', '.join(kinds)}",
        found=f"nothing, beside {' and '.join(found)}",
        hint="without a type it is not clear which of them counts",
    )


def _unread(item: Mapping[str, Any], kind: str, key: str, where: str) -> Iterator[Problem]:
    """Refuse a kind that can read nothing of what is there."""
    expected, reads = item["expectedOutput"], _READS[kind]
    options = item.get("evaluator", {})
    found = [name for name in _KEYS if name in expected]
    if any(name in expected or (name == _PATH and name in options) for name in reads):
        return
    if not found and kind != "custom":
        return  # withheld: ungraded, and said so
    meant = implied_kind(expected)
    yield Problem(
        where=where,
        key=f"{key}.expectedOutput.{reads[0]}",
        expected=f"{' or '.join(reads)}, which {kind} reads",
        found=f"only {' and '.join(found)}" if found else "nothing",
        hint=f"{meant[1]} is read by {meant[0]}: make that the type" if meant else "",
    )


def _absent_scorer(item: Mapping[str, Any], key: str, where: str, folder: Path) -> Iterator[Problem]:
    """Refuse the file of a custom scorer that is not there; of a module only Python's import can say so."""
    holder = "evaluator" if _PATH in item.get("evaluator", {}) else "expectedOutput"
    reference = item.get(holder, {}).get(_PATH)
    if reference is None:
        return
    place, colon, _ = reference.rpartition(":")
    place = place if colon else reference
    if colon and not place.endswith(".py"):
        return
    path = folder / place
    if not place.endswith(".py"):
        expected, found = "a Python file: file.py, file.py:function or module:function", reference
    elif not is_file(path):
        expected, found = "a file that is there", f"nothing at {path}"
    else:
        return
    yield Problem(where=where, key=f"{key}.{holder}.{_PATH}", expected=expected, found=found)
