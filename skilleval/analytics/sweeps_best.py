"""Which settings did best, and how sure that choice is: other tasks of the same kind might choose otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from skilleval.analytics.effects import Change, Measure
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.ranking import rank_distribution
from skilleval.analytics.sweeps import TASK, Setting, shared_units
from skilleval.analytics.sweeps_effects import Judging, as_pair, paired_effects

MAX_TESTED = 50
"""So many candidates are tested against the best one; of more, those that come nearest to it."""

_CANDIDATE = "candidate"
_FIGURES = pl.Schema(
    {"n_tasks": pl.Int64()}
    | dict.fromkeys(("mean", "p_best", "rank_low", "rank_high", "behind_low", "behind_high"), pl.Float64())
    | dict.fromkeys(("effect", "low", "high", "p_holm"), pl.Float64())
    | dict.fromkeys(("is_best", "in_best_set"), pl.Boolean())
)


def best_settings(
    values: pl.DataFrame, settings: Sequence[Setting], *, measure: Measure, how: Judging, resamples: int
) -> pl.DataFrame:
    """Rank the combinations of settings that are a choice; how it was measured (scorer, seed …) is averaged over.

    Only what all combinations have counts: the same measurements, skills and tasks. The best set holds the best one
    and all that a paired test, adjusted for how many are tested, does not tell from it.

    Grain: one row a combination, the best first; none where no setting is a choice.
    Columns: one a setting that is a choice, `n_tasks` (that all have), `mean`, `p_best` (share of resamples of the
        tasks in which it comes first), `rank_low`, `rank_high`, `behind_low`, `behind_high` (less the best one, of
        resamples), `effect` with `low`, `high`, `p_holm` (less the best one, paired; null for it, and for those that
        were not tested), `is_best`, `in_best_set` (null where not tested).
    Source: percentile bootstrap over tasks, Efron 1979; Holm 1979.
    """
    choices = [one for one in settings if one.is_choice and len(one.levels) > 1]
    columns = [one.column for one in choices]
    if not columns or not values.height:
        return pl.DataFrame(schema={**dict.fromkeys(columns, pl.String()), **_FIGURES})
    named = (
        values.select(columns).unique().sort(columns).with_row_index(_CANDIDATE).cast({_CANDIDATE: pl.Int64})
    )
    rows = _common(values.join(named, on=columns, nulls_equal=True), columns, settings)
    sign = 1.0 if measure.better == "higher" else -1.0
    drawn = rank_distribution(
        rows.with_columns(task_id=pl.struct(TASK), n_graded=pl.lit(1.0), n_passed=sign * pl.col("value")),
        level=how.level,
        seed=how.seed,
        resamples=resamples,
    )
    means = summarise(
        rows.lazy(), by=[_CANDIDATE], metrics=[Metric(name="mean", expr=pl.col("value").mean(), unit="")]
    )
    # Names decide ties, so that the same rows always give the same best one.
    ranked = named.join(means.collect(), on=_CANDIDATE, how="left").sort(
        sign * pl.col("mean"), -pl.col(_CANDIDATE), descending=True, nulls_last=True
    )
    tested = _against_best(rows, ranked, measure=measure, how=how)
    joined = ranked.join(drawn, on=_CANDIDATE, how="left").join(tested, on=_CANDIDATE, how="left")
    is_best = (pl.int_range(pl.len()) == 0) & pl.col("mean").is_not_null()
    turned = [(sign * pl.col(name)).alias(name) for name in ("behind_low", "behind_high")]
    return joined.with_columns(
        *turned,
        n_tasks=pl.col("n_shared_tasks").fill_null(0),
        is_best=is_best,
        in_best_set=pl.when(is_best).then(pl.lit(value=True)).otherwise("in_best_set"),
    ).select(*columns, *_FIGURES.names())


def _common(rows: pl.DataFrame, choices: Sequence[str], settings: Sequence[Setting]) -> pl.DataFrame:
    """Keep the measurements that all candidates have, and average them over each task.

    Grain: one row a candidate × task.
    Columns: `candidate`, `TASK`, `value`.
    """
    measured = [one.column for one in settings if one.column not in choices]
    units = shared_units(rows.partition_by(_CANDIDATE))
    n = rows[_CANDIDATE].n_unique()
    everywhere = pl.col(_CANDIDATE).n_unique().over([*measured, *units, *TASK]) == n
    kept = rows.filter(everywhere).lazy()
    mean = Metric(name="value", expr=pl.col("value").mean(), unit="its own")
    inner = summarise(kept, by=(_CANDIDATE, *measured, *units, *TASK), metrics=[mean])
    return summarise(inner, by=(_CANDIDATE, *TASK), metrics=[mean]).collect()


def _against_best(
    rows: pl.DataFrame, ranked: pl.DataFrame, *, measure: Measure, how: Judging
) -> pl.DataFrame:
    """Test the candidates that come nearest to the best one against it.

    Grain: one row a tested candidate.
    """
    names = ranked.filter(pl.col("mean").is_not_null())[_CANDIDATE].to_list()
    wide = {
        name: rows.filter(pl.col(_CANDIDATE) == name).drop(_CANDIDATE) for name in names[: MAX_TESTED + 1]
    }
    parts: list[pl.LazyFrame] = []
    for name in names[1 : MAX_TESTED + 1]:
        both = (
            wide[names[0]]
            .rename({"value": "value_0"})
            .join(wide[name].rename({"value": "value_1"}), on=list(TASK))
        )
        parts.append(as_pair(both.lazy(), name, measure))
    found = paired_effects(parts, measure=measure, how=how)
    is_worse = pl.col("change") == Change.REGRESSED.value
    return found.select(
        pl.col("pair").alias(_CANDIDATE), "effect", "low", "high", "p_holm", in_best_set=~is_worse
    )


def chance_of_best(best: pl.DataFrame) -> dict[str, Any]:
    """Say in figures how sure the choice is; empty where there is none."""
    if not best.height or best["mean"].is_null().all():
        return {}
    return {
        "p_best": best["p_best"][0],
        "n_candidates": best.height,
        "n_in_best_set": int(best["in_best_set"].fill_null(value=False).sum()),
        "n_untested": best["in_best_set"].null_count(),
    }
