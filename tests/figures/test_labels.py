from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.figures.labels import condition_labels, row_labels


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ([], []),
        ([{"skill_id": "a"}, {"skill_id": "b"}], ["a", "b"]),
        (
            [
                {"skill_id": "a", "skill_version": "1"},
                {"skill_id": "a", "skill_version": "2"},
                {"skill_id": "b"},
            ],
            ["a · 1", "a · 2", "b"],
        ),
        (
            [{"skill_id": "a", "model": "m"}, {"skill_id": "a", "model": "n"}],
            ["a · m", "a · n"],
        ),
        (
            [{"skill_id": "a", "scorer": "exact"}, {"skill_id": "b", "scorer": "contains"}],
            ["a · exact", "b · contains"],
        ),
        ([{"skill_id": "a", "scorer": "exact"}, {"skill_id": "b"}], ["a", "b"]),
        ([{"skill_id": "a"}, {"skill_id": "a"}], ["a #1", "a #2"]),
        ([{"skill_id": "a"}, {"skill_id": "a #1"}, {"skill_id": "a"}], ["a #2", "a #1", "a #3"]),
    ],
)
def test_a_row_is_named_by_what_tells_it_apart(rows: list[dict[str, Any]], labels: list[str]) -> None:
    """A name holds the skill and only those parts that differ; equal rows are numbered."""
    assert row_labels(rows) == labels


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "skill_id": st.text("a #1·", max_size=4),
                "skill_version": st.sampled_from(["1", "2", None]),
                "scorer": st.sampled_from(["x", "y", None]),
            }
        )
    )
)
def test_no_two_rows_share_a_name(rows: list[dict[str, Any]]) -> None:
    """Whatever the ids are, a chart can tell all rows apart."""
    labels = row_labels(rows)
    assert len(set(labels)) == len(rows)


def test_the_scorers_of_one_condition_share_its_name() -> None:
    """A condition is named without its scorer, and two conditions of a skill by what differs."""
    row = {"skill_id": "a", "condition_id": "c", "model": "m"}
    rows = [row | {"scorer": "x"}, row | {"scorer": "y"}, row | {"condition_id": "d", "model": "n"}]
    assert condition_labels(rows) == ["a · m", "a · m", "a · n"]
