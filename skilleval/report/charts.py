"""The figures of a report, drawn from its summary rows where a format shows them: the document itself holds numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skilleval.figures import FIGURES, Topic
from skilleval.report.columns import words
from skilleval.report.document import Report, Row
from skilleval.report.text import one_line
from skilleval.report.value_rules import Kind, kind_of

if TYPE_CHECKING:
    import polars as pl

_NAMES = ("name", "baseline", "skill_id", "skill_version", "scorer", "model", "adapter", "sandbox", "mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart as a Vega-Lite specification that holds its own data."""

    name: str
    title: str
    caption: str
    spec: Mapping[str, Any]


def figures(report: Report) -> tuple[Figure, ...]:
    """Draw every figure of which the report has rows."""
    if not report.summary:
        return ()
    parts: dict[str, Sequence[Row]] = {
        "summary": report.summary,
        "uplift": [_texts_and_numbers(dataclasses.asdict(one)) for one in report.uplift],
    }
    return tuple(
        _figure(name, topic, parts[topic.part], report.threshold)
        for name, topic in FIGURES.items()
        if not topic.needs or any(row.get(topic.needs) is not None for row in parts[topic.part])
    )


def _figure(name: str, topic: Topic, rows: Sequence[Row], threshold: float | None) -> Figure:
    import polars as pl

    frame = pl.DataFrame(_visible(rows), schema=_schema(rows))
    spec = topic.chart(frame, threshold).to_dict()
    return Figure(name=name, title=topic.title, caption=topic.caption, spec=spec)


def _texts_and_numbers(values: Mapping[str, Any]) -> Row:
    return {key: value for key, value in values.items() if not isinstance(value, tuple | list)}


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
