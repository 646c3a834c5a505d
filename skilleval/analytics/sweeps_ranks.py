"""Does the order of the skills depend on a setting? How alike the orders are, which skills change places, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Final

import polars as pl

from skilleval.analytics.completion import trial_count
from skilleval.analytics.effects import Measure
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.ranking import ranking_agreement
from skilleval.analytics.sweeps import TASK, Setting, shared_units
from skilleval.analytics.sweeps_effects import Judging, contrasts

MAX_RANKED: Final = 12
"""Of settings with more levels no orders are compared: the table would hold more pairs than anybody reads."""

TASKS_NAMED: Final = 5
_LEAST = 2
_SAME = 1e-9
_SKILL = "skill_id"
_MEAN = Metric(name="value", expr=pl.col("value").mean(), unit="its own")
_RANKS = pl.Schema(
    {"setting": pl.String(), "level": pl.String(), _SKILL: pl.String(), "value": pl.Float64()}
    | {"n_tasks": pl.Int64(), "rank": pl.Float64()}
)
_FLIPS = pl.Schema(
    {"setting": pl.String(), "level_a": pl.String(), "level_b": pl.String()}
    | {
        "skill_ahead_a": pl.String(),
        "skill_ahead_b": pl.String(),
        "lead_a": pl.Float64(),
        "lead_b": pl.Float64(),
    }
    | {"n_tasks": pl.Int64(), "effect": pl.Float64(), "low": pl.Float64(), "high": pl.Float64()}
    | {"p_holm": pl.Float64(), "is_shown": pl.Boolean(), "tasks": pl.List(pl.String())}
)


def level_tasks(values: pl.DataFrame, setting: Setting, settings: Sequence[Setting]) -> pl.DataFrame:
    """Give each skill's mean on each task at each level, over the cells that the skill has at all levels.

    Grain: one row a level × skill × task that the skill has at all levels.
    Columns: `level`, `skill_id`, `TASK`, `value`.
    """
    own = values.rename({setting.column: "level"})
    others = [one.column for one in settings if one is not setting]
    parts = own.partition_by("level")
    units = [name for name in shared_units(parts) if name != _SKILL] if parts else []
    keys = [*others, *units, _SKILL, *TASK]
    inner = summarise(own.lazy(), by=("level", *keys), metrics=[_MEAN])
    n = own["level"].n_unique()
    everywhere = inner.filter(pl.len().over(keys) == n)
    return summarise(everywhere, by=("level", _SKILL, *TASK), metrics=[_MEAN]).collect()


def ranked(settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """Give the settings between whose levels orders of skills are compared."""
    return tuple(one for one in settings if _LEAST <= len(one.levels) <= MAX_RANKED)


def skill_ranks(values: pl.DataFrame, settings: Sequence[Setting], *, measure: Measure) -> pl.DataFrame:
    """Rank the skills at each level of each setting; ties have the mean of their ranks.

    Grain: one row a setting × level × skill, in the order of the sweep, the best skill first.
    Columns: `setting`, `level`, `skill_id`, `value` (mean over tasks), `n_tasks`, `rank`.
    """
    is_descending = measure.better == "higher"
    found = [pl.DataFrame(schema=_RANKS)]
    for setting in ranked(settings):
        tasks = level_tasks(values, setting, settings).lazy()
        n_tasks = Metric(name="n_tasks", expr=trial_count(pl.col("value").is_not_null()), unit="tasks")
        rows = summarise(tasks, by=("level", _SKILL), metrics=[_MEAN, n_tasks]).with_columns(
            # Rounded, because sums of floats depend on their order.
            rank=pl.col("value").round(9).rank("average", descending=is_descending).over("level"),
            place=pl.col("level").replace_strict(
                setting.levels, range(len(setting.levels)), return_dtype=pl.Int64
            ),
        )
        named = rows.sort("place", "rank", _SKILL).select(
            pl.lit(setting.name).alias("setting"), *_RANKS.names()[1:]
        )
        found.append(named.collect())
    return pl.concat(found)


def rank_agreement(ranks: pl.DataFrame) -> pl.DataFrame:
    """Say of every two levels of a setting whether they put the skills in the same order, from `skill_ranks`.

    Grain: one row a setting × pair of levels.
    Columns: `setting`, `level_a`, `level_b`, `n_skills`, `kendall_tau` (tau-b), `tau_reason` (why it is null).
    Source: Kendall 1945.
    """
    found = []
    for (setting,), rows in ranks.group_by("setting", maintain_order=True):
        # A better rank is a smaller number: both orders are turned, so that tau is the same.
        rates = rows.select(
            condition_id=pl.col(_SKILL), scorer=pl.col("level"), completion_rate=-pl.col("rank")
        )
        pairs = ranking_agreement(rates)
        found.append(
            pairs.select(
                pl.lit(setting).alias("setting"),
                level_a=pl.col("rater_a"),
                level_b=pl.col("rater_b"),
                n_skills=pl.col("n_conditions"),
                kendall_tau=pl.col("kendall_tau"),
                tau_reason=pl.col("tau_reason"),
            )
        )
    schema: dict[str, pl.DataType] = dict.fromkeys(("setting", "level_a", "level_b"), pl.String())
    rest: dict[str, pl.DataType] = {
        "n_skills": pl.Int64(),
        "kendall_tau": pl.Float64(),
        "tau_reason": pl.String(),
    }
    return pl.concat([pl.DataFrame(schema=schema | rest), *found])


def rank_flips(
    values: pl.DataFrame, settings: Sequence[Setting], *, measure: Measure, how: Judging, limit: int
) -> pl.DataFrame:
    """List the pairs of skills that change places between two levels of a setting, and the tasks that make it so.

    The change of their distance is paired over the tasks that both have at both levels; p values are adjusted for all
    pairs that change places.

    Grain: one row a setting × pair of levels × pair of skills, the largest changes first; at most `limit`.
    Columns: `setting`, `level_a`, `level_b`, `skill_ahead_a` (better at level a), `skill_ahead_b`, `lead_a`, `lead_b`
        (how far each is ahead there, in the unit of the metric), `n_tasks`, `effect` (`lead_a` and `lead_b` together)
        with `low`, `high`, `p_holm`, `is_shown`, `tasks` (ids, those that add most first).
    """
    told: list[dict[str, Any]] = []
    parts: list[pl.LazyFrame] = []
    sign = 1.0 if measure.better == "higher" else -1.0
    for setting in ranked(settings):
        tasks = level_tasks(values, setting, settings).with_columns(value=sign * pl.col("value"))
        for row, moved in _changes(tasks, setting):
            parts.append(
                moved.lazy().select(pair=pl.lit(len(told), dtype=pl.Int64), difference=pl.col("moved"))
            )
            told.append({"pair": len(told), "setting": setting.name, **row})
    if not told:
        return pl.DataFrame(schema=_FLIPS)
    judged = contrasts(pl.concat(parts), how).collect()
    keyed = pl.DataFrame(told, schema_overrides={"tasks": pl.List(pl.String())})
    rows = keyed.join(judged, on="pair").sort(pl.col("effect").abs(), "pair", descending=[True, False])
    return rows.select(_FLIPS.names()).head(limit).cast(_FLIPS)


def _changes(tasks: pl.DataFrame, setting: Setting) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """Give what changes places, with the change of each task.

    Grain of the frames: one row a task.
    """
    names = sorted(tasks[_SKILL].unique())
    present = [level for level in setting.levels if (tasks["level"] == level).any()]
    wide = tasks.pivot(on="level", index=[_SKILL, *TASK], values="value")
    by_skill = {name: wide.filter(pl.col(_SKILL) == name).drop(_SKILL) for name in names}
    for one, other in combinations(names, 2):
        both = by_skill[one].join(by_skill[other], on=list(TASK), suffix=_OTHER).sort(TASK)
        for level_a, level_b in combinations(present, 2):
            leads = both.select(
                *TASK,
                **{
                    name: pl.col(level) - pl.col(f"{level}{_OTHER}")
                    for name, level in (("a", level_a), ("b", level_b))
                },
            )
            yield from _change(leads, (one, other), (level_a, level_b))


_OTHER = "\n"  # no level ends like this


def _change(
    leads: pl.DataFrame, skills: tuple[str, str], levels: tuple[str, str]
) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """Give the row of two skills, if they change places."""
    lead_a, lead_b = (_mean(leads, name) for name in ("a", "b"))
    if lead_a * lead_b >= 0 or min(abs(lead_a), abs(lead_b)) <= _SAME:
        return
    one, other = skills if lead_a > 0 else skills[::-1]
    sign = 1.0 if lead_a > 0 else -1.0
    moved = leads.with_columns(moved=sign * (pl.col("a") - pl.col("b")))
    most = moved.filter(pl.col("moved") > _SAME).sort("moved", *TASK, descending=[True, False, False])
    row = {
        "level_a": levels[0],
        "level_b": levels[1],
        "skill_ahead_a": one,
        "skill_ahead_b": other,
        "lead_a": abs(lead_a),
        "lead_b": abs(lead_b),
        "tasks": most["task_id"].head(TASKS_NAMED).to_list(),
    }
    yield row, moved


def _mean(leads: pl.DataFrame, name: str) -> float:
    mean = leads[name].mean()
    return float(mean) if isinstance(mean, int | float) else 0.0
