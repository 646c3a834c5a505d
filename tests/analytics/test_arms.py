from __future__ import annotations

import polars as pl

from skilleval.analytics.arms import PAIR_KEYS, side_by_side


def rows(*found: tuple[str, str, float, str | None]) -> pl.LazyFrame:
    """Give how tasks went: mode, task, value, model."""
    keys = dict.fromkeys(PAIR_KEYS, "-")
    return pl.LazyFrame(
        [
            {**keys, "model": model, "mode": mode, "task_id": task, "value": value}
            for mode, task, value, model in found
        ],
        schema_overrides={"model": pl.String()},
    )


def paired(frame: pl.LazyFrame) -> list[tuple[object, ...]]:
    """Give baseline, task and both values of each row."""
    found = side_by_side(frame, by=("task_id",))
    return found.select("baseline", "task_id", "value_candidate", "value_baseline").collect().rows()


def test_a_row_of_the_candidate_stands_beside_that_of_each_baseline() -> None:
    """With two baselines every task is compared twice."""
    frame = rows(
        ("with_skill", "t", 1.0, "m"), ("without_skill", "t", 0.0, "m"), ("old_skill", "t", 0.5, "m")
    )
    assert paired(frame) == [("old_skill", "t", 1.0, 0.5), ("without_skill", "t", 1.0, 0.0)]


def test_what_one_arm_lacks_is_null_there() -> None:
    """No task of either arm is lost."""
    frame = rows(
        ("with_skill", "a", 1.0, "m"), ("with_skill", "b", 1.0, "m"), ("without_skill", "b", 0.0, "m")
    )
    more = rows(("without_skill", "c", 0.5, "m"))
    assert paired(pl.concat([frame, more])) == [
        ("without_skill", "a", 1.0, None),
        ("without_skill", "b", 1.0, 0.0),
        ("without_skill", "c", None, 0.5),
    ]


def test_a_single_arm_has_no_partner() -> None:
    """Neither a candidate alone nor a baseline alone is compared, nor is a skill without arms."""
    for mode in ("with_skill", "without_skill", "direct"):
        assert paired(rows((mode, "t", 1.0, "m"))) == []


def test_arms_of_an_unknown_model_are_arms_of_one_model() -> None:
    """A null model equals a null model, and no other."""
    frame = rows(
        ("with_skill", "t", 1.0, None), ("without_skill", "t", 0.0, None), ("without_skill", "t", 0.5, "m")
    )
    assert paired(frame) == [("without_skill", "t", 1.0, 0.0)]
