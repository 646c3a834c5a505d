"""What each setting of a sweep does to a metric, and whether it does the same beside every other setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Final

import polars as pl

from skilleval.analytics.completion import trial_count
from skilleval.analytics.effects import MEASURES, Measure, effects
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.multiplicity import benjamini_hochberg, holm
from skilleval.analytics.paired import SAME, interval_method, pair_statistics, paired_interval, sign_flip_test
from skilleval.analytics.sweeps import MAX_LEVELS, Setting, by_task, cell_count, matched

MAX_CONTRASTS: Final = 400
"""Of two settings no more differences of differences are worked out."""

_SLOT = "completion_rate"
_KEPT = (
    *(
        "n_tasks",
        "before",
        "after",
        "effect",
        "low",
        "high",
        "ci_method",
        "p_value",
        "p_method",
        "p_holm",
        "p_bh",
    ),
    *("n_better", "n_same", "n_worse", "equivalence_p", "margin", "detectable", "n_more", "change"),
)
_COMPARED = pl.Schema(
    {"setting": pl.String(), "level_before": pl.String(), "level_after": pl.String()}
    | {"metric": pl.String(), "kind": pl.String(), "better": pl.String()}
    | {"n_cells": pl.Int64(), "n_cells_before": pl.Int64(), "n_cells_after": pl.Int64()}
)
_CONTRAST = pl.Schema(
    {"pair": pl.Int64(), "setting_a": pl.String(), "setting_b": pl.String()}
    | dict.fromkeys(("a_before", "a_after", "b_before", "b_after"), pl.String())
    | {"n_cells": pl.Int64()}
)
_DIFFERENCES = pl.Schema({"pair": pl.Int64(), "difference": pl.Float64()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How effects are judged: the confidence level, a difference that does not matter, and the seed of all draws."""

    level: float
    margin: float
    seed: int


def main_effects(
    values: pl.DataFrame, settings: Sequence[Setting], *, measure: Measure, how: Judging
) -> pl.DataFrame:
    """Compare the levels of each setting in the cells that both have, paired over tasks.

    P values are adjusted for all comparisons of the sweep together. Levels that share no cell have a row without
    figures.

    Grain: one row a setting × pair of levels, in the order of the sweep.
    Columns: `setting`, `level_before`, `level_after`, `metric`, `kind`, `better`, `n_cells` (that both have),
        `n_cells_before`, `n_cells_after`, then `n_tasks`, `before`, `after`, `effect` with `low`, `high`, `ci_method`,
        `p_value`, `p_method`, `p_holm`, `p_bh`, `n_better`, `n_same`, `n_worse`, `equivalence_p`, `margin`,
        `detectable`, `n_more` and `change`, as `effects` gives them.
    Source: Miller 2024, arXiv 2411.00640, 4; Holm 1979.
    """
    told, parts = [], []
    for number, (setting, before, after) in enumerate(_compared(settings)):
        sides = [{setting.column: before}, {setting.column: after}]
        rows = matched(values, sides, settings)
        others = [one for one in settings if one is not setting]
        own = [
            cell_count(values.filter(pl.col(setting.column) == level), others) for level in (before, after)
        ]
        told.append(
            {
                "pair": number,
                "setting": setting.name,
                "level_before": before,
                "level_after": after,
                "metric": measure.name,
                "kind": measure.kind,
                "better": measure.better,
                "n_cells": cell_count(rows, others),
                "n_cells_before": own[0],
                "n_cells_after": own[1],
            }
        )
        parts.append(as_pair(by_task(rows, 2), number, measure))
    found = paired_effects(parts, measure=measure, how=how)
    keyed = pl.DataFrame(told, schema={"pair": pl.Int64(), **_COMPARED})
    return keyed.join(found, on="pair", how="left").sort("pair").drop("pair")


def _compared(settings: Sequence[Setting]) -> Iterator[tuple[Setting, str, str]]:
    for setting in settings:
        for before, after in setting.pairs:
            yield setting, before, after


def as_pair(tasks: pl.LazyFrame, number: int, measure: Measure) -> pl.LazyFrame:
    """Give two values a task the shape of `task_pairs`, with this metric alone: so only its tests are counted.

    Grain: one row a task.
    """
    # A partial score says something even where it equals the rate of completion, which is not known here.
    slot = _SLOT if measure.family == "quality" else measure.column
    columns = {
        f"{one.column}_{side}": pl.col(f"value_{at}")
        if one.column == slot
        else pl.lit(None, dtype=pl.Float64)
        for one in MEASURES
        for at, side in enumerate(("before", "after"))
    }
    unknown = dict.fromkeys(
        ("n_graded_before", "n_graded_after", "flip_rate_before", "flip_rate_after"),
        pl.lit(None, dtype=pl.Float64),
    )
    number_of = pl.lit(number, dtype=pl.Int64)
    return tasks.select(pair=number_of, left_out=pl.lit(None, dtype=pl.String), **columns, **unknown)


def paired_effects(parts: Sequence[pl.LazyFrame], *, measure: Measure, how: Judging) -> pl.DataFrame:
    """Judge pairs made by `as_pair` together.

    Grain: one row a pair that shares a task.
    Columns: `pair`, then what `effects` says of it; `n_better` and `change` go by the direction of the metric.
    """
    if not parts:
        return pl.DataFrame(schema={"pair": pl.Int64(), **dict.fromkeys(_KEPT, pl.Float64()), **_TEXTS})
    tasks = pl.concat(parts)
    slot = _SLOT if measure.family == "quality" else measure.name
    found = effects(tasks, margin=how.margin, level=how.level, seed=how.seed).filter(pl.col("metric") == slot)
    rows = found.select("pair", *_KEPT).collect()
    return rows if measure.better == "higher" or slot == measure.name else _turned(rows)


_TEXTS = dict.fromkeys(("ci_method", "p_method", "change"), pl.String())


def _turned(rows: pl.DataFrame) -> pl.DataFrame:
    """Swap better and worse: the slot of a rate takes higher for better."""
    words = {"improved": "regressed", "regressed": "improved"}
    return rows.with_columns(
        n_better=pl.col("n_worse"), n_worse=pl.col("n_better"), change=pl.col("change").replace(words)
    )


def interactions(
    values: pl.DataFrame, settings: Sequence[Setting], *, measure: Measure, how: Judging
) -> pl.DataFrame:
    """Say of every two settings whether the effect of one depends on the level of the other.

    The effect of the first setting (from its first level to another one) at a level of the second, less that at the
    first level of the second: over cells that have all four, paired over tasks. Of settings with more than
    `MAX_LEVELS` levels only the largest is given; p values are adjusted for all that were looked at.

    Grain: one row a pair of settings × levels, in the order of the sweep.
    Columns: `setting_a`, `a_before`, `a_after`, `setting_b`, `b_before`, `b_after`, `n_cells`, `n_tasks`, `effect`
        (difference of differences; of metrics in ratios that of their logarithms), `low`, `high`, `ci_method`,
        `p_value`, `p_method`, `p_holm`, `p_bh`, `is_shown` (the adjusted p and the interval say that it is not zero).
    """
    told: list[dict[str, Any]] = []
    parts: list[pl.LazyFrame] = []
    for a, b, contrast in _contrasts(settings):
        sides = [
            {a.column: level_a, b.column: level_b}
            for level_b, level_a in product(
                (contrast["b_before"], contrast["b_after"]), (contrast["a_before"], contrast["a_after"])
            )
        ]
        rows = matched(values, sides, settings)
        if not rows.height:
            continue
        others = [one for one in settings if one not in (a, b)]
        number = len(told)
        told.append({"pair": number, **contrast, "n_cells": cell_count(rows, others)})
        parts.append(_double_difference(by_task(rows, 4), number, measure))
    keyed = pl.LazyFrame(told, schema=_CONTRAST)
    judged = keyed.join(
        contrasts(pl.concat([pl.LazyFrame(schema=_DIFFERENCES), *parts]), how), on="pair", how="inner"
    )
    many = [one.name for one in settings if len(one.levels) > MAX_LEVELS]
    is_long = pl.col("setting_a").is_in(many) | pl.col("setting_b").is_in(many)
    size = pl.col("effect").abs()
    is_largest = size.rank("ordinal", descending=True).over("setting_a", "setting_b") == 1
    return judged.filter(~is_long | is_largest).sort("pair").drop("pair").collect()


def _contrasts(settings: Sequence[Setting]) -> Iterator[tuple[Setting, Setting, Mapping[str, str]]]:
    for a, b in combinations([one for one in settings if len(one.levels) > 1], 2):
        if (len(a.levels) - 1) * (len(b.levels) - 1) > MAX_CONTRASTS:
            continue
        for level_a, level_b in product(a.levels[1:], b.levels[1:]):
            names = {"setting_a": a.name, "setting_b": b.name, "a_before": a.levels[0], "a_after": level_a}
            yield a, b, {**names, "b_before": b.levels[0], "b_after": level_b}


def crossed_means(values: pl.DataFrame, settings: Sequence[Setting], names: tuple[str, str]) -> pl.DataFrame:
    """Give the mean at each level of two settings, over what all combinations of their levels have.

    Grain: one row a level × level, in the order of the sweep; none where the combinations share no task.
    Columns: `setting_a`, `level_a`, `setting_b`, `level_b`, `mean`, `n_tasks`.
    """
    a, b = (next(one for one in settings if one.name == name) for name in names)
    places = list(product(a.levels[:MAX_LEVELS], b.levels[:MAX_LEVELS]))
    rows = matched(values, [{a.column: one, b.column: other} for one, other in places], settings)
    tasks = by_task(rows, len(places)).collect()
    found = [
        {
            "setting_a": a.name,
            "level_a": one,
            "setting_b": b.name,
            "level_b": other,
            "mean": tasks[f"value_{at}"].mean(),
        }
        for at, (one, other) in enumerate(places)
    ]
    texts = dict.fromkeys(("setting_a", "level_a", "setting_b", "level_b"), pl.String())
    frame = pl.DataFrame(found if tasks.height else [], schema={**texts, "mean": pl.Float64()})
    return frame.with_columns(n_tasks=pl.lit(tasks.height, dtype=pl.Int64))


def too_many(settings: Sequence[Setting]) -> tuple[tuple[str, str], ...]:
    """Name the pairs of settings whose interactions are not worked out, for they have too many levels."""
    varied = [one for one in settings if len(one.levels) > 1]
    return tuple(
        (a.name, b.name)
        for a, b in combinations(varied, 2)
        if (len(a.levels) - 1) * (len(b.levels) - 1) > MAX_CONTRASTS
    )


def _double_difference(tasks: pl.LazyFrame, number: int, measure: Measure) -> pl.LazyFrame:
    """Give each task's difference of differences; of a ratio, of logarithms.

    Grain: one row a task.
    """
    sides = [pl.col(f"value_{at}") for at in range(4)]
    known = tasks
    if measure.kind == "ratio":
        known = tasks.filter(pl.all_horizontal(side > 0 for side in sides))
        sides = [side.log() for side in sides]
    base, moved, other, both = sides
    return known.select(pair=pl.lit(number, dtype=pl.Int64), difference=(both - other) - (moved - base))


def contrasts(differences: pl.LazyFrame, how: Judging) -> pl.LazyFrame:
    """Judge groups of paired differences together; `differences` is one row a `pair` × task.

    Grain: one row a `pair`, sorted.
    Columns: `pair`, `n_tasks`, `effect`, `low`, `high`, `ci_method`, `p_value`, `p_method`, `p_holm`, `p_bh`,
        `is_shown`.
    """
    difference = pl.col("difference")
    counts = (
        Metric(name="n_tasks", expr=trial_count(difference.is_not_null()), unit="tasks"),
        Metric(name="n_moved", expr=trial_count(difference.abs() > SAME), unit="tasks"),
    )
    grouped = summarise(differences, by=("pair",), metrics=(*counts, *pair_statistics(difference)))
    n = pl.col("n_tasks")
    low, high = paired_interval(n, level=how.level)
    where = "is known in all four cells"
    method = interval_method(n, level=how.level, unit="task", where=where)
    bounds = (
        Metric(name="low", expr=low, unit="its own"),
        Metric(name="high", expr=high, unit="its own"),
        Metric(name="ci_method", expr=method, unit="text"),
        *sign_flip_test(n, pl.col("n_moved"), seed=how.seed),
    )
    tested = derive(grouped, metrics=bounds).with_columns(
        p_holm=holm(pl.col("p_value")), p_bh=benjamini_hochberg(pl.col("p_value")), effect=pl.col("mean")
    )
    apart = (pl.col("low") > 0) | (pl.col("high") < 0) | pl.col("low").is_null()
    is_shown = (pl.col("p_holm") <= 1 - how.level) & apart & (pl.col("effect").abs() > SAME)
    columns = (
        "pair",
        "n_tasks",
        "effect",
        "low",
        "high",
        "ci_method",
        "p_value",
        "p_method",
        "p_holm",
        "p_bh",
    )
    return tested.select(*columns, is_shown=is_shown.fill_null(value=False))
