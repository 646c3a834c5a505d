"""Summarising outcomes at the grain each metric asks for: trials, tasks, repeats, families of tasks.

A metric over tasks reads one row a task instead of one a trial, so that no row has to know how its task went; and what
needs sorted values is aggregated apart, so that everything else can stream. Repeats of different runs are different
repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import polars as pl

from skilleval.analytics.completion import GRADED, PASSED, trial_count
from skilleval.analytics.metric import Metric, summarise

GRAINS: Final[Mapping[str, tuple[str, ...]]] = {
    "task": ("task_id",),
    "repeat": ("run_id", "repeat"),
    "family": ("sampled_family",),  # not `family`, which rows may be sliced by
}
"""What makes a row of each grain, beside the group."""

TRIAL, SORTED = "trial", "sorted"
_GROUP = "group"
_COUNTS = ("trials", "graded", "passed")


def grain(metric: Metric) -> str:
    """Say which rows a metric is over: `trial`, `sorted` (trials, in order of their values) or a key of `GRAINS`."""
    roots = set(metric.expr.meta.root_names())
    found = [name for name in GRAINS if roots & set(_columns(name))]
    assert len(found) < 2, f"{metric.name} reads columns of {' and '.join(found)}"  # noqa: PLR2004 - one grain at most
    if not found:
        return SORTED if metric.sorts else TRIAL
    assert roots <= set(_columns(found[0])), f"{metric.name} mixes trials with {found[0]}s"
    return found[0]


def summarise_outcomes(
    outcomes: pl.LazyFrame,
    *,
    by: Sequence[str],
    metrics: Iterable[Metric],
    groups: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Reduce each group of outcomes to one row of metrics.

    The distinct values of `by` are looked up at once, which is a small query of its own; `groups` gives them where
    there is a shorter way to them.

    Grain: one row a distinct value of `by`, sorted by it.
    Columns: `by`, then one a metric, in the order given.
    """
    wanted = list(metrics)
    distinct = outcomes.select(by).unique() if groups is None else groups
    numbered = distinct.collect(engine="streaming").sort(by).with_row_index(_GROUP)
    key = telling_columns(numbered, by)
    found = numbered.lazy()
    for on, part in _parts(outcomes, numbered.lazy(), key, wanted):
        found = found.join(part, on=on, how="left", nulls_equal=True)
    return found.select(*by, *(metric.name for metric in wanted)).sort(by)


def telling_columns(groups: pl.DataFrame, by: Sequence[str]) -> list[str]:
    """Choose columns that tell all groups apart: the rest of their names need not be compared row by row."""
    chosen: list[str] = []
    n_told = 0
    while n_told < groups.height:
        rest = [name for name in by if name not in chosen]
        told = {name: groups.select(pl.struct(*chosen, name).n_unique()).item() for name in rest}
        best = max(rest, key=lambda name: told[name])
        chosen.append(best)
        n_told = told[best]
    return chosen or list(by[:1])


def _parts(
    outcomes: pl.LazyFrame, groups: pl.LazyFrame, key: list[str], metrics: Sequence[Metric]
) -> Iterator[tuple[list[str], pl.LazyFrame]]:
    """Summarise each grain by itself; give the key of its rows, and the rows.

    Grain: one row a group.
    Columns: the key, then one a metric of this grain.
    """
    by_grain: dict[str, list[Metric]] = {}
    for metric in metrics:
        by_grain.setdefault(grain(metric), []).append(metric)
    for name, own in by_grain.items():
        if name == SORTED:
            # Values wait in memory until all are there; the number of a group is far smaller than its name.
            rows = outcomes.join(groups.select(*key, _GROUP), on=key, how="inner", nulls_equal=True)
            yield [_GROUP], summarise(rows, by=[_GROUP], metrics=own)
        else:
            rows = _counted(outcomes, name, key) if name in GRAINS else outcomes
            yield key, summarise(rows, by=key, metrics=own)


def _counted(outcomes: pl.LazyFrame, name: str, by: Sequence[str]) -> pl.LazyFrame:
    """Count the trials of each task (repeat, family) of each group.

    Grain: one row a group × task; sorted, so that sums of floats do not depend on who came first.
    Columns: `by`, the keys of the grain, `<name>_trials`, `<name>_graded`, `<name>_passed`, `is_first_of_<name>`.
    """
    counts = (pl.len().cast(pl.Int64), trial_count(GRADED), trial_count(PASSED))
    metrics = (
        Metric(name=f"{name}_{what}", expr=count, unit="trials")
        for what, count in zip(_COUNTS, counts, strict=True)
    )
    rows = summarise(outcomes, by=(*by, *GRAINS[name]), metrics=metrics)
    return rows.with_columns(pl.lit(value=True).alias(f"is_first_of_{name}"))


def _columns(name: str) -> tuple[str, ...]:
    return (f"is_first_of_{name}", *(f"{name}_{what}" for what in _COUNTS))
