"""What a metric is, and the one place where groups are aggregated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    """A named number: of a group of rows (`summarise`), or of a summary row (`derive`).

    `sorts` says that it needs the values of its group in order, so that it cannot be added up row by row.
    `eq=False`: an expression has no truth value, so metrics compare by identity.
    """

    name: str
    expr: pl.Expr
    unit: str
    source: str = ""
    doc: str = ""
    sorts: bool = False


def summarise(rows: pl.LazyFrame, *, by: Sequence[str], metrics: Iterable[Metric]) -> pl.LazyFrame:
    """Reduce each group of rows to one row of metrics.

    Grain: one row a distinct value of `by`, sorted by it.
    Columns: `by`, then one a metric, in the order given.
    """
    return rows.group_by(by).agg(metric.expr.alias(metric.name) for metric in metrics).sort(by)


def derive(summary: pl.LazyFrame, *, metrics: Iterable[Metric]) -> pl.LazyFrame:
    """Add metrics that follow from other columns of the same summary row.

    Grain: unchanged.
    """
    return summary.with_columns(metric.expr.alias(metric.name) for metric in metrics)
