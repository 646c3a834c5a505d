"""From the frames of `trial_details` to the details of a report: choosing names and joining; no metric.

There may be many thousand rows: they are read column by column, and what a column does not hold takes no time.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from skilleval.report.details import (
    CheckDetail,
    ConditionDetail,
    Details,
    TaskDetail,
    TrialDetail,
    TryDetail,
    Turn,
)
from skilleval.report.excerpt import Excerpt
from skilleval.report.transcript import transcript

if TYPE_CHECKING:
    import polars as pl
    from _typeshed import DataclassInstance

    _Part = TypeVar("_Part", bound=DataclassInstance)

_Key = tuple[str, str]
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
    checks = _grouped(CheckDetail, tables.checks)
    tries = _grouped(TryDetail, tables.tries)
    keys = _keys(tables.trials)
    joined: dict[str, list[Any]] = {
        "checks": [checks.get(key, ()) for key in keys],
        "tries": [tries.get(key, ()) for key in keys],
        "transcript": _transcripts(tables.trials),
    }
    trials = tuple(_parts(TrialDetail, tables.trials, joined))
    n_trials = int(tables.trials["n_trials"][0]) if trials else 0
    tags = {"tags": [tuple(tags or ()) for tags in tables.tasks["task_tags"].to_list()]}
    return Details(
        tasks=tuple(_parts(TaskDetail, tables.tasks, tags)),
        conditions=tuple(_parts(ConditionDetail, tables.conditions)),
        trials=trials,
        n_trials=n_trials,
        is_complete=len(trials) == n_trials,
    )


def _keys(frame: pl.DataFrame) -> list[_Key]:
    return list(zip(frame["run_id"].to_list(), frame["trial_id"].to_list(), strict=True))


def _grouped(kind: type[_Part], frame: pl.DataFrame) -> dict[_Key, tuple[_Part, ...]]:
    found: dict[_Key, list[_Part]] = defaultdict(list)
    for key, part in zip(_keys(frame), _parts(kind, frame), strict=True):
        found[key].append(part)
    return {key: tuple(parts) for key, parts in found.items()}


def _parts(
    kind: type[_Part], frame: pl.DataFrame, more: dict[str, list[Any]] | None = None
) -> Iterator[_Part]:
    """Make one of each row: its fields are the columns of their names, and what is joined to them."""
    columns = _columns(kind, frame) | (more or {})
    names = tuple(columns)
    return (kind(**dict(zip(names, row, strict=True))) for row in zip(*columns.values(), strict=True))


def _columns(kind: type[_Part], frame: pl.DataFrame) -> dict[str, list[Any]]:
    """Give the values of the columns that fields are named after; one that holds none is left to the default."""
    named = [field for field in fields(kind) if field.name in frame.columns]
    return {
        field.name: _values(frame, field.name, has_null=field.default is None)
        for field in named
        if field.default is MISSING or frame[field.name].null_count() < frame.height
    }


def _values(frame: pl.DataFrame, name: str, *, has_null: bool) -> list[Any]:
    """Give the values of a column: a text with its whole length where that is known, numbers that are none as null."""
    column = frame[name]
    length = f"{name}{_LENGTH}"
    if length in frame.columns:
        return _excerpts(column.to_list(), frame[length].to_list())
    if column.dtype.is_nested():
        return [tuple(items or ()) for items in column.to_list()]
    if column.dtype.is_float():
        return [value if value is None or math.isfinite(value) else None for value in column.to_list()]
    is_told = has_null or not column.null_count()
    return (column if is_told else column.fill_null("")).to_list()


def _excerpts(texts: Sequence[str | None], lengths: Sequence[int]) -> list[Excerpt | None]:
    """Give texts with their whole lengths; an empty one says nothing and is none."""
    return [
        Excerpt(text=text, length=length) if text else None
        for text, length in zip(texts, lengths, strict=True)
    ]


def _transcripts(trials: pl.DataFrame) -> list[tuple[Turn, ...]]:
    """Give what was said in each trial; most have no model to talk with."""
    requests, calls = (_values(trials, name, has_null=True) for name in ("request", "tool_calls"))
    return [transcript(*told) if any(told) else () for told in zip(requests, calls, strict=True)]
