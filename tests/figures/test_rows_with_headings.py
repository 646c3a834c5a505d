"""Figures with a heading above their rows, and the one of agreement."""

from __future__ import annotations

from typing import Any

import polars as pl
from diffs import METRIC

from skilleval.figures import agreement, difference, slices
from skilleval.figures.export import svg

SLICE: dict[str, Any] = {
    "condition_id": "c",
    "skill_id": "adder",
    "scorer": "task",
    "tag": "sums",
    "n_tasks": 2,
    "n_graded": 6,
    "completion_rate": 0.5,
    "ci_low": 0.2,
    "ci_high": 0.8,
}
PAIR: dict[str, Any] = {
    "rater_a": "a",
    "rater_b": "b",
    "n_both": 9,
    "percent_agreement": 0.8,
    "kappa": 0.5,
    "kappa_low": 0.1,
    "kappa_high": 0.7,
    "kendall_tau": None,
}
CHANGE = METRIC | {"name": "adder 1.0.0", "skill_id": "adder"}


def test_a_tag_is_a_heading_and_its_skills_stand_below_it() -> None:
    """Names are read at the axis, so that no colour need be told; a tag that two skills share is written once."""
    rows = pl.DataFrame([SLICE, SLICE | {"condition_id": "d", "skill_id": "other"}, SLICE | {"tag": "text"}])
    picture = svg(slices.chart(rows, 0.7).to_dict())
    assert [picture.count(f">{text}</text>") for text in ("sums", "text", "adder", "other")] == [1, 1, 2, 1]
    assert picture.count('font-weight="bold"') == 2
    assert picture.count('aria-roledescription="rule mark"') == 4


def test_tags_without_room_are_counted() -> None:
    """Those with most tasks stay."""
    small = [SLICE | {"tag": f"t{n:02}", "n_tasks": 1} for n in range(40)]
    rows = pl.DataFrame([*small, SLICE | {"tag": "z", "n_tasks": 9}])
    assert slices.cut(rows) == "Shown: the 30 of 41 tags that have most tasks."
    assert ">z</text>" in svg(slices.chart(rows).to_dict())
    assert slices.cut(pl.DataFrame([SLICE])) == ""


def test_the_pairs_that_agree_least_come_first() -> None:
    """A pair without a coefficient keeps its row, at the end; Kendall's tau is a second mark where it is known."""
    rows = pl.DataFrame(
        [
            PAIR | {"rater_b": "none", "kappa": None},
            PAIR,
            PAIR | {"rater_b": "c", "kappa": 0.2, "kendall_tau": 1.0},
        ],
        infer_schema_length=None,
    )
    found = agreement.chart(rows).to_dict()
    assert found["layer"][1]["encoding"]["y"]["scale"]["domain"] == ["a × c", "a × b", "a × none"]
    assert svg(found).count('aria-roledescription="point"') == 3
    assert found["layer"][1]["encoding"]["x"]["scale"]["domain"] == [-1, 1]


def test_a_difference_stands_around_zero_with_its_margin() -> None:
    """The metric is the heading; both ends of the margin are dashed lines."""
    found = difference.chart(pl.DataFrame([CHANGE])).to_dict()
    margin = found["layer"][0]
    assert margin["mark"]["strokeDash"]
    assert found["datasets"][margin["data"]["name"]] == [{"margin": -0.02}, {"margin": 0.02}]
    picture = svg(found)
    assert ">completion rate</text>" in picture
    assert ">adder 1.0.0</text>" in picture
