from __future__ import annotations

import html
import re
from typing import Any

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.figures.export import svg
from skilleval.figures.labels import condition_labels, fitting_labels, row_labels
from skilleval.figures.layout import drawing, fitting_names, framed, headed, headed_rows


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
    assert fitting_labels(same)[::-1] == fitting_labels(same[::-1])
    assert max(map(len, fitting_labels([*long, "n" * 500]))) == 22


def test_runs_tell_rows_apart_that_nothing_else_does() -> None:
    """The same skill in two runs has two names."""
    rows = [{"skill_id": "s", "scorer": "task", "condition_id": "c", "run_id": run} for run in ("r1", "r2")]
    assert condition_labels(rows) == ["s · r1", "s · r2"]


@pytest.mark.parametrize("letters", [22, 28])
def test_names_that_differ_in_the_middle_are_numbered_beside_an_axis(letters: int) -> None:
    """They would look the same once they are shortened; names that still differ are not numbered, however long."""
    middle = [f"a-skill-{'with' * 5}-{one}-{'in-its-middle' * 2}" for one in ("x", "y")]
    end = [f"another-skill-{'with' * 5}-{one}" for one in ("x", "y")]
    names = ["short", *middle, *end, "é" * 50, "</script>'\"\\" + "n" * 40]
    shown = axis_labels(names, letters)
    assert len(set(shown)) == len(names)
    assert max(map(len, shown)) <= letters
    assert [label.partition(" #")[2] for label in shown] == ["", "1", "2", "", "", "", ""]
    assert shown[0] == "short"
    assert axis_labels(names[::-1], letters) == shown[::-1]


def test_a_name_beside_an_axis_is_never_part_of_its_expression() -> None:
    """Rows are known by their place alone, whatever their names are."""
    names = [f"'+alert(1)+'{'x' * 30}{one}{'y' * 30}" for one in "ab"]
    assert "alert" not in fitting_names(names, "datum.label")
    assert [label[-2:] for label in axis_labels(names, 28)] == ["#1", "#2"]


def test_names_below_a_heading_are_told_apart_once() -> None:
    """The same name below two headings has the same label, and a heading is none of the names."""
    long = [f"{'a' * 20}{one}{'b' * 20}" for one in "xy"]
    rows = [headed(tag, name) for tag in ("s", "t") for name in ("", *long)]
    chart = framed(
        [drawing([{"row": row} for row in rows]).mark_point().encode(y=headed_rows(rows))], height=200
    )
    found = re.findall(r">([^<>]+)</text>", svg(chart.to_dict()))
    assert [text for text in found if len(text) > 1] == [f"{'a' * 11}…{'b' * 12} #{n}" for n in (1, 2)] * 2


def test_letters_of_two_halves_are_not_cut_between_them() -> None:
    """Emoji are two units of UTF-16 each, and those of two letters' width get half as much room."""
    emoji, letters = "\U0001f600" * 40, "\U0001d518" * 40
    assert axis_labels([emoji], 28) == ["\U0001f600" * 3 + "…" + "\U0001f600" * 3]
    assert axis_labels([letters], 28) == ["\U0001d518" * 6 + "…" + "\U0001d518" * 7]
    wide = [f"{'長' * 20}{one}{'短' * 20}" for one in "ab"]
    assert axis_labels(wide, 28) == [f"{'長' * 4}…{'短' * 5} #{n}" for n in (1, 2)]


def axis_labels(names: list[str], letters: int) -> list[str]:
    """Draw names beside an axis and read them back."""
    axis = alt.Axis(labelExpr=fitting_names(names, "datum.label", letters), labelLimit=0)
    scale = alt.Scale(domain=names)
    chart = framed(
        [
            drawing([{"row": name} for name in names])
            .mark_point()
            .encode(y=alt.Y("row:N", scale=scale, axis=axis))
        ],
        height=300,
    )
    found = re.findall(r'<g class="mark-text role-axis-label".*?</g>', svg(chart.to_dict()), re.DOTALL)
    return [html.unescape(text) for text in re.findall(r">([^<>]+)</text>", found[0])]
