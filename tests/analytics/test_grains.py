from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from skilleval.analytics.completion import COMPLETION
from skilleval.analytics.consistency import CONSISTENCY
from skilleval.analytics.distribution import DISTRIBUTION, SORTED_VALUES
from skilleval.analytics.eval_skills import seed_metrics
from skilleval.analytics.grains import grain, summarise_outcomes, telling_columns
from skilleval.analytics.metric import Metric, summarise
from skilleval.analytics.outcomes import trial_outcomes, with_counted_latency
from skilleval.analytics.partial import partial_metrics
from skilleval.analytics.pass_k import pass_k_metrics
from skilleval.analytics.spec import AnalysisSpec, IntervalMethod
from skilleval.analytics.uncertainty import family, uncertainty_metrics

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Spec = Callable[..., AnalysisSpec]

CELLS = st.sampled_from([1, 0, 0.5, None, "timeout", "skill_error", "provider_error"])
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=6)
BY = ("skill_id", "model", "scorer")
WINDOWS = {"task": ["task_id"], "repeat": ["run_id", "repeat"], "family": ["sampled_family"]}


def with_windows(outcomes: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Write beside every trial how its task, repeat and family did: what grains spare us."""
    counts = {
        "trials": pl.len(),
        "graded": pl.col("graded").sum(),
        "passed": pl.col("passed").sum(),
    }
    return outcomes.with_columns(
        *(
            count.cast(pl.Int64).over([*by, *keys]).alias(f"{window}_{name}")
            for window, keys in WINDOWS.items()
            for name, count in counts.items()
        ),
        *(
            (pl.int_range(pl.len()) == 0).over([*by, *keys]).alias(f"is_first_of_{window}")
            for window, keys in WINDOWS.items()
        ),
    )


def every_metric(spec: AnalysisSpec) -> tuple[Metric, ...]:
    """Give all metrics of a summary that are aggregated."""
    ours = (*COMPLETION, *partial_metrics(spec), *pass_k_metrics(spec.k), *CONSISTENCY)
    return (*ours, *uncertainty_metrics(spec), *SORTED_VALUES, *DISTRIBUTION)


@settings(max_examples=25, deadline=None)
@given(first=TABLES, second=TABLES)
def test_a_grain_gives_the_numbers_of_windows(
    grid: Grid, spec: Spec, first: list[list[object]], second: list[list[object]]
) -> None:
    """Whatever is aggregated at its own grain is what a window beside each trial gives, nulls in the key included."""
    parts = [grid(first, skill_id="a", latency_ms=3.0), grid(second, skill_id="b", model="m", latency_ms=5.0)]
    trials, scores = (pl.concat(frames) for frames in zip(*parts, strict=True))
    chosen = spec(k=2, family="task_id")
    outcomes = with_counted_latency(trial_outcomes(trials, scores), chosen).with_columns(
        sampled_family=family(chosen)
    )
    metrics = every_metric(chosen)
    found = summarise_outcomes(outcomes, by=BY, metrics=metrics).collect()
    expected = summarise(with_windows(outcomes, BY), by=BY, metrics=metrics).collect()
    assert_frame_equal(found, expected)


def test_the_formulas_of_the_other_tool_have_grains_too(grid: Grid, spec: Spec) -> None:
    """They give the same by grain and by window."""
    outcomes = with_counted_latency(trial_outcomes(*grid([[1, 0], [1, None], ["timeout", 1]])), spec())
    metrics = seed_metrics(spec())
    found = summarise_outcomes(outcomes, by=BY, metrics=metrics).collect()
    windows = with_windows(outcomes.with_columns(sampled_family="task_id"), BY)
    assert_frame_equal(found, summarise(windows, by=BY, metrics=metrics).collect())


def test_the_order_of_rows_changes_nothing(grid: Grid, spec: Spec) -> None:
    """A bootstrap over tasks draws the same whatever row came first."""
    chosen = spec(interval=IntervalMethod.BOOTSTRAP, resamples=200)
    outcomes = trial_outcomes(*grid([[1, 0, 1], [0, 0, 1], [1, 1, 1], [1, 0, 0]])).with_columns(
        family="task_id"
    )
    metrics = uncertainty_metrics(chosen)
    shuffled = outcomes.collect().sample(fraction=1.0, shuffle=True, seed=3).lazy()
    found = [summarise_outcomes(rows, by=BY, metrics=metrics).collect() for rows in (outcomes, shuffled)]
    assert_frame_equal(*found, check_exact=True)


def test_of_no_row_there_is_no_group(grid: Grid) -> None:
    """Without outcomes the frame is empty, with all its columns."""
    outcomes = trial_outcomes(*grid([[1]])).clear()
    found = summarise_outcomes(outcomes, by=BY, metrics=COMPLETION).collect()
    assert found.height == 0
    assert found.columns == [*BY, *(metric.name for metric in COMPLETION)]


def test_a_metric_has_one_grain() -> None:
    """Trials and tasks, or tasks and repeats, are never mixed in one expression."""

    def of(expr: pl.Expr, **changes: Any) -> Metric:
        return Metric(name="x", expr=expr, unit="", **changes)

    task, repeat, trial = pl.col("task_passed"), pl.col("repeat_passed"), pl.col("status").count()
    assert [grain(of(task.sum())), grain(of(repeat.sum())), grain(of(trial))] == ["task", "repeat", "trial"]
    assert grain(of(pl.col("latency_ms").sort(), sorts=True)) == "sorted"
    for mixed in (task.sum() + trial, task.sum() + repeat.sum()):
        with pytest.raises(AssertionError, match="x "):
            grain(of(mixed))


def test_few_columns_tell_groups_apart() -> None:
    """Of the names of a group only those are compared that tell it from the others; a null is a name too."""
    groups = pl.DataFrame({"a": ["x", "x", "x"], "b": ["1", "2", "2"], "c": [None, None, "z"]})
    assert sorted(telling_columns(groups, ["a", "b", "c"])) == ["b", "c"]
    assert telling_columns(groups.head(1), ["a", "b", "c"]) == ["a"]
    assert telling_columns(groups.clear(), ["a", "b"]) == ["a"]
