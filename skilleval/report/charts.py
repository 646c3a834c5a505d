"""The figures of a report, drawn from its summary rows where a format shows them: the document itself holds numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skilleval.figures import FIGURES
from skilleval.report.columns import words
from skilleval.report.document import Report, Row
from skilleval.report.text import one_line
from skilleval.report.value_rules import Kind, kind_of

if TYPE_CHECKING:
    import polars as pl

_NAMES = ("skill_id", "skill_version", "scorer", "model", "adapter", "sandbox", "mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart as a Vega-Lite specification that holds its own data."""

    name: str
    title: str
    caption: str
    spec: Mapping[str, Any]


def figures(report: Report) -> tuple[Figure, ...]:
    """Draw every figure; there is nothing to draw without rows."""
    import polars as pl

    if not report.summary:
        return ()
    summary = pl.DataFrame(_visible(report.summary), schema=_schema(report.summary))
    return tuple(
        Figure(
            name=name,
            title=topic.title,
            caption=topic.caption,
            spec=topic.chart(summary, report.threshold).to_dict(),
        )
        for name, topic in FIGURES.items()
        if not topic.needs or any(row.get(topic.needs) is not None for row in report.summary)
    )


def _visible(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Give the known columns with every name made safe to look at, for labels and charts."""
    return [
        {
            **{key: value for key, value in row.items() if kind_of(key)},
            **{key: one_line(words(row, key)) for key in _NAMES if row.get(key) is not None},
        }
        for row in rows
    ]


def _schema(rows: Sequence[Row]) -> dict[str, pl.DataType]:
    """Give the types of the known columns: of others nobody knows whether their values fit one column."""
    import polars as pl

    types = {Kind.WHOLE: pl.Int64(), Kind.TEXT: pl.String()}
    named = {name: kind for row in rows for name in row if (kind := kind_of(name))}
    return {name: types.get(kind, pl.Float64()) for name, kind in named.items()}
