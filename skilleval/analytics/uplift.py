"""What a skill adds: the scores with it less those without it, paired over tasks, and what that costs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import polars as pl

from skilleval.analytics.arms import ARMS, PAIR_KEYS, side_by_side
from skilleval.analytics.assertion_matrix import Signal, assertion_matrix
from skilleval.analytics.completion import share, trial_count
from skilleval.analytics.metric import Metric, derive, summarise
from skilleval.analytics.outcomes import trial_outcomes, with_counted_latency
from skilleval.analytics.paired import (
    SAME,
    interval_method,
    pair_statistics,
    paired_interval,
    sign_flip_test,
)
from skilleval.domain.attempts import Status

if TYPE_CHECKING:
    from skilleval.analytics.spec import AnalysisSpec

NEGLIGIBLE = 0.05
"""An interval that stays this close to zero shows that there is no uplift worth its cost."""

UPLIFT_KEYS = (*PAIR_KEYS, "baseline")
_COSTS = {"tokens": "tokens", "seconds": "s", "usd": "USD"}
_SIDES = ("candidate", "baseline")
_DIFFERENCE = pl.col("difference")
_COUNTED = _DIFFERENCE.is_not_null()


class Finding(StrEnum):
    """What a comparison of two arms shows."""

    HELPS = "helps"
    HARMS = "harms"
    NO_UPLIFT = "no_uplift"
    INCONCLUSIVE = "inconclusive"
    UNGRADED = "ungraded"


def uplift(trials: pl.LazyFrame, scores: pl.LazyFrame, *, spec: AnalysisSpec) -> pl.LazyFrame:
    """Summarise what each skill adds to each baseline, over the cases that were graded in both arms.

    Every difference is candidate (with the skill) less baseline. See `docs/methods.md` for the formulas.

    Grain: one row `PAIR_KEYS` × baseline, sorted; a skill with a single arm has none.
    Columns: `UPLIFT_KEYS`, `skill_version`, `baseline_version`; counts of cases; `score_*`, `passed_*` of both arms
        and `uplift`, `passed_uplift`; `uplift_low`, `uplift_high`, `ci_method`, `p_value`, `p_method`; `gain`;
        `n_wins`, `n_ties`, `n_losses`; `uplift_discriminating`, `n_always_pass`, `n_checks`; for tokens, seconds and
        usd a trial `<cost>_candidate`, `_baseline`, `_difference`, `_ratio`; `finding`.
    """
    cases = uplift_by_case(trials, scores, spec=spec)
    metrics = (*_counts(), *_means(), *(m for cost in _COSTS for m in _cost(cost)))
    rows = summarise(cases, by=UPLIFT_KEYS, metrics=metrics)
    sharp = _discriminating(cases, assertion_matrix(trials, scores))
    joined = rows.join(sharp, on=UPLIFT_KEYS, how="left", nulls_equal=True)
    tested = derive(derive(joined, metrics=_ratios()), metrics=_uncertainty(spec))
    found = derive(tested, metrics=(_finding(spec),)).drop("differences", "mean", "sd", "spread")
    return found.sort(UPLIFT_KEYS)


def uplift_by_case(trials: pl.LazyFrame, scores: pl.LazyFrame, *, spec: AnalysisSpec) -> pl.LazyFrame:
    """Set both arms of each task side by side; a task that one arm has no score of is left out, with the reason.

    Grain: one row `UPLIFT_KEYS` × task, sorted.
    Columns: `UPLIFT_KEYS`, `task_id`; for each arm `version_*`, `n_trials_*`, `n_*` (trials with a score), `score_*`,
        `passed_*` (means over them), `is_flaky_*`, `n_errors_*` (infrastructure), `n_broken_*` (time-outs and errors of
        the skill, which score 0), `tokens_*`, `seconds_*`, `usd_*` (means over completed attempts);
        `difference`, `outcome` (better, same, worse), `left_out` (null where the case counts), `left_out_kind`.
    """
    paired = side_by_side(_arms(trials, scores, spec), by=("task_id",))
    zeros = [pl.col(f"{n}_{side}").fill_null(0) for n in ("n_trials", "n", "n_errors") for side in _SIDES]
    counted = paired.with_columns(*zeros, difference=pl.col("score_candidate") - pl.col("score_baseline"))
    reasons = {side: _left_out_of(side) for side in _SIDES}
    return counted.with_columns(
        outcome=_outcome(),
        left_out=pl.when(~_COUNTED).then(_reason(reasons)),
        left_out_kind=pl.when(~_COUNTED).then(pl.coalesce(*reasons.values())),
    )


def _arms(trials: pl.LazyFrame, scores: pl.LazyFrame, spec: AnalysisSpec) -> pl.LazyFrame:
    """Give how each task went in each arm.

    Grain: one row `PAIR_KEYS` × mode × task.
    """
    outcomes = with_counted_latency(trial_outcomes(trials, scores), spec)
    rows = outcomes.filter(pl.col("mode").is_in(ARMS))
    return summarise(rows, by=(*PAIR_KEYS, "mode", "task_id"), metrics=(*_verdicts(), *_consumed()))


def _verdicts() -> tuple[Metric, ...]:
    scored = pl.col("score").is_not_null()
    broken = pl.col("status").is_in([Status.TIMEOUT.value, Status.SKILL_ERROR.value])
    passed = pl.col("passed").filter(scored).cast(pl.Float64).mean()
    return (
        Metric(name="version", expr=pl.col("skill_version").max(), unit="text"),
        Metric(name="n_trials", expr=pl.len().cast(pl.Int64), unit="trials", doc="however they ended"),
        Metric(name="n", expr=trial_count(scored), unit="trials", doc="with a score"),
        Metric(name="n_errors", expr=trial_count(pl.col("is_infrastructure")), unit="trials"),
        Metric(name="n_broken", expr=trial_count(broken), unit="trials"),
        Metric(name="score", expr=pl.col("score").mean(), unit="share", doc="mean over repeats"),
        Metric(name="passed", expr=passed, unit="share", doc="of the trials with a score"),
        Metric(name="is_flaky", expr=(passed > 0) & (passed < 1), unit="statement"),
    )


def _consumed() -> tuple[Metric, ...]:
    completed = pl.col("status") == Status.COMPLETED.value
    tokens = pl.coalesce("total_tokens", pl.col("input_tokens") + pl.col("output_tokens"))
    columns = {"tokens": tokens, "seconds": pl.col("counted_latency_ms") / 1000, "usd": pl.col("cost_usd")}
    return tuple(
        Metric(name=name, expr=column.filter(completed).mean(), unit=_COSTS[name], doc="a completed attempt")
        for name, column in columns.items()
    )


def _outcome() -> pl.Expr:
    return (
        pl.when(_DIFFERENCE > SAME)
        .then(pl.lit("better"))
        .when(_DIFFERENCE < -SAME)
        .then(pl.lit("worse"))
        .when(_COUNTED)
        .then(pl.lit("same"))
    )


def _left_out_of(side: str) -> pl.Expr:
    """Say why an arm has no score of a task; null where it has one."""
    lacks = pl.col(f"n_{side}") == 0
    return (
        pl.when(lacks & (pl.col(f"n_trials_{side}") == 0))
        .then(pl.lit("not tried"))
        .when(lacks & (pl.col(f"n_errors_{side}") > 0))
        .then(pl.lit("errors"))
        .when(lacks)
        .then(pl.lit("ungraded"))
    )


def _reason(reasons: dict[str, pl.Expr]) -> pl.Expr:
    named = [
        pl.concat_str(reasons["candidate"], pl.lit(" with the skill")),
        pl.concat_str(reasons["baseline"], pl.lit(" in the baseline")),
    ]
    return pl.concat_str(named, separator="; ", ignore_nulls=True)


def _counts() -> tuple[Metric, ...]:
    def cases(name: str, condition: pl.Expr) -> Metric:
        return Metric(name=name, expr=trial_count(condition), unit="cases")

    kinds = {"errors": "n_left_out_errors", "ungraded": "n_left_out_ungraded", "not tried": "n_not_tried"}
    outcomes = {"better": "n_wins", "same": "n_ties", "worse": "n_losses"}
    lost = [f"{name}_{side}" for name in ("n_errors", "n_broken") for side in _SIDES]
    return (
        Metric(name="skill_version", expr=pl.col("version_candidate").max(), unit="text"),
        Metric(name="baseline_version", expr=pl.col("version_baseline").max(), unit="text"),
        cases("n_cases", _COUNTED),
        cases("n_left_out", ~_COUNTED),
        *(cases(name, pl.col("left_out_kind") == kind) for kind, name in kinds.items()),
        *(cases(name, pl.col("outcome") == outcome) for outcome, name in outcomes.items()),
        Metric(
            name="n_repeats",
            expr=pl.max_horizontal(pl.col("n_candidate", "n_baseline").max()),
            unit="repeats",
        ),
        *(Metric(name=name, expr=trial_count(pl.col(name)), unit="trials") for name in lost),
    )


def _means() -> tuple[Metric, ...]:
    """Give the means over counted cases of both arms, and of their differences."""
    sided = [
        Metric(name=f"{name}_{side}", expr=pl.col(f"{name}_{side}").filter(_COUNTED).mean(), unit="share")
        for name in ("score", "passed")
        for side in _SIDES
    ]
    passed = (pl.col("passed_candidate") - pl.col("passed_baseline")).filter(_COUNTED).mean()
    return (
        *sided,
        Metric(name="passed_uplift", expr=passed, unit="share"),
        *pair_statistics(_DIFFERENCE),
    )


def _cost(name: str) -> tuple[Metric, ...]:
    """Give the mean cost a trial in both arms, over the cases where both are known."""
    candidate, baseline = (pl.col(f"{name}_{side}") for side in _SIDES)
    both = candidate.is_not_null() & baseline.is_not_null()
    unit = _COSTS[name]
    return (
        Metric(name=f"n_{name}", expr=trial_count(both), unit="cases", doc="where both arms know it"),
        Metric(name=f"{name}_candidate", expr=candidate.filter(both).mean(), unit=unit),
        Metric(name=f"{name}_baseline", expr=baseline.filter(both).mean(), unit=unit),
        Metric(name=f"{name}_difference", expr=(candidate - baseline).mean(), unit=unit),
    )


def _ratios() -> tuple[Metric, ...]:
    """Give what follows from the means of a row."""
    candidate, baseline = pl.col("score_candidate"), pl.col("score_baseline")
    gain = pl.when(baseline < 1 - SAME).then((candidate - baseline) / (1 - baseline))
    ratios = [
        Metric(
            name=f"{name}_ratio",
            expr=share(pl.col(f"{name}_candidate"), pl.col(f"{name}_baseline")),
            unit="ratio",
        )
        for name in _COSTS
    ]
    return (Metric(name="gain", expr=gain, unit="share", source="normalised gain, Hake 1998"), *ratios)


def _uncertainty(spec: AnalysisSpec) -> tuple[Metric, ...]:
    n = pl.col("n_cases")
    low, high = paired_interval(n, level=spec.level)
    method = interval_method(n, level=spec.level, unit="case", where="has a score in both arms")
    return (
        Metric(name="uplift", expr=pl.col("mean"), unit="share", source="Miller 2024, arXiv 2411.00640, 4"),
        Metric(name="uplift_low", expr=low.clip(lower_bound=-1.0), unit="share"),
        Metric(name="uplift_high", expr=high.clip(upper_bound=1.0), unit="share"),
        Metric(name="ci_method", expr=method, unit="text"),
        *sign_flip_test(n, pl.col("n_wins") + pl.col("n_losses"), seed=spec.seed),
    )


def _finding(spec: AnalysisSpec) -> Metric:
    """Say what is shown: of an effect both the interval and the permutation must be sure."""
    low, high, n = pl.col("uplift_low"), pl.col("uplift_high"), pl.col("n_cases")
    beside_zero = (low > 0) | (high < 0) | low.is_null()
    sure = (pl.col("p_value") <= 1 - spec.level) & beside_zero
    tied = pl.col("n_ties") == n
    negligible = (low >= -NEGLIGIBLE) & (high <= NEGLIGIBLE)
    expr = (
        pl.when(n == 0)
        .then(pl.lit(Finding.UNGRADED.value))
        .when(sure & (pl.col("uplift") > 0))
        .then(pl.lit(Finding.HELPS.value))
        .when(sure & (pl.col("uplift") < 0))
        .then(pl.lit(Finding.HARMS.value))
        .when(tied | negligible)
        .then(pl.lit(Finding.NO_UPLIFT.value))
        .otherwise(pl.lit(Finding.INCONCLUSIVE.value))
    )
    return Metric(name="finding", expr=expr, unit="text")


def _discriminating(cases: pl.LazyFrame, matrix: pl.LazyFrame) -> pl.LazyFrame:
    """Give the uplift of the assertions that do not pass always in both arms.

    Grain: one row `UPLIFT_KEYS`.
    Columns: `UPLIFT_KEYS`, `n_checks`, `n_always_pass`, `uplift_discriminating` (mean over counted cases that have such
        a check of the difference of their weighted means).
    """
    always = pl.col("signal") == Signal.ALWAYS_PASS.value
    known = ~always & pl.col("score_candidate").is_not_null() & pl.col("score_baseline").is_not_null()
    weight = pl.col("weight").filter(known)
    gains = ((pl.col("score_candidate") - pl.col("score_baseline")) * pl.col("weight")).filter(known)
    of_case = (
        Metric(name="n_checks", expr=pl.len().cast(pl.Int64), unit="checks"),
        Metric(name="n_always_pass", expr=trial_count(always), unit="checks"),
        Metric(name="sharp", expr=share(gains.sum(), weight.sum()), unit="share"),
    )
    sharp = summarise(matrix, by=(*UPLIFT_KEYS, "task_id"), metrics=of_case)
    counted = cases.filter(_COUNTED).select(*UPLIFT_KEYS, "task_id")
    rows = counted.join(sharp, on=[*UPLIFT_KEYS, "task_id"], how="left", nulls_equal=True)
    of_skill = (
        Metric(name="n_checks", expr=pl.col("n_checks").sum(), unit="checks"),
        Metric(name="n_always_pass", expr=pl.col("n_always_pass").sum(), unit="checks"),
        Metric(name="uplift_discriminating", expr=pl.col("sharp").mean(), unit="share"),
    )
    return summarise(rows, by=UPLIFT_KEYS, metrics=of_skill)
