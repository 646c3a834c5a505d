"""From the frames of `trial_details` to the details of a report: choosing names and joining; no metric."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from skilleval.report.details import (
    CheckDetail,
    ConditionDetail,
    Details,
    TaskDetail,
    TrialDetail,
    TryDetail,
)
from skilleval.report.excerpt import Excerpt
from skilleval.report.manifest import optional_text, text
from skilleval.report.transcript import transcript

if TYPE_CHECKING:
    import polars as pl

_Key = tuple[str, str]
_Row = Mapping[str, Any]
_Part = TypeVar("_Part")
_LENGTH = "_length"  # ends the name of the column with the whole length of a text


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailTables:
    """The collected frames of `trial_details`, sorted as they come."""

    trials: pl.DataFrame
    tasks: pl.DataFrame
    conditions: pl.DataFrame
    checks: pl.DataFrame
    tries: pl.DataFrame


def details_part(tables: DetailTables) -> Details:
    """Put the details together."""
    checks = _grouped(tables.checks, _check)
    tries = _grouped(tables.tries, _try)
    trials = tuple(
        _trial(row, checks.get(_key(row), ()), tries.get(_key(row), ())) for row in _rows(tables.trials)
    )
    n_trials = int(tables.trials["n_trials"][0]) if trials else 0
    return Details(
        tasks=tuple(_task(row) for row in _rows(tables.tasks)),
        conditions=tuple(_condition(row) for row in _rows(tables.conditions)),
        trials=trials,
        n_trials=n_trials,
        is_complete=len(trials) == n_trials,
    )


def _rows(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    return frame.iter_rows(named=True)


def _key(row: _Row) -> _Key:
    return row["run_id"], row["trial_id"]


def _grouped(frame: pl.DataFrame, made: Callable[[_Row], _Part]) -> dict[_Key, tuple[_Part, ...]]:
    found: dict[_Key, list[_Part]] = defaultdict(list)
    for row in _rows(frame):
        found[_key(row)].append(made(row))
    return {key: tuple(parts) for key, parts in found.items()}


def _task(row: _Row) -> TaskDetail:
    return TaskDetail(
        task_id=text(row, "task_id"),
        tags=tuple(row["task_tags"] or ()),
        input=_excerpt(row, "input"),
        expected=_excerpt(row, "expected"),
    )


def _condition(row: _Row) -> ConditionDetail:
    return ConditionDetail(
        condition_id=text(row, "condition_id"),
        skill_id=text(row, "skill_id"),
        skill_version=text(row, "skill_version"),
        adapter=optional_text(row, "adapter"),
        model=optional_text(row, "model"),
        sandbox=optional_text(row, "sandbox"),
        mode=optional_text(row, "mode"),
    )


def _check(row: _Row) -> CheckDetail:
    return CheckDetail(
        scorer=text(row, "scorer"),
        check=text(row, "check"),
        verdict=text(row, "verdict"),
        score=_finite(row, "score"),
        weight=_finite(row, "weight"),
        required=bool(row["required"]),
        failure_kind=optional_text(row, "failure_kind"),
        reason=_excerpt(row, "reason"),
        evidence=_excerpt(row, "evidence"),
    )


def _try(row: _Row) -> TryDetail:
    return TryDetail(
        try_index=row["try_index"],
        status=text(row, "status"),
        failure_kind=optional_text(row, "failure_kind"),
        latency_ms=_finite(row, "latency_ms"),
        cost_usd=_finite(row, "cost_usd"),
        exit_code=row["exit_code"],
        backoff_ms=_finite(row, "backoff_ms"),
        message=_excerpt(row, "message"),
        output=_excerpt(row, "output"),
        stdout=_excerpt(row, "stdout"),
        stderr=_excerpt(row, "stderr"),
    )


def _trial(row: _Row, checks: tuple[CheckDetail, ...], tries: tuple[TryDetail, ...]) -> TrialDetail:
    return TrialDetail(
        condition_id=text(row, "condition_id"),
        task_id=text(row, "task_id"),
        repeat=row["repeat"],
        status=text(row, "status"),
        verdict=text(row, "verdict"),
        failure_kind=optional_text(row, "failure_kind"),
        latency_ms=_finite(row, "latency_ms"),
        cost_usd=_finite(row, "cost_usd"),
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        total_tokens=row["total_tokens"],
        exit_code=row["exit_code"],
        response_model=optional_text(row, "response_model"),
        reused_from=optional_text(row, "reused_from"),
        notes=tuple(row["notes"] or ()),
        message=_excerpt(row, "message"),
        output=_excerpt(row, "output"),
        stdout=_excerpt(row, "stdout"),
        stderr=_excerpt(row, "stderr"),
        transcript=transcript(_excerpt(row, "request"), _excerpt(row, "tool_calls")),
        checks=checks,
        tries=tries,
    )


def _excerpt(row: _Row, key: str) -> Excerpt | None:
    """Give a text with its whole length; an empty one says nothing and is none."""
    found = row[key]
    return Excerpt(text=found, length=row[f"{key}{_LENGTH}"]) if found else None


def _finite(row: _Row, key: str) -> float | None:
    value: float | None = row[key]
    return value if value is not None and math.isfinite(value) else None
