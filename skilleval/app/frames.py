"""More of the Python interface: what a run says trial by trial, what its skills add, and how its scorers agree."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from skilleval.analytics.agreement import kappa_intervals, pair_agreement
from skilleval.analytics.confusion import ratings
from skilleval.analytics.uplift import uplift as uplift_by_skill
from skilleval.analytics.uplift import uplift_by_case
from skilleval.app.notebook import AnyRun
from skilleval.app.runs import Run, open_run
from skilleval.app.stored import Stored, readable, stored

_RATERS = ("rater_a", "rater_b")


def outcomes(run: AnyRun, *, store: str | Path = "outputs") -> pl.LazyFrame:
    """Say what each scorer makes of each trial: all its checks together, by the rules of the benchmark.

    Grain: one row a trial × scorer.
    Columns: those of the trial, `scorer`, `passed`, `score`, and `counted_latency_ms`, the latency that counts.

    Raises:
        ResultsError: the run is not found, or cannot be read.
    """
    return _stored(run, store).outcomes


def uplift(run: AnyRun, *, store: str | Path = "outputs") -> pl.DataFrame:
    """Summarise what each skill adds to each baseline, over the tasks that were graded in both arms.

    Grain: one row a skill × scorer × baseline; none for a skill that was run in one arm alone.

    Raises:
        ResultsError: the run is not found, or cannot be read.
    """
    one = _stored(run, store)
    with readable(one.folder):
        return uplift_by_skill(one.trials, one.scores, spec=one.spec).collect()


def uplift_cases(run: AnyRun, *, store: str | Path = "outputs") -> pl.DataFrame:
    """Set both arms of each task side by side.

    Grain: one row a skill × scorer × baseline × task; `left_out` says why a task does not count, else null.

    Raises:
        ResultsError: the run is not found, or cannot be read.
    """
    one = _stored(run, store)
    with readable(one.folder):
        return uplift_by_case(one.trials, one.scores, spec=one.spec).collect()


def agreement(run: AnyRun, *, store: str | Path = "outputs") -> pl.DataFrame:
    """Compare the verdicts of the scorers of a run, each with each.

    Grain: one row a pair of scorers; none for a run of a single one.
    Columns: `rater_a`, `rater_b`, how their verdicts fall together (`n_both_passed` …), `percent_agreement` (share),
        `kappa` with `kappa_low`, `kappa_high`, `kappa_method`.

    Raises:
        ResultsError: the run is not found, or cannot be read.
    """
    one = _stored(run, store)
    with readable(one.folder):
        said = ratings(one.trials, one.scores)
        spec = one.spec
        drawn = kappa_intervals(said, level=spec.level, seed=spec.seed, resamples=spec.resamples)
        pairs = pair_agreement(said).collect()
        return pairs.join(drawn.drop("n_tasks"), on=_RATERS, how="left")


def _stored(run: AnyRun, store: str | Path) -> Stored:
    found = run if isinstance(run, Run) else open_run(run, store=store)
    return stored(found.folder)
