"""Many conditions against one: paired over tasks, with p values adjusted for how many are compared."""

from __future__ import annotations

import polars as pl

from skilleval.analytics.effects import effects
from skilleval.analytics.multiplicity import holm
from skilleval.analytics.regression import MATCHED_BY
from skilleval.analytics.task_pairs import task_pairs
from skilleval.analytics.task_results import TASK_VALUES

_OF_CONDITION = ("condition_id", "benchmark_version", "skill_version", "skill_digest")
_SAME_TRIALS = ("scorer", "benchmark_id", "benchmark_version")
_METRIC = "completion_rate"


def in_place_of(tasks: pl.LazyFrame, references: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Set one condition beside all others, from the rows of `task_results`.

    `references` has a row a scorer × state of the benchmark, with `condition_id`, `scorer`, `benchmark_id` and
    `benchmark_version`. Conditions are paired by what they are; so the tasks of the reference are given once for every
    other condition, under its name.

    Grain: pairs as `condition_pairs` gives them, with the columns that joining needs; the tasks of the reference, a row
        a pair × task.
    """
    keys = tasks.select(*MATCHED_BY, *_OF_CONDITION).unique().sort(*MATCHED_BY, *_OF_CONDITION)
    named = references.select(*_SAME_TRIALS, reference_id=pl.col("condition_id"))
    others = keys.join(named, on=_SAME_TRIALS, how="inner", nulls_equal=True)
    found = others.filter(pl.col("condition_id") != pl.col("reference_id"))
    own = tasks.select(*_SAME_TRIALS, "task_id", *TASK_VALUES.names(), reference_id=pl.col("condition_id"))
    lent = found.join(own, on=[*_SAME_TRIALS, "reference_id"], how="inner", nulls_equal=True)
    sides = {f"{name}_{side}": pl.col(name) for side in ("before", "after") for name in _OF_CONDITION}
    numbered = found.with_row_index("pair").with_columns(pl.col("pair").cast(pl.Int64))
    return numbered.select("pair", *MATCHED_BY, **sides, side=pl.lit("both")), lent.drop("reference_id")


def completion_effects(  # noqa: PLR0913 - three frames, and how they are judged
    pairs: pl.LazyFrame,
    baseline: pl.LazyFrame,
    candidate: pl.LazyFrame,
    *,
    level: float,
    margin: float,
    seed: int,
) -> pl.LazyFrame:
    """Compare the completion rates of pairs; p values are adjusted over all pairs of a scorer, and over nothing else.

    Grain: one row a pair that shares a task, sorted.
    Columns: `condition_id` and `scorer` of the candidate, `n_tasks`, `effect` (candidate less baseline), `low`,
        `high`, `ci_method`, `p_value`, `p_method`, `p_holm`, `n_compared` (pairs of the scorer), `is_shown` (both the
        adjusted p and the interval, where there is one, say that the effect is not zero).
    """
    tasks = task_pairs(pairs, baseline, candidate)
    rows = effects(tasks, margin=margin, level=level, seed=seed).filter(pl.col("metric") == _METRIC)
    named = rows.join(
        pairs.select("pair", "scorer", condition_id=pl.col("condition_id_after")), on="pair", how="inner"
    )
    adjusted = named.with_columns(
        p_holm=holm(pl.col("p_value")).over("scorer"), n_compared=pl.len().over("scorer").cast(pl.Int64)
    )
    apart = (pl.col("low") > 0) | (pl.col("high") < 0) | pl.col("low").is_null()
    shown = adjusted.with_columns(is_shown=(pl.col("p_holm") <= 1 - level) & apart & (pl.col("effect") != 0))
    columns = (
        "effect",
        "low",
        "high",
        "ci_method",
        "p_value",
        "p_method",
        "p_holm",
        "n_compared",
        "is_shown",
    )
    return shown.sort("pair").select("condition_id", "scorer", "n_tasks", *columns)
