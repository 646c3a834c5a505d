"""How far the scorers of a run agree: from its rows to the part of its report."""

from __future__ import annotations

from typing import Any

import polars as pl

from skilleval.analytics.agreement import (
    disputed_tasks,
    kappa_intervals,
    overall_agreement,
    pair_agreement,
    verdict_counts,
)
from skilleval.analytics.confusion import calibration, label_ratings, ratings
from skilleval.analytics.ranking import ranking_agreement
from skilleval.analytics.spec import AnalysisSpec
from skilleval.domain.attempts import Status
from skilleval.report.agreement import Agreement
from skilleval.report.agreement_part import AgreementFrames, agreement_part

_SEVERAL = 2
_LABELS = "labels"


def scorer_agreement(
    trials: pl.LazyFrame, scores: pl.LazyFrame, summary: pl.DataFrame, *, spec: AnalysisSpec
) -> Agreement | None:
    """Compare the scorers of a run, and the people behind its labels; null where a single scorer judged it.

    `summary` gives the completion rates whose orders are compared.
    """
    raters = tuple(summary["scorer"].drop_nulls().unique().sort())
    if len(raters) < _SEVERAL:
        return None
    said = ratings(trials, scores)
    completed = pl.col("status") == Status.COMPLETED.value
    known = trials.select(n=completed.sum().cast(pl.Int64), n_left_out=(~completed).sum().cast(pl.Int64))
    by_people = scores.filter(pl.col("rule") == _LABELS).select("scorer").unique().sort("scorer")
    people = label_ratings(trials, scores)
    pairs, overall, disputed, counts, sizes, references, people_pairs, people_overall = pl.collect_all(
        [
            pair_agreement(said),
            overall_agreement(said),
            disputed_tasks(said),
            verdict_counts(said),
            known,
            by_people,
            pair_agreement(people),
            overall_agreement(people),
        ]
    )
    drawn: dict[str, Any] = {"level": spec.level, "seed": spec.seed, "resamples": spec.resamples}
    frames = AgreementFrames(
        pairs=pairs,
        intervals=kappa_intervals(said, **drawn),
        overall=overall,
        rankings=ranking_agreement(summary.select("condition_id", "scorer", "completion_rate")),
        calibration=_calibration(pairs, references["scorer"].to_list()),
        disputed=disputed,
        counts=counts,
        people=people_pairs,
        people_intervals=kappa_intervals(people, **drawn),
        people_overall=people_overall,
    )
    size: dict[str, Any] = sizes.row(0, named=True)
    return agreement_part(frames, raters=raters, n_trials=size["n"], n_left_out=size["n_left_out"])


def _calibration(pairs: pl.DataFrame, references: list[str]) -> pl.DataFrame:
    """Hold every other scorer against each one by labels."""
    held = [calibration(pairs.lazy(), reference=name).collect() for name in references]
    return pl.concat(held) if held else pl.DataFrame()
