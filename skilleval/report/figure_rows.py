"""The rows that figures are drawn from: parts of one report, or of several, with every name safe to look at."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skilleval.report.columns import words
from skilleval.report.document import Report, Row
from skilleval.report.text import one_line
from skilleval.report.value_rules import Kind, kind_of

if TYPE_CHECKING:
    import polars as pl

    from skilleval.report.diff_document import Diff

_CONDITION = (
    "skill_id",
    "skill_version",
    "adapter",
    "model",
    "sandbox",
    "mode",
    "benchmark_id",
    "benchmark_version",
)
_IDENTITY = ("condition_id", *_CONDITION)
_NAMES = {
    *_CONDITION,
    "name",
    "baseline",
    "scorer",
    "run_id",
    "task_id",
    "tag",
    "rater_a",
    "rater_b",
    "metric",
}
"""Texts of others, which are drawn."""

# Columns of parts whose classes say their types; what a row of the summary holds is known by its name alone.
_LISTS = {"values", "shares"}
_TEXTS = {"tag", "unit", "measure", "outcomes", "rater_a", "rater_b", "metric"}
_NUMBERS = {"value", "mean", "effect", "low", "high", "before", "after", "margin"} | {
    "kappa",
    "kappa_low",
    "kappa_high",
    "kendall_tau",
    "percent_agreement",
}
_STATEMENTS = {"is_on_front"}


def rows_of(part: str, reports: Sequence[Report]) -> list[Row]:
    """Give the rows of a part of all reports; where these are several, each row names its run."""
    named = [(report.run.run_id, row) for report in reports for row in _PARTS[part](report)]
    several = len(reports) > 1
    return [{**row, "run_id": run_id} if several else row for run_id, row in named]


def frame_of(rows: Sequence[Row]) -> pl.DataFrame:
    """Give the known columns of rows, each of one type, with every name made safe to look at.

    Grain: unchanged.
    """
    import polars as pl

    schema = {name: dtype for row in rows for name in row if (dtype := _type_of(name)) is not None}
    return pl.DataFrame([_visible(row, schema) for row in rows], schema=schema)


def _visible(row: Row, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: one_line(words(row, key)) if key in _NAMES and row.get(key) is not None else row.get(key)
        for key in schema
    }


def _type_of(name: str) -> Any:
    """Give the type of a known column, null for others: nobody knows whether their values fit one column."""
    import polars as pl

    if name in _LISTS:
        return pl.List(pl.Float64())
    if name in _STATEMENTS:
        return pl.Boolean()
    if name in _TEXTS:
        return pl.String()
    kind = kind_of(name)
    if kind is None and name not in _NUMBERS:
        return None
    return {Kind.WHOLE: pl.Int64(), Kind.TEXT: pl.String()}.get(kind or Kind.AMOUNT, pl.Float64())


def diff_rows(diff: Diff) -> list[Row]:
    """Give the differences that a comparison of two runs found, a row a skill × scorer × metric."""
    rows = [
        {**_plain(metric), "name": row.name, "skill_id": row.skill_id, "margin": diff.margin}
        for row in diff.rows
        for metric in row.metrics
    ]
    return [row for row in rows if row.get("kind") == "difference" and row.get("effect") is not None]


def _summary(report: Report) -> Iterator[Row]:
    yield from (_known(row) for row in report.summary)


def _uplift(report: Report) -> Iterator[Row]:
    yield from (_plain(dataclasses.asdict(one)) for one in report.uplift)


def _distribution(measure: str) -> Callable[[Report], Iterator[Row]]:
    def rows(report: Report) -> Iterator[Row]:
        identities = _identities(report)
        for one in report.distributions:
            if one.measure == measure:
                yield {**dataclasses.asdict(one), **identities.get(one.condition_id, {})}

    return rows


def _front(measure: str) -> Callable[[Report], Iterator[Row]]:
    def rows(report: Report) -> Iterator[Row]:
        points = {(one.condition_id, one.scorer): one for one in report.fronts if one.measure == measure}
        for row in report.summary:
            one = points.get((words(row, "condition_id"), words(row, "scorer")))
            if one is not None:
                yield {**_known(row), "value": one.value, "is_on_front": one.is_on_front}

    return rows


def _matrix(report: Report) -> Iterator[Row]:
    identities = _identities(report)
    for cell in report.matrix:
        yield {**dataclasses.asdict(cell), **identities.get(cell.condition_id, {})}


def _slices(report: Report) -> Iterator[Row]:
    identities = _identities(report)
    places = {condition_id: place for place, condition_id in enumerate(identities)}
    for one in sorted(report.slices, key=lambda one: places.get(one.condition_id, len(places))):
        yield {**dataclasses.asdict(one), **identities.get(one.condition_id, {})}


def _agreement(report: Report) -> Iterator[Row]:
    if report.agreement is not None:
        yield from (dataclasses.asdict(pair) for pair in report.agreement.pairs)


def _identities(report: Report) -> dict[str, Row]:
    """Give what names each condition."""
    return {
        words(row, "condition_id"): {key: row[key] for key in _IDENTITY if key in row}
        for row in report.summary
    }


def _known(row: Row) -> Row:
    """Give the columns whose names promise a type: a report of another version may have others."""
    return {key: value for key, value in row.items() if kind_of(key)}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if not isinstance(value, tuple | list)}


_PARTS: dict[str, Callable[[Report], Iterator[Row]]] = {
    "summary": _summary,
    "uplift": _uplift,
    "latency": _distribution("latency_ms"),
    "cost": _distribution("cost_usd"),
    "latency_front": _front("p50_ms"),
    "cost_front": _front("mean_cost_usd"),
    "matrix": _matrix,
    "slices": _slices,
    "agreement": _agreement,
}
