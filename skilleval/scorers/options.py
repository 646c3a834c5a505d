"""Options that a task gives its own evaluator: they win over the scorer's config."""

from __future__ import annotations

from typing import TypeVar

from skilleval.scorers.base import ScoringRecord
from skilleval.strict import StrictModel

_Options = TypeVar("_Options", bound=StrictModel)


def with_task_options(record: ScoringRecord, kind: str, options: _Options) -> _Options:
    """Give the options of a scorer, with those that the task sets for an evaluator of this kind in their place."""
    evaluator = record.evaluator
    if evaluator is None or evaluator.kind != kind or not evaluator.options:
        return options
    return options.model_copy(update=dict(evaluator.options))
