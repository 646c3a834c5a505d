"""Which conditions of two runs belong together: one rule for comparisons and for gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

MATCHED_BY = ("skill_id", "scorer", "mode", "benchmark_id")
"""What two conditions must share to be compared by `condition_pairs`; anything else may be what has changed."""

MAY_DIFFER = ("model", "adapter", "sandbox", "skill_version", "skill_digest", "benchmark_version")
"""What tells conditions apart that one side has several of, in the order in which it counts."""

_ROW, _PARTNER = "row", "partner"


def condition_pairs(baseline: pl.LazyFrame, candidate: pl.LazyFrame) -> pl.LazyFrame:
    """Pair the conditions of two runs, scorer by scorer, from rows that name them.

    A condition is compared with one of another model, adapter, sandbox, version or content only where nothing else is
    left to choose from on either side. One without a partner is new or removed.

    Grain: one row a pair, sorted.
    Columns: `pair` (its number), `MATCHED_BY`; `MAY_DIFFER` and `condition_id` of both sides, as `<name>_before` and
        `<name>_after`; `side`: `both`, `new` or `removed`.
    """
    carried = (*MAY_DIFFER, "condition_id")
    # Sorted, because rows are numbered: `unique` gives another order each time it is evaluated.
    sides = [
        rows.select(*MATCHED_BY, *carried).unique().sort(*MATCHED_BY, *carried)
        for rows in (baseline, candidate)
    ]
    paired = _paired(*sides, by=MATCHED_BY, apart=MAY_DIFFER, carried=carried)
    return paired.with_row_index("pair").with_columns(pl.col("pair").cast(pl.Int64))


def _paired(
    baseline: pl.LazyFrame,
    candidate: pl.LazyFrame,
    *,
    by: Sequence[str],
    apart: Sequence[str],
    carried: Sequence[str],
) -> pl.LazyFrame:
    """Set the rows of two sides beside each other; `carried` holds `apart`."""
    before, after = (
        _side(rows, name, by, carried) for rows, name in ((baseline, "before"), (candidate, "after"))
    )
    placed = before.join(_pairs(before, after, by, apart), on=f"{_ROW}_before", how="left")
    joined = placed.join(
        after, left_on=_PARTNER, right_on=f"{_ROW}_after", how="full", coalesce=False, suffix="_of_after"
    )
    shared = [pl.coalesce(name, f"{name}_of_after").alias(name) for name in by]
    sided = [f"{name}_{side}" for side in ("before", "after") for name in carried]
    side = (
        pl.when(pl.col(f"{_ROW}_before").is_null())
        .then(pl.lit("new"))
        .when(pl.col(f"{_ROW}_after").is_null())
        .then(pl.lit("removed"))
        .otherwise(pl.lit("both"))
    )
    order = [pl.coalesce(f"{name}_before", f"{name}_after") for name in apart]
    return joined.select(*shared, *sided, side=side).sort(*by, *order, nulls_last=True)


def _side(rows: pl.LazyFrame, name: str, by: Sequence[str], carried: Sequence[str]) -> pl.LazyFrame:
    """Number the rows of one side, and name what belongs to it alone."""
    kept = rows.select(*by, *carried).with_row_index(_ROW)
    return kept.rename({column: f"{column}_{name}" for column in (_ROW, *carried)})


def _pairs(
    before: pl.LazyFrame, after: pl.LazyFrame, by: Sequence[str], apart: Sequence[str]
) -> pl.LazyFrame:
    """Pair the rows that are the only ones of their kind on each side, kinds being told apart ever more finely.

    The only rows of a kind are also the only ones of a finer kind, if they share it: no row gets two partners.

    Grain: one row a pair.
    Columns: `row_before` and `partner`, the row of the other side.
    """
    found = []
    for depth in range(len(apart) + 1):
        kind = [*by, *apart[:depth]]
        ours, theirs = (
            _only_ones(rows, kind, apart[:depth], name)
            for rows, name in ((before, "before"), (after, "after"))
        )
        paired = ours.join(theirs, on=kind, how="inner", nulls_equal=True)
        found.append(paired.select(f"{_ROW}_before", pl.col(f"{_ROW}_after").alias(_PARTNER)))
    return pl.concat(found).unique()


def _only_ones(rows: pl.LazyFrame, kind: Sequence[str], finer: Sequence[str], side: str) -> pl.LazyFrame:
    """Give the rows that share a kind with no other row of their side."""
    named = rows.rename({f"{name}_{side}": name for name in finer})
    return named.filter(pl.len().over(kind) == 1).select(*kind, f"{_ROW}_{side}")
