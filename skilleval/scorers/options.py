"""Options that a task gives its own evaluator: they win over the scorer's config."""

from __future__ import annotations

from skilleval.scorers.base import ScoringRecord


def task_option(record: ScoringRecord, kind: str, key: str, *, default: bool) -> bool:
    """Give the task's own option where its evaluator is of this kind and sets it, else the configured one."""
    evaluator = record.evaluator
    if evaluator is None or evaluator.kind != kind:
        return default
    return bool(evaluator.options.get(key, default))
