"""What nobody else beats in everything: the front of several criteria at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAME = 1e-9


def pareto_front(rows: pl.LazyFrame, *, criteria: Mapping[str, bool], key: str, name: str) -> pl.LazyFrame:
    """Mark the rows that no other row beats: as good in every criterion and better in one.

    `criteria` says of each column whether less is better; `key` is unique, `name` is what a row is called in
    `dominated_by`.

    Grain: unchanged, in order.
    Columns: as given, plus `on_front` (null where a criterion is not known: such a row neither beats nor is beaten) and
        `dominated_by` (the names of those that beat it).
    Source: Pareto 1896.
    """
    known = pl.all_horizontal(pl.col(column).is_not_null() for column in criteria)
    sides = rows.filter(known).select(key, *criteria)
    others = rows.filter(known).select(
        pl.col(key).alias("_other"),
        pl.col(name).alias("_name"),
        *(pl.col(column).alias(f"_{column}") for column in criteria),
    )
    # Turned so that more is better.
    leads = [
        (pl.col(f"_{column}") - pl.col(column)) * (-1.0 if best_is_low else 1.0)
        for column, best_is_low in criteria.items()
    ]
    no_worse = pl.all_horizontal(lead >= -_SAME for lead in leads)
    better = pl.any_horizontal(lead > _SAME for lead in leads)
    beaten = (
        sides.join(others, how="cross")
        .filter(no_worse & better)
        .group_by(key)
        .agg(dominated_by=pl.col("_name"))
    )
    joined = rows.join(beaten, on=key, how="left", maintain_order="left")
    names = pl.col("dominated_by").list.sort().fill_null(pl.lit([], dtype=pl.List(pl.String())))
    return joined.with_columns(
        dominated_by=names, on_front=pl.when(known).then(pl.col("dominated_by").is_null())
    )
