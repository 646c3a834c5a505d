"""The single trials of a run for its report: chosen, cut and collected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from skilleval.analytics.trial_details import Cuts, chosen_trials, trial_details
from skilleval.report.details import Details
from skilleval.report.details_part import DetailTables, details_part

MAX_TRIALS = 10_000  # of runs that did not say
_MANY = 2_000
_NAMES = ("trials", "tasks", "conditions", "checks", "tries")


def max_trials(config: Mapping[str, Any]) -> int:
    """Say how many trials the report of a run shows one by one; runs older than the setting have its default."""
    asked = (config.get("report") or {}).get("max_trials")
    return MAX_TRIALS if asked is None else int(asked)


def shown_trials(
    trials: pl.LazyFrame, tries: pl.LazyFrame, scores: pl.LazyFrame, *, limit: int
) -> Details | None:
    """Gather what a reader may want to see of single trials; null where none is to be shown, or there is none."""
    if limit <= 0:
        return None
    chosen = chosen_trials(trials, scores, limit).collect()
    if chosen.is_empty():
        return None
    frames = trial_details(trials, tries, scores, chosen.lazy(), cuts=_cuts(chosen.height))
    collected = pl.collect_all(
        # Streams hold a part of the long texts at a time.
        [frames.trials, frames.tasks, frames.conditions, frames.checks, frames.tries],
        engine="streaming",
    )
    return details_part(DetailTables(**dict(zip(_NAMES, collected, strict=True))))


def _cuts(n_shown: int) -> Cuts:
    """Keep less of each of many trials, so that the document of a large run stays one that can be opened."""
    return Cuts(failed=2000, passed=400, request=8000) if n_shown > _MANY else Cuts()
