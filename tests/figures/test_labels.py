from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.figures.labels import condition_labels, fitting_labels, row_labels


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


def test_a_label_that_does_not_fit_is_shortened_in_its_middle() -> None:
    """Beginning and end tell names apart; those that would become one are numbered."""
    long = [f"a-skill-with-a-long-name-{name}-of-many" for name in ("x", "y")]
    assert fitting_labels(["short", *long]) == ["short", "a-skill-wit…-x-of-many", "a-skill-wit…-y-of-many"]
    same = [f"a-skill-with-{middle}-in-its-long-middle" for middle in ("x", "y")]
    assert len(set(fitting_labels(same))) == 2
    assert max(map(len, fitting_labels([*long, "n" * 500]))) == 22


def test_runs_tell_rows_apart_that_nothing_else_does() -> None:
    """The same skill in two runs has two names."""
    rows = [{"skill_id": "s", "scorer": "task", "condition_id": "c", "run_id": run} for run in ("r1", "r2")]
    assert condition_labels(rows) == ["s · r1", "s · r2"]
