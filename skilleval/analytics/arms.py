"""The arms of a comparison side by side: with the skill (the candidate), and without it or with its old edition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skilleval.domain.trials import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

CANDIDATE = Mode.WITH_SKILL.value
BASELINES = (Mode.WITHOUT_SKILL.value, Mode.OLD_SKILL.value)
ARMS = (CANDIDATE, *BASELINES)

PAIR_KEYS = ("benchmark_id", "benchmark_version", "skill_id", "adapter", "model", "sandbox", "scorer")
"""What the arms of one comparison share; the edition of the skill is what may differ."""


def side_by_side(rows: pl.LazyFrame, *, by: Sequence[str]) -> pl.LazyFrame:
    """Set each row of the candidate beside the row of each baseline that its skill has.

    A row that one arm lacks has nulls on that side. Of a skill with a single arm nothing is given.

    Grain: one row `PAIR_KEYS` × `baseline` × `by`, of rows that were one a `PAIR_KEYS` × `mode` × `by`.
    Columns: `PAIR_KEYS`, `baseline`, `by`, then every other column twice, as `<name>_candidate` and `<name>_baseline`.
    """
    keys, pair = [*PAIR_KEYS, *by], [*PAIR_KEYS, "baseline"]
    candidate = _side(rows.filter(pl.col("mode") == CANDIDATE).drop("mode"), keys, "candidate")
    others = rows.filter(pl.col("mode").is_in(BASELINES)).rename({"mode": "baseline"})
    known = candidate.select(PAIR_KEYS).unique()
    baseline = _side(others, [*keys, "baseline"], "baseline").join(
        known, on=PAIR_KEYS, how="semi", nulls_equal=True
    )
    asked = candidate.join(baseline.select(pair).unique(), on=PAIR_KEYS, how="inner", nulls_equal=True)
    joined = asked.join(baseline, on=[*pair, *by], how="full", coalesce=True, nulls_equal=True)
    return joined.select(*pair, *by, pl.exclude(*pair, *by)).sort(*pair, *by)


def _side(rows: pl.LazyFrame, keys: Sequence[str], side: str) -> pl.LazyFrame:
    """Name the values of one arm after its role."""
    return rows.select(*keys, pl.exclude(keys).name.suffix(f"_{side}"))
