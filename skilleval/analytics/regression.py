"""What became of the numbers of a baseline: plain differences, row by row."""

from __future__ import annotations

import polars as pl

PAIRED_BY = ("skill_id", "scorer", "adapter", "model", "sandbox", "mode", "benchmark_id")
"""What two rows must share to be a pair; the version of a skill is what may have changed."""

COMPARED = ("completion_rate", "partial_score", "error_rate", "consistency", "p95_ms", "composite")
"""The metrics whose difference is given."""

_TOLD_APART_BY = ("skill_version", "skill_digest", "benchmark_version")
"""What tells rows apart that one side has several of, in the order in which it counts."""

_BESIDE = (*_TOLD_APART_BY, "n_tasks", "n_trials", "n_graded", "ci_low", "ci_high")
_ROW, _PARTNER = "row", "partner"


def deltas(baseline: pl.LazyFrame, candidate: pl.LazyFrame) -> pl.LazyFrame:
    """Compare two summaries.

    A version is compared with itself, and with another one only where each side has a single row; the same holds for
    several contents of one version, and for versions of the benchmark. A row without a partner is new or removed.

    Grain: one row a pair, sorted; a row that one side lacks has nulls on that side.
    Columns: `PAIRED_BY`; for each metric of `COMPARED` `<metric>_before`, `<metric>_after` and `<metric>_delta`
        (after − before, null where either is not known); versions and counts of both sides; `side`: `both`, `new`
        or `removed`.
    """
    before, after = (_side(rows, name) for rows, name in ((baseline, "before"), (candidate, "after")))
    placed = before.join(_pairs(before, after), on=f"{_ROW}_before", how="left")
    joined = placed.join(
        after, left_on=_PARTNER, right_on=f"{_ROW}_after", how="full", coalesce=False, suffix="_of_after"
    )
    shared = [pl.coalesce(name, f"{name}_of_after").alias(name) for name in PAIRED_BY]
    sided = [f"{name}_{side}" for side in ("before", "after") for name in (*COMPARED, *_BESIDE)]
    differences = [
        (pl.col(f"{name}_after") - pl.col(f"{name}_before")).alias(f"{name}_delta") for name in COMPARED
    ]
    side = (
        pl.when(pl.col(f"{_ROW}_before").is_null())
        .then(pl.lit("new"))
        .when(pl.col(f"{_ROW}_after").is_null())
        .then(pl.lit("removed"))
        .otherwise(pl.lit("both"))
    )
    compared = joined.select(*shared, *sided, *differences, side=side)
    apart = [pl.coalesce(f"{name}_before", f"{name}_after") for name in _TOLD_APART_BY]
    return compared.sort(*PAIRED_BY, *apart, nulls_last=True)


def _side(summary: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Number the rows of one side, and name what belongs to it alone."""
    kept = summary.select(*PAIRED_BY, *COMPARED, *_BESIDE).with_row_index(_ROW)
    return kept.rename({column: f"{column}_{name}" for column in (_ROW, *COMPARED, *_BESIDE)})


def _pairs(before: pl.LazyFrame, after: pl.LazyFrame) -> pl.LazyFrame:
    """Pair the rows that are the only ones of their kind on each side, kinds being told apart ever more finely.

    The only rows of a kind are also the only ones of a finer kind, if they share it: no row gets two partners.

    Grain: one row a pair.
    Columns: `row_before` and `partner`, the row of the other side.
    """
    found = []
    for depth in range(len(_TOLD_APART_BY) + 1):
        finer = _TOLD_APART_BY[:depth]
        ours, theirs = _only_ones(before, finer, "before"), _only_ones(after, finer, "after")
        paired = ours.join(theirs, on=[*PAIRED_BY, *finer], how="inner", nulls_equal=True)
        found.append(paired.select(f"{_ROW}_before", pl.col(f"{_ROW}_after").alias(_PARTNER)))
    return pl.concat(found).unique()


def _only_ones(rows: pl.LazyFrame, finer: tuple[str, ...], side: str) -> pl.LazyFrame:
    """Give the rows that share a kind with no other row of their side."""
    named = rows.rename({f"{name}_{side}": name for name in finer})
    kind = [*PAIRED_BY, *finer]
    return named.filter(pl.len().over(kind) == 1).select(*kind, f"{_ROW}_{side}")
