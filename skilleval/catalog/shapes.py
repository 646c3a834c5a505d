"""Recognises JSON files that are something else, by their shape and never by their name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from skilleval.catalog.rules import misspelt

_SHOWN_KEYS = 6
_RESULT_KEYS = frozenset({"run_summary", "taskResults", "task_results", "eval_count", "runs_per_eval"})
_EVALS_KEYS = frozenset({"expected_behavior", "expected_output", "assertions", "should_trigger"})
_TASK_KEYS = frozenset({"inputData", "prompt", "expectedOutput"})


def described(value: object) -> str:
    """Say in a few words what a JSON value looks like."""
    if isinstance(value, dict):
        return f"an object with {_keys(value)}"
    if isinstance(value, list):
        items = [item for item in value if isinstance(item, dict)]
        count = f"a list of {len(value)} item{'' if len(value) == 1 else 's'}"
        return f"{count}, the first with {_keys(items[0])}" if items else count
    return {str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")


def other_than_skill(value: object) -> str | None:
    """Say what a file is that is no skill manifest; null where it is one, right or wrong."""
    if isinstance(value, dict) and _is_manifest(value):
        return None
    return _known_kind(value) or described(value)


def other_than_tasks(value: object) -> str | None:
    """Say what a file is that holds no tasks; null where it is a benchmark or a task list, right or wrong."""
    known = _known_kind(value)
    if known is not None:
        return known
    if isinstance(value, dict) and _is_manifest(value):
        return "a skill manifest"
    is_benchmark = isinstance(value, dict) and ("tasks" in value or "scoringMethod" in value)
    return None if is_benchmark or isinstance(value, list) else described(value)


def _is_manifest(value: dict[str, Any]) -> bool:
    if any(misspelt(key, ["adapterType"]) for key in value):
        return True
    return {"id", "entrypoint"} <= value.keys() or {"inputSchema", "outputSchema"} <= value.keys()


def _known_kind(value: object) -> str | None:
    if isinstance(value, dict):
        return _kind_of_object(value)
    if isinstance(value, list) and value:
        keys = _all_keys(value)
        if keys & _RESULT_KEYS:
            return "a result file: outcomes of a run, not tasks"
        if keys & _EVALS_KEYS and not keys & {"inputData", "expectedOutput"}:
            return "an evals file: prompts with expectations in words"
    return None


def _kind_of_object(value: dict[str, Any]) -> str | None:
    tasks = value.get("tasks")
    if "tasks" not in value and (value.keys() & _RESULT_KEYS or _is_report(value)):
        return "a result file: outcomes of a run, not tasks"
    if isinstance(value.get("evals"), list):
        return "an evals file: prompts with expectations in words"
    if isinstance(tasks, list) and "rubric" in (keys := _all_keys(tasks)) and not keys & _TASK_KEYS:
        return "a rubric of another tool: criteria for a human or a judge, no expected output"
    return None


def _is_report(value: dict[str, Any]) -> bool:
    return str(value.get("schema", "")).startswith("skilleval.report/")


def _all_keys(items: list[Any]) -> set[str]:
    return {key for item in items if isinstance(item, dict) for key in item}


def _keys(value: Collection[str]) -> str:
    names = [str(name) for name in value]
    if not names:
        return "no keys"
    more = ", …" if len(names) > _SHOWN_KEYS else ""
    return f"the key{'s' if len(names) > 1 else ''} {', '.join(names[:_SHOWN_KEYS])}{more}"
