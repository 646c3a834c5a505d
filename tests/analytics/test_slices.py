from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.slices import by_tag
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
