"""The tasks of two runs side by side, and which of them can be compared at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skilleval.analytics.regression import MATCHED_BY
from skilleval.analytics.task_results import TASK_VALUES

if TYPE_CHECKING:
    from collections.abc import Sequence

SIDES = ("before", "after")
_OF_CONDITION = ("condition_id", "benchmark_version", "skill_version", "skill_digest")


def task_pairs(pairs: pl.LazyFrame, baseline: pl.LazyFrame, candidate: pl.LazyFrame) -> pl.LazyFrame:
    """Set the tasks of each pair of conditions side by side.

    A task is compared if both sides tried it with the same input and have a verdict of it.

    Grain: one row a pair × task, sorted.
    Columns: `pair`, `task_id`, the values of `task_results` of both sides as `<name>_before` and `<name>_after`;
        `left_out` (null where the task counts): `added`, `removed`, `changed`, `ungraded before`, `ungraded after` or
        `ungraded`.
    """
    return side_by_side(pairs, baseline, candidate, by=("task_id",), values=TASK_VALUES.names()).with_columns(
        left_out=_left_out()
    )


def side_by_side(
    pairs: pl.LazyFrame,
    baseline: pl.LazyFrame,
    candidate: pl.LazyFrame,
    *,
    by: Sequence[str],
    values: Sequence[str],
) -> pl.LazyFrame:
    """Join rows of two runs by the pairs of `condition_pairs`; a row that one side lacks has nulls there.

    Grain: one row a pair × `by`, sorted.
    """
    both = pairs.filter(pl.col("side") == "both")
    sided = [
        _side(both, rows, side, by, values) for rows, side in ((baseline, "before"), (candidate, "after"))
    ]
    return (
        sided[0]
        .join(sided[1], on=["pair", *by], how="full", coalesce=True, nulls_equal=True)
        .sort("pair", *by)
    )


def _side(
    pairs: pl.LazyFrame, rows: pl.LazyFrame, side: str, by: Sequence[str], values: Sequence[str]
) -> pl.LazyFrame:
    places = pairs.select(
        "pair", *MATCHED_BY, *(pl.col(f"{name}_{side}").alias(name) for name in _OF_CONDITION)
    )
    placed = rows.join(places, on=[*MATCHED_BY, *_OF_CONDITION], how="inner", nulls_equal=True)
    return placed.select("pair", *by, *(pl.col(name).alias(f"{name}_{side}") for name in values))


def _left_out() -> pl.Expr:
    tried = {side: pl.col(f"n_trials_{side}").fill_null(0) > 0 for side in SIDES}
    lacks = {side: pl.col(f"n_graded_{side}").fill_null(0) == 0 for side in SIDES}
    other_input = (pl.col("input_before") != pl.col("input_after")).fill_null(value=False)
    return (
        pl.when(~tried["before"])
        .then(pl.lit("added"))
        .when(~tried["after"])
        .then(pl.lit("removed"))
        .when(other_input)
        .then(pl.lit("changed"))
        .when(lacks["before"] & lacks["after"])
        .then(pl.lit("ungraded"))
        .when(lacks["before"])
        .then(pl.lit("ungraded before"))
        .when(lacks["after"])
        .then(pl.lit("ungraded after"))
    )
