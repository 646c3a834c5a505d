from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.regression import condition_pairs
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.task_pairs import task_pairs
from skilleval.analytics.task_results import task_results

Frames = tuple[pl.LazyFrame, pl.LazyFrame]
Frame = Callable[[Sequence[Mapping[str, Any]]], pl.LazyFrame]
Grid = Callable[..., Frames]
Spec = Callable[..., AnalysisSpec]


@pytest.fixture
def run(trials_of: Frame, scores_of: Frame) -> Callable[..., Frames]:
    """Build a run from scores by task; further columns of its trials by task."""

    def made(scores: Mapping[str, float | None], **columns: Mapping[str, Any]) -> Frames:
        trials = [
            {"skill_id": "s", "task_id": task, "trial_id": task, **columns.get(task, {})} for task in scores
        ]
        rows = [{"trial_id": task, "score": score} for task, score in scores.items()]
        return trials_of(trials), scores_of(rows)

    return made


def reasons(before: Frames, after: Frames, spec: AnalysisSpec) -> dict[str, str | None]:
    """Say of each task why it is left out."""
    sides = [task_results(*frames, spec=spec) for frames in (before, after)]
    rows = task_pairs(condition_pairs(*sides), *sides).collect()
    return dict(zip(rows["task_id"], rows["left_out"], strict=True))


def test_only_shared_tasks_with_verdicts_are_compared(run: Callable[..., Frames], spec: Spec) -> None:
    """What one side lacks is added or removed; what has no verdict is ungraded there; the rest counts."""
    before = run({"gone": 1, "both": 1, "lost": 1, "never": None, "won": None})
    after = run({"new": 1, "both": 0, "lost": None, "never": None, "won": 1})
    assert reasons(before, after, spec()) == {
        "both": None,
        "gone": "removed",
        "lost": "ungraded after",
        "never": "ungraded",
        "new": "added",
        "won": "ungraded before",
    }


def test_another_input_makes_another_task(run: Callable[..., Frames], spec: Spec) -> None:
    """A task of the same id that asks something else is not compared."""
    before = run({"t": 1, "u": 1}, t={"input": '{"a":1}'}, u={"input": "{}"})
    after = run({"t": 1, "u": 1}, t={"input": '{"a":2}'}, u={"input": "{}"})
    assert reasons(before, after, spec()) == {"t": "changed", "u": None}


def results(grid: Frames, spec: AnalysisSpec) -> dict[str, Any]:
    """Give the only task."""
    return task_results(*grid, spec=spec).collect().row(0, named=True)


def test_a_task_is_the_mean_of_its_repeats(grid: Grid, spec: Spec) -> None:
    """Of four repeats one was spoiled, two of three passed; two differing ones of the three pairs disagree."""
    row = results(grid([[1, 0, 1, "provider_error"]], latency_ms=30.0), spec())
    assert (row["n_trials"], row["n_graded"], row["n_passed"]) == (4, 3, 2)
    assert row["completion_rate"] == pytest.approx(2 / 3)
    assert row["error_rate"] == 0.25
    assert row["flip_rate"] == pytest.approx(2 / 3)
    assert row["latency_ms"] == 30.0


def test_one_repeat_cannot_disagree(grid: Grid, spec: Spec) -> None:
    """The flip rate of a task tried once is not known."""
    assert results(grid([[1]]), spec())["flip_rate"] is None


def conditions(*rows: Mapping[str, Any]) -> pl.LazyFrame:
    """Give rows that name conditions."""
    usual = {
        "skill_id": "s",
        "scorer": "exact",
        "mode": "direct",
        "benchmark_id": "b",
        "model": "m",
        "adapter": "chat",
        "sandbox": "none",
        "skill_version": "1",
        "skill_digest": "d",
        "benchmark_version": "1",
        "condition_id": "c",
    }
    return pl.LazyFrame([usual | dict(row) for row in rows])


def sides(before: pl.LazyFrame, after: pl.LazyFrame) -> list[tuple[Any, ...]]:
    """Give the condition of both sides of each pair."""
    rows = condition_pairs(before, after).collect()
    return sorted(rows.select("condition_id_before", "condition_id_after", "side").rows(), key=str)


def test_a_lone_condition_is_compared_across_models_and_sandboxes() -> None:
    """Where neither side has a choice, another model or sandbox is what has changed."""
    after = conditions({"model": "n", "sandbox": "process", "condition_id": "d"})
    assert sides(conditions({}), after) == [("c", "d", "both")]


def test_several_models_are_compared_each_with_itself() -> None:
    """A model without its like is new or removed, also where its skill was edited."""
    before = conditions({"model": "m", "condition_id": "m1"}, {"model": "n", "condition_id": "n1"})
    after = conditions(
        {"model": "m", "condition_id": "m2", "skill_digest": "e"},
        {"model": "o", "condition_id": "o2", "skill_digest": "e"},
    )
    assert sides(before, after) == [("m1", "m2", "both"), ("n1", None, "removed"), (None, "o2", "new")]


def test_modes_and_scorers_never_mix() -> None:
    """A row with the skill is no pair of one without it."""
    found = sides(conditions({"mode": "with_skill"}), conditions({"mode": "without_skill"}))
    assert [side for _, _, side in found] == ["removed", "new"]
