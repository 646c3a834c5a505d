"""Where a skill is good and where it is not: every metric of the summary, for tasks or runs that share something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from skilleval.analytics.interval_columns import join_intervals
from skilleval.analytics.outcomes import CONDITION_KEYS, trial_outcomes, with_counted_latency
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.summary import summary_of

FAMILY_TAG = "family:"
_SHOWN = ("n_tasks", "n_graded", "n_passed", "completion_rate", "ci_low", "ci_high")


def _tags(prefix: str = "") -> pl.Expr:
    """Give the distinct tags of a task that begin so, without that beginning."""
    tags = pl.col("task_tags").list.unique(maintain_order=True)
    if not prefix:
        return tags
    fitting = pl.element().filter(pl.element().str.starts_with(prefix))
    return tags.list.eval(fitting.str.strip_prefix(prefix))


def _family() -> pl.Expr:
    """Give the families of a task: its tags `family:x`, else the part of its id before the first slash."""
    tagged, named = _tags(FAMILY_TAG), pl.col("task_id").str.extract(r"^([^/]+)/")
    return pl.when(tagged.list.len() > 0).then(tagged).otherwise(pl.concat_list(named))


SLICINGS: Final[Mapping[str, pl.Expr]] = {
    "tag": _tags(),
    "family": _family(),
    "skill": pl.concat_list("skill_id"),
    "version": pl.concat_list("skill_version"),
    "content": pl.concat_list("skill_digest"),
    "model": pl.concat_list("model"),
    "mode": pl.concat_list("mode"),
    "adapter": pl.concat_list("adapter"),
    "sandbox": pl.concat_list("sandbox"),
    "run": pl.concat_list("run_id"),
    "task": pl.concat_list("task_id"),
}
"""What rows can be sliced by, each as the list of slices a trial belongs to."""


def slices(
    outcomes: pl.LazyFrame,
    *,
    by: Sequence[str],
    spec: AnalysisSpec,
    facts: pl.LazyFrame | None = None,
    intervals: Sequence[str] = (),
) -> pl.LazyFrame:
    """Summarise outcomes that have a counted latency by what their trials have in common.

    `by` names keys of `SLICINGS`, or columns of `facts` (one row a `run_id`, texts). A trial that belongs to several
    slices counts in each of them; one that belongs to none, or whose value is not known, is in no row.

    Grain: one row a combination of slices × condition × scorer × benchmark version, sorted.
    Columns: `by`, `CONDITION_KEYS`, then the metrics of the summary and the intervals of those in `intervals`.
    """
    rows = outcomes if facts is None else outcomes.join(facts, on="run_id", how="left")
    for name in by:
        rows = rows.with_columns(SLICINGS.get(name, pl.concat_list(pl.col(name))).alias(name)).explode(name)
    known = rows.filter(pl.all_horizontal(pl.col(by).is_not_null()))
    keys = tuple(dict.fromkeys((*by, *CONDITION_KEYS)))
    return join_intervals(summary_of(known, by=keys, spec=spec), known, by=keys, metrics=intervals, spec=spec)


def by_tag(trials: pl.LazyFrame, scores: pl.LazyFrame, *, spec: AnalysisSpec) -> pl.LazyFrame:
    """Give the completion of the tasks of each tag, by the formulas of the preset.

    A task with several tags counts under each of them, a task without any under none.

    Grain: one row a tag × condition × scorer × benchmark version, sorted.
    Columns: `tag`, `CONDITION_KEYS`, `n_tasks`, `n_graded`, `n_passed`, `completion_rate`, `ci_low`, `ci_high`.
    """
    outcomes = with_counted_latency(trial_outcomes(trials, scores), spec)
    return slices(outcomes, by=("tag",), spec=spec).select("tag", *CONDITION_KEYS, *_SHOWN)
