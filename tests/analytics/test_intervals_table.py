from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from statsmodels.api import OLS

from skilleval.analytics.intervals_table import interval_table, intervals_of
from skilleval.analytics.outcomes import CONDITION_KEYS, trial_outcomes, with_counted_latency
from skilleval.analytics.slices import slices
from skilleval.analytics.spec import AnalysisSpec, IntervalMethod, ScoringMethod
from skilleval.analytics.summary import summary

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Spec = Callable[..., AnalysisSpec]

FOUR_BY_THREE = [[1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]]
CELLS = st.sampled_from([1, 0, 0.5, None, "timeout", "skill_error", "provider_error"])
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=6)
METHODS = pytest.mark.parametrize("method", list(IntervalMethod))
SHARED = ("completion_rate", "completion_rate_macro", "error_rate", "infrastructure_rate", "partial_score",
          "pass_at_k", "pass_hat_k", "flip_rate", "p50_ms", "p95_ms", "p99_ms")  # fmt: skip


def rows(frames: tuple[pl.LazyFrame, pl.LazyFrame], spec: AnalysisSpec) -> dict[str, dict[str, Any]]:
    """Give the rows of one condition by metric."""
    found = interval_table(*frames, spec=spec).collect()
    return {row["metric"]: row for row in found.iter_rows(named=True)}


def bounds(row: dict[str, Any]) -> Any:
    """Give both ends of a row."""
    return row["low"], row["high"]


@settings(max_examples=10, deadline=None)
@given(tasks=TABLES, method=st.sampled_from(IntervalMethod))
def test_estimates_are_those_of_the_summary_and_intervals_hold_them(
    grid: Grid, spec: Spec, tasks: list[list[object]], method: IntervalMethod
) -> None:
    """Every estimate equals the summary's; bounds are null with a reason or enclose it, never a point, never NaN."""
    frames, chosen = grid(tasks, latency_ms=10.0), spec(interval=method, resamples=100)
    expected = summary(*frames, spec=chosen).collect().row(0, named=True)
    table = interval_table(*frames, spec=chosen).collect()
    assert table.select(pl.sum_horizontal(cs.float().is_nan().sum())).item() == 0
    for row in table.iter_rows(named=True):
        if row["metric"] in SHARED:
            assert row["estimate"] == pytest.approx(expected[row["metric"]]), row["metric"]
        low, high = bounds(row)
        assert (low is None) == (high is None) == row["method"].startswith("no interval: ")
        if low is not None:
            assert low < high, row
        if low is not None and not method.is_bootstrap:
            assert low - 1e-12 <= row["estimate"] <= high + 1e-12


@pytest.mark.parametrize("asked", [("partial_score", "p50_ms"), ("error_rate",), ("p95_ms", "p99_ms")])
def test_intervals_that_are_asked_for_are_those_of_the_whole_table(
    grid: Grid, spec: Spec, asked: tuple[str, ...]
) -> None:
    """Leaving the others out changes none of them."""
    frames, chosen = grid(FOUR_BY_THREE, latency_ms=10.0), spec()
    outcomes = with_counted_latency(trial_outcomes(*frames), chosen)
    found = intervals_of(outcomes, by=CONDITION_KEYS, spec=chosen, metrics=asked).collect()
    whole = interval_table(*frames, spec=chosen).filter(pl.col("metric").is_in(asked)).collect()
    assert sorted(found["metric"]) == sorted(asked)
    assert_frame_equal(found, whole.select(found.columns), check_row_order=False)


@METHODS
def test_the_summary_and_the_table_give_one_interval(grid: Grid, spec: Spec, method: IntervalMethod) -> None:
    """The interval of the completion rate is the same in both, for every method, and is named there."""
    frames, chosen = grid(FOUR_BY_THREE), spec(interval=method)
    expected = summary(*frames, spec=chosen).collect().row(0, named=True)
    found = rows(frames, chosen)["completion_rate"]
    assert [*bounds(found), found["method"]] == [
        pytest.approx(expected["ci_low"]),
        pytest.approx(expected["ci_high"]),
        expected["ci_method"],
    ]


@pytest.mark.parametrize(
    ("method", "low", "high"),
    [
        (IntervalMethod.AGRESTI_COULL_T, 0.127941, 0.930896),
        (IntervalMethod.WILSON_NEFF, 0.231611, 0.866711),
        (IntervalMethod.CLUSTERED_T, 0.0, 1.0),
    ],
)
def test_four_tasks_by_three_repeats(
    grid: Grid, spec: Spec, method: IntervalMethod, low: float, high: float
) -> None:
    """The worked data have the worked bounds; those of clustered t are cut at 0 and 1."""
    found = rows(grid(FOUR_BY_THREE), spec(interval=method))["completion_rate"]
    assert bounds(found) == pytest.approx((low, high), abs=5e-7)


@METHODS
def test_rates_of_one_and_zero_are_bounded(grid: Grid, spec: Spec, method: IntervalMethod) -> None:
    """Where all tasks passed or failed, the interval ends there and reaches into the other direction."""
    chosen = spec(interval=method)
    passed, failed = (rows(grid([[v]] * 20), chosen)["completion_rate"] for v in (1, 0))
    assert passed["high"] == 1.0
    assert 0.7 < passed["low"] < 0.9
    assert bounds(failed) == (0.0, pytest.approx(1 - passed["low"]))


@METHODS
@pytest.mark.parametrize("tasks", [[[1, 0, 1]], [[1]], [[None], ["blocked"]]])
def test_one_task_or_no_verdict_has_no_interval(
    grid: Grid, spec: Spec, method: IntervalMethod, tasks: list[list[object]]
) -> None:
    """Nothing is known of other tasks where there is one; nothing at all where nothing was graded."""
    found = rows(grid(tasks), spec(interval=method))["completion_rate"]
    assert bounds(found) == (None, None)
    assert found["method"].startswith("no interval: ")


def test_a_spread_that_is_not_seen_is_told(grid: Grid, spec: Spec) -> None:
    """Tasks that all pass every other time show no spread: clustered t has nothing to say, and says so."""
    found = rows(grid([[1, 0], [0, 1]]), spec(interval=IntervalMethod.CLUSTERED_T))["completion_rate"]
    assert found["method"] == "no interval: all tasks have the same mean, so that no spread is seen"


def test_the_standard_error_of_a_mean_is_that_of_statsmodels(grid: Grid, spec: Spec) -> None:
    """The clustered error of a partial score agrees with another implementation, its factor C/(C-1) set aside."""
    tasks = [[0.5, 1.0, 0.25], [0.0, 0.5], [1.0, 1.0, 1.0, 0.75], [0.25]]
    scores = [score for task in tasks for score in task]
    groups = [number for number, task in enumerate(tasks) for _ in task]
    fit = OLS(scores, [1.0] * len(scores)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    found = rows(grid(tasks), spec())["partial_score"]
    assert found["se"] == pytest.approx(float(fit.bse[0]) * (4 / 3) ** 0.5)


def test_latency_has_a_mean_with_clustered_t(grid: Grid, spec: Spec) -> None:
    """The mean latency is over trials, and its interval over tasks never falls below 0."""
    trials, scores = grid([[1, 1], [1, 1], [1, 1]])
    timed = trials.with_columns(latency_ms=pl.Series([1.0, 1.0, 2.0, 2.0, 30.0, 30.0]))
    found = rows((timed, scores), spec())["mean_ms"]
    assert (found["estimate"], found["low"], found["n"]) == (11.0, 0.0, 6.0)
    assert found["high"] == pytest.approx(11 + 4.302653 * 9.504385, abs=1e-4)


def test_more_tries_than_were_made_have_no_estimate(grid: Grid, spec: Spec) -> None:
    """pass@k is null with a reason as soon as one task has fewer than k graded trials."""
    found = rows(grid([[1, 1], [1]]), spec(k=2))["pass_at_k"]
    assert [found["estimate"], *bounds(found)] == [None, None, None]
    assert found["method"] == "no interval: the number itself is not known"


@pytest.mark.parametrize("scoring", list(ScoringMethod))
def test_the_partial_score_follows_the_scoring_method(grid: Grid, spec: Spec, scoring: ScoringMethod) -> None:
    """Mean, weighted mean and pass@k have their own estimate and interval."""
    trials, scores = grid([[1, 0], [0.5, 0.5], [1, 1]])
    weighted = trials.with_columns(task_weight=pl.when(pl.col("task_id") == "t000").then(3.0).otherwise(1.0))
    chosen = spec(scoring_method=scoring, k=2)
    expected = summary(weighted, scores, spec=chosen).collect()["partial_score"][0]
    found = rows((weighted, scores), chosen)["partial_score"]
    assert found["estimate"] == pytest.approx(expected)
    assert found["low"] < expected < found["high"]


FAMILIES = pytest.mark.parametrize(("family", "column"), [("task_id", "task_id"), ("topic", "task_tags")])


def in_families(
    frames: tuple[pl.LazyFrame, pl.LazyFrame], column: str, names: Sequence[str | None]
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Put the tasks of a grid into families, by their ids or by their tags."""
    trials, scores = frames
    name = pl.col("task_id").replace_strict([f"t{i:03}" for i in range(len(names))], names)
    if column == "task_id":
        return trials.with_columns(task_id=pl.concat_str(name, pl.lit("/"), "task_id")), scores
    tags = pl.concat_list(pl.lit("easy"), pl.format("topic:{}", name), pl.lit("topics:x"))
    return trials.with_columns(task_tags=tags), scores


@FAMILIES
def test_families_are_what_is_sampled(grid: Grid, spec: Spec, family: str, column: str) -> None:
    """Tasks of one family count as one cluster, however it is told: the same as repeats of one task."""
    frames = in_families(grid([[1], [1], [0], [0], [1], [0]]), column, ["a", "a", "b", "b", "c", "c"])
    found = rows(frames, spec(family=family))["completion_rate"]
    alike = rows(grid([[1, 1], [0, 0], [1, 0]]), spec())["completion_rate"]
    assert found["n_clusters"] == 3
    assert (*bounds(found), found["se"]) == pytest.approx((*bounds(alike), alike["se"]))
    assert f"clusters = families of {family}" in found["method"]


@FAMILIES
def test_the_summary_knows_families_too(grid: Grid, spec: Spec, family: str, column: str) -> None:
    """The interval of the summary has the families of the settings as clusters, and counts them."""
    frames = in_families(grid([[1], [1], [0], [0], [1], [0]]), column, ["a", "a", "b", "b", "c", "c"])
    chosen = spec(family=family)
    row = summary(*frames, spec=chosen).collect().row(0, named=True)
    found = rows(frames, chosen)["completion_rate"]
    assert (row["n_tasks"], row["n_clusters"]) == (6, 3)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(bounds(found))


def test_a_task_without_a_family_is_its_own(grid: Grid, spec: Spec) -> None:
    """Tasks that no tag and no slash put together are clusters of their own."""
    frames = grid([[1], [0], [1]])
    for family in ("topic", "task_id"):
        assert rows(frames, spec(family=family))["completion_rate"]["n_clusters"] == 3


def test_the_table_has_one_row_a_condition_and_metric(grid: Grid, spec: Spec) -> None:
    """Conditions are never mixed; every metric has its row, whatever is known of it."""
    right, wrong = grid([[1], [1]], skill_id="right"), grid([[0], [0]], skill_id="wrong")
    trials, scores = (pl.concat(parts) for parts in zip(right, wrong, strict=True))
    found = interval_table(trials, scores, spec=spec()).collect()
    assert found.columns[: len(CONDITION_KEYS)] == list(CONDITION_KEYS)
    assert found.group_by("skill_id").agg(pl.col("metric").n_unique()).sort("skill_id").rows() == [
        ("right", 12),
        ("wrong", 12),
    ]
    rates = found.filter(pl.col("metric") == "completion_rate").select("skill_id", "estimate")
    assert rates.sort("skill_id").rows() == [("right", 1.0), ("wrong", 0.0)]


def test_slices_by_family_are_not_the_families_that_are_sampled(grid: Grid, spec: Spec) -> None:
    """Slicing by family groups tasks, whatever the settings say of clusters."""
    trials, scores = in_families(grid([[1], [1], [0]]), "task_id", ["a", "a", "b"])
    for family in (None, "task_id"):
        chosen = spec(family=family)
        outcomes = with_counted_latency(trial_outcomes(trials, scores), chosen)
        found = slices(outcomes, by=("family",), spec=chosen).select("family", "n_tasks").collect()
        assert found.rows() == [("a", 2), ("b", 1)]
