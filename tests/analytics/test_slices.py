from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.outcomes import trial_outcomes, with_counted_latency
from skilleval.analytics.slices import by_tag, slices
from skilleval.analytics.spec import AnalysisSpec, Preset
from skilleval.analytics.summary import summary

Build = Callable[[list[dict[str, Any]]], pl.LazyFrame]
Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Spec = Callable[..., AnalysisSpec]

TAGS = {"a": ["sum", "hard"], "b": ["sum"], "c": [], "d": ["sum", "sum"]}


@pytest.fixture
def frames(trials_of: Build, scores_of: Build) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Four tasks with two repeats; only the first fails, and only once."""
    rows = [
        {"task_id": task, "repeat": repeat, "task_tags": tags, "trial_id": f"{task}{repeat}"}
        for task, tags in TAGS.items()
        for repeat in range(2)
    ]
    scores = [{"trial_id": row["trial_id"], "score": 0.0 if row["trial_id"] == "a0" else 1.0} for row in rows]
    return trials_of(rows), scores_of(scores)


def test_a_task_counts_under_each_of_its_tags(frames: tuple[pl.LazyFrame, pl.LazyFrame], spec: Spec) -> None:
    """A tag named twice counts once, a task without tags is in no row."""
    found = by_tag(*frames, spec=spec()).collect()
    counted = found.select("tag", "skill_id", "scorer", "n_tasks", "n_graded", "n_passed", "completion_rate")
    assert counted.rows() == [
        ("hard", "s", "exact", 1, 2, 1, 0.5),
        ("sum", "s", "exact", 3, 6, 5, 5 / 6),
    ]


def test_one_task_has_no_interval(frames: tuple[pl.LazyFrame, pl.LazyFrame], spec: Spec) -> None:
    """The interval of a tag samples its tasks: one is not enough, three are."""
    found = by_tag(*frames, spec=spec()).collect()
    hard, three = found.select("ci_low", "ci_high").rows()
    assert hard == (None, None)
    assert 0 <= three[0] < 5 / 6 < three[1] <= 1


@pytest.mark.parametrize("preset", list(Preset))
def test_a_tag_of_all_tasks_is_the_summary(grid: Grid, spec: Spec, preset: Preset) -> None:
    """Under either preset a tag that every task has gives the numbers of the whole."""
    trials, scores = grid([[1, 0], [1, 1], ["timeout", 1], [None, 1], [1, 1], [0, 0]], task_tags=["all"])
    columns = ["n_tasks", "n_graded", "n_passed", "completion_rate", "ci_low", "ci_high"]
    whole = summary(trials, scores, spec=spec(preset=preset)).select(columns).collect()
    assert by_tag(trials, scores, spec=spec(preset=preset)).select(columns).collect().equals(whole)


def test_without_tags_there_is_no_row(grid: Grid, spec: Spec) -> None:
    """A benchmark without tags gives an empty frame with all columns."""
    found = by_tag(*grid([[1, 0]]), spec=spec()).collect()
    assert found.height == 0
    assert found.columns[0] == "tag"


def sliced(
    frames: tuple[pl.LazyFrame, pl.LazyFrame], spec: AnalysisSpec, *by: str, **facts: object
) -> pl.DataFrame:
    """Slice both frames."""
    outcomes = with_counted_latency(trial_outcomes(*frames), spec)
    about = pl.LazyFrame(facts) if facts else None
    return slices(outcomes, by=by, spec=spec, facts=about).collect()


def test_a_family_is_a_tag_or_the_head_of_an_id(trials_of: Build, scores_of: Build, spec: Spec) -> None:
    """`family:x` wins over the part of the id before its first slash; a task with neither has no family."""
    rows: list[dict[str, Any]] = [
        {"task_id": "dates/1", "task_tags": ["family:time"], "trial_id": "1"},
        {"task_id": "dates/2", "task_tags": ["easy"], "trial_id": "2"},
        {"task_id": "alone", "trial_id": "3"},
    ]
    scores = [{"trial_id": row["trial_id"], "score": 1.0} for row in rows]
    found = sliced((trials_of(rows), scores_of(scores)), spec(), "family")
    assert found.select("family", "n_trials").rows() == [("dates", 1), ("time", 1)]


def test_a_slice_has_every_metric_of_the_summary(
    frames: tuple[pl.LazyFrame, pl.LazyFrame], spec: Spec
) -> None:
    """Slicing by what all trials share is the summary, beside the name of the slice."""
    whole = summary(*frames, spec=spec()).collect()
    for name in ("skill", "mode", "run"):
        found = sliced(frames, spec(), name)
        assert found.select(whole.columns).equals(whole)
        assert found[name].to_list() in (["s"], ["direct"], ["r"])


def test_a_column_of_the_condition_can_be_sliced_by(grid: Grid, spec: Spec) -> None:
    """A model is a part of the condition and a slice at once; where it is not known there is no slice."""
    named = grid([[1], [0]], model="m", skill_id="a")
    unnamed = grid([[1], [0]], skill_id="b")
    both = (pl.concat([named[0], unnamed[0]]), pl.concat([named[1], unnamed[1]]))
    found = sliced(both, spec(), "model")
    assert found.select("model", "skill_id", "completion_rate").rows() == [("m", "a", 0.5)]


def test_runs_are_sliced_by_what_their_manifests_say(grid: Grid, spec: Spec) -> None:
    """A fact of a run is a slice of all its trials; with a tag beside it there is a row a combination."""
    parts = [grid([[1], [0]], run_id=name, task_tags=["t"]) for name in "rq"]
    scores = pl.concat(
        [one.with_columns(run_id=pl.lit(name)) for (_, one), name in zip(parts, "rq", strict=True)]
    )
    frames = (pl.concat([trials for trials, _ in parts]), scores)
    found = sliced(frames, spec(), "seed", "tag", run_id=["r", "q"], seed=["1", "2"])
    assert found.select("seed", "tag", "n_trials").rows() == [("1", "t", 2), ("2", "t", 2)]
