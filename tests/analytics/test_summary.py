from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from skilleval.analytics.outcomes import CONDITION_KEYS
from skilleval.analytics.spec import AnalysisSpec, Preset
from skilleval.analytics.summary import summary
from skilleval.errors import ResultsError
from skilleval.results.schema import SCORES, checked

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Spec = Callable[..., AnalysisSpec]
SummaryRow = Callable[..., dict[str, Any]]
Build = Callable[[list[dict[str, Any]]], pl.LazyFrame]

PRESETS = pytest.mark.parametrize("preset", list(Preset))
CELLS = st.sampled_from([1, 0, 0.5, None, "timeout", "skill_error", "provider_error", "blocked"])
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=6)
SHARES = (
    "completion_rate",
    "completion_rate_macro",
    "completion_low",
    "completion_high",
    "ci_low",
    "ci_high",
    "partial_score",
    "error_rate",
    "infrastructure_rate",
    "pass_at_k",
    "pass_hat_k",
    "consistency",
    "flip_rate",
    "latency_term",
    "speed",
    "reliability",
    "composite",
)


def _nan_count(frame: pl.DataFrame) -> int:
    return int(frame.select(pl.sum_horizontal(cs.float().is_nan().sum())).item())


@PRESETS
@settings(max_examples=40, deadline=None)
@given(tasks=TABLES)
def test_shares_are_shares_and_counts_add_up(
    summary_row: SummaryRow, spec: Spec, preset: Preset, tasks: list[list[object]]
) -> None:
    """Every share is null or in [0, 1], and the ways to end sum to all trials."""
    row = summary_row(tasks, spec(preset=preset), latency_ms=10.0)
    outside = {name: row[name] for name in SHARES if row[name] is not None and not 0 <= row[name] <= 1}
    assert outside == {}
    verdicts = row["n_passed"] + row["n_failed"] + row["n_timeout"] + row["n_skill_error"]
    assert verdicts == row["n_graded"]
    assert verdicts + row["n_infrastructure"] + row["n_ungraded"] == row["n_trials"] == sum(map(len, tasks))


@PRESETS
@settings(max_examples=25, deadline=None)
@given(tasks=TABLES, seed=st.integers(0, 2**32))
def test_the_order_of_rows_is_irrelevant(
    grid: Grid, spec: Spec, preset: Preset, tasks: list[list[object]], seed: int
) -> None:
    """The same rows in another order give the same summary."""
    trials, scores = (frame.collect() for frame in grid(tasks, latency_ms=10.0))
    shuffled = [frame.sample(fraction=1.0, shuffle=True, seed=seed).lazy() for frame in (trials, scores)]
    chosen = spec(preset=preset)
    assert_frame_equal(
        summary(*shuffled, spec=chosen), summary(trials.lazy(), scores.lazy(), spec=chosen), rel_tol=1e-12
    )


@settings(max_examples=25, deadline=None)
@given(
    tasks=st.lists(
        st.lists(st.sampled_from([0, 1, "timeout"]), min_size=1, max_size=4), min_size=1, max_size=6
    )
)
def test_one_try_is_the_completion_rate(summary_row: SummaryRow, tasks: list[list[object]]) -> None:
    """pass@1, pass^1 and the mean completion rate of tasks are one number."""
    row = summary_row(tasks)
    assert (row["pass_at_k"], row["pass_hat_k"]) == pytest.approx((row["completion_rate_macro"],) * 2)


def test_each_condition_and_scorer_has_its_row(grid: Grid, spec: Spec) -> None:
    """Skills and scorers are never mixed, and rows are sorted by their keys."""
    right, wrong = grid([[1], [1]], skill_id="right"), grid([[0], [0]], skill_id="wrong")
    strict = pl.concat([right[1], wrong[1]])
    lenient = strict.with_columns(
        scorer=pl.lit("lenient"), score=pl.lit(1.0), passed=pl.lit(value=True), verdict=pl.lit("passed")
    )
    found = summary(pl.concat([wrong[0], right[0]]), pl.concat([lenient, strict]), spec=spec()).collect()
    assert found.select("skill_id", "scorer", "completion_rate").rows() == [
        ("right", "exact", 1.0),
        ("right", "lenient", 1.0),
        ("wrong", "exact", 0.0),
        ("wrong", "lenient", 1.0),
    ]


def test_es04_two_skills_with_one_id_stay_apart(grid: Grid, spec: Spec) -> None:
    """Results are keyed by id, version and content: the same id with other content is another row."""
    old = grid([[1]], skill_digest="old", condition_id="c1")
    new = grid([[0]], skill_digest="new", condition_id="c2", run_id="q")
    scores = pl.concat([old[1], new[1].with_columns(run_id=pl.lit("q"))])
    found = summary(pl.concat([old[0], new[0]]), scores, spec=spec()).collect()
    assert found.select("skill_digest", "completion_rate").rows() == [("old", 1.0), ("new", 0.0)]


def test_both_presets_give_the_same_columns(grid: Grid, spec: Spec) -> None:
    """A report reads either summary by the same names and types."""
    trials, scores = grid([[1, 0], [1, 1]])
    schemas = [summary(trials, scores, spec=spec(preset=preset)).collect_schema() for preset in Preset]
    assert schemas[0] == schemas[1]
    assert schemas[0].names()[: len(CONDITION_KEYS)] == list(CONDITION_KEYS)


@PRESETS
def test_the_promised_types_are_the_types_of_the_frame(grid: Grid, spec: Spec, preset: Preset) -> None:
    """What the lazy frame says of its columns is what collecting it gives."""
    lazy = summary(*grid([[1, 0], [None, "timeout"]]), spec=spec(preset=preset))
    assert lazy.collect_schema() == lazy.collect().schema


@PRESETS
@pytest.mark.parametrize("n", [1, 999, 1200])
def test_c37_a_group_without_scores_is_null_everywhere(
    grid: Grid, spec: Spec, case: Callable[[str], Any], preset: Preset, n: int
) -> None:
    """An all-null group has n = 0 graded and no NaN in any column, for one row as for 1,200."""
    nulls = case("C37")["groups"]["a"]
    cells = (nulls * (n // len(nulls) + 1))[:n]
    found = summary(*grid([[cell] for cell in cells]), spec=spec(preset=preset)).collect()
    assert (found["n_trials"][0], found["n_graded"][0], _nan_count(found)) == (n, 0, 0)
    if preset is Preset.DEFAULT:
        unknown = ("completion_rate", "partial_score", "ci_low", "ci_high", "p95_ms", "composite")
        assert [found[name][0] for name in unknown] == [None] * len(unknown)


def test_c37_nan_is_refused_when_written_and_unscored_when_read(
    trials_of: Build, scores_of: Build, spec: Spec, case: Callable[[str], Any]
) -> None:
    """A NaN score breaks the contract of the table; if it comes in all the same, it is in no mean."""
    values = [float(value) for value in case("C37")["groups"]["b"]]
    rows = [{"trial_id": str(i), "score": v, "passed": v == 1} for i, v in enumerate(values)]
    scores = scores_of(rows)
    with pytest.raises(ResultsError, match="is_finite"):
        checked(SCORES, scores.collect())
    trials = trials_of([{"task_id": str(i), "trial_id": str(i)} for i in range(len(values))])
    found = summary(trials, scores, spec=spec()).collect()
    assert (found["n_scored"][0], found["partial_score"][0], _nan_count(found)) == (1, 1.0, 0)


@PRESETS
def test_c37_c39_no_rows_give_an_empty_summary_with_all_columns(
    grid: Grid, spec: Spec, case: Callable[[str], Any], preset: Preset
) -> None:
    """Of zero trials there is nothing to say, and saying it is no error."""
    assert case("C37")["groups"]["c"] == []
    chosen = spec(preset=preset)
    empty, full = (summary(*grid(tasks), spec=chosen).collect() for tasks in (case("C39")["tasks"], [[1]]))
    assert (empty.height, empty.schema) == (0, full.schema)


def test_c39_a_bucket_of_one_has_no_spread(grid: Grid, spec: Spec, case: Callable[[str], Any]) -> None:
    """One value has n = 1 and a null SD; a bucket without trials has no row."""
    buckets = case("C39")["buckets"]
    frames = [grid([[value] for value in values], skill_id=name) for name, values in buckets.items()]
    trials, scores = (pl.concat(parts) for parts in zip(*frames, strict=True))
    found = summary(trials, scores, spec=spec()).collect()
    columns = ["skill_id", "n_graded", "completion_rate", "repeat_rate_sd_ddof1", "clustered_se"]
    assert found.select(columns).rows() == [("easy", 1, 1.0, None, None)]
    assert _nan_count(found) == 0


@PRESETS
def test_ten_thousand_trials_are_summarised_within_a_second(grid: Grid, spec: Spec, preset: Preset) -> None:
    """Reading a large run costs a reader no wait (time of this process: others may be busy)."""
    trials, scores = grid([[1, 0, 1, "timeout", None]] * 2000, latency_ms=10.0)
    summary(trials.head(1), scores.head(1), spec=spec(preset=preset)).collect()
    started = time.process_time()
    summary(trials, scores, spec=spec(preset=preset)).collect()
    assert time.process_time() - started < 1
