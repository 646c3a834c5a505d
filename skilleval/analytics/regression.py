"""What became of the numbers of a baseline: plain differences, row by row."""

from __future__ import annotations

import polars as pl

PAIRED_BY = ("skill_id", "scorer", "adapter", "model", "sandbox", "mode", "benchmark_id")
"""What makes two summary rows one pair; the version of a skill is what may have changed."""

COMPARED = ("completion_rate", "partial_score", "error_rate", "consistency", "p95_ms", "composite")
"""The metrics whose difference is given."""

_BESIDE = (
    "skill_version",
    "skill_digest",
    "benchmark_version",
    "n_tasks",
    "n_trials",
    "n_graded",
    "ci_low",
    "ci_high",
)


def deltas(baseline: pl.LazyFrame, candidate: pl.LazyFrame) -> pl.LazyFrame:
    """Compare two summaries.

    Grain: one row a pair, sorted; a row that one side lacks has nulls on that side.
    Columns: `PAIRED_BY`; for each metric of `COMPARED` `<metric>_before`, `<metric>_after` and `<metric>_delta`
        (after − before, null where either is not known); versions and counts of both sides; `side`: `both`, `new`
        or `removed`.
    """
    kept = (*PAIRED_BY, *COMPARED, *_BESIDE)
    before = baseline.select(kept).with_columns(in_before=pl.lit(value=True))
    after = candidate.select(kept).with_columns(in_after=pl.lit(value=True))
    joined = before.join(after, on=PAIRED_BY, how="full", coalesce=True, nulls_equal=True, suffix="_after")
    sided = (*COMPARED, *_BESIDE)
    renamed = joined.rename({name: f"{name}_before" for name in sided})
    differences = [
        (pl.col(f"{name}_after") - pl.col(f"{name}_before")).alias(f"{name}_delta") for name in COMPARED
    ]
    side = (
        pl.when(pl.col("in_before").is_null())
        .then(pl.lit("new"))
        .when(pl.col("in_after").is_null())
        .then(pl.lit("removed"))
        .otherwise(pl.lit("both"))
    )
    compared = renamed.with_columns(*differences, side=side).drop("in_before", "in_after")
    return compared.sort(PAIRED_BY, nulls_last=True)
