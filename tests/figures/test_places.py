"""Names beside points, and axes of amounts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilleval.figures.amounts import amount_axis, is_wide
from skilleval.figures.places import SIDES, Mark, name_places, text_offset


def test_a_name_stands_right_of_its_point_while_there_is_room() -> None:
    """At the right edge it stands on the left."""
    marks = [Mark(name="fast", amount=1.0, share=0.5), Mark(name="slow", amount=100.0, share=0.5)]
    assert name_places(marks) == ["right", "left"]


def test_names_do_not_cover_each_other() -> None:
    """Two points beside each other are named on different sides."""
    marks = [Mark(name="first-one", amount=50.0, share=0.5), Mark(name="second-one", amount=52.0, share=0.5)]
    assert len(set(name_places([*marks, Mark(name="x", amount=100.0, share=0.0)]))) > 1


def test_a_crowded_corner_has_room_a_line_further() -> None:
    """Three slow skills that pass everything are named without one name over another."""
    names, amounts = ("node-tools", "calculator", "slow-calculator"), (166.0, 205.0, 290.0)
    slow = [
        Mark(name=name, amount=amount, share=1.0, shares=(0.8, 1.0))
        for name, amount in zip(names, amounts, strict=True)
    ]
    found = name_places([Mark(name="http", amount=3.8, share=1.0), *slow])
    assert len(set(found[1:])) == len(slow)


def test_a_name_keeps_off_lines_and_intervals() -> None:
    """A line to the right of a point sends its name elsewhere."""
    mark = Mark(name="one", amount=50.0, share=0.5)
    far = Mark(name="far", amount=100.0, share=0.1)
    assert name_places([mark, far], [((50.0, 0.5), (100.0, 0.5))])[0] != "right"
    lying = Mark(name="one", amount=50.0, share=0.5, amounts=(50.0, 90.0))
    assert name_places([lying, far])[0] != "right"


def test_only_the_sides_that_are_offered_are_taken() -> None:
    """Lines are named left or right."""
    marks = [Mark(name="n" * 20, amount=float(n), share=0.5) for n in range(6)]
    assert set(name_places(marks, sides=("right", "left"))) <= {"right", "left"}


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1), st.text(max_size=30)), max_size=8))
def test_every_point_gets_a_side(points: list[tuple[float, float, str]]) -> None:
    """Whatever the amounts, zero and equal ones included."""
    marks = [Mark(name=name, amount=amount, share=share) for amount, share, name in points]
    found = name_places(marks)
    assert len(found) == len(marks)
    assert set(found) <= set(SIDES)


@pytest.mark.parametrize("side", SIDES)
def test_a_text_is_moved_away_from_its_point(side: str) -> None:
    """To the right means that it begins there."""
    offset = text_offset(side)
    assert offset["dx"] or offset["dy"]
    assert (offset["align"] == "left") == ("right" in side)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([12.0, 900.0], [20, 50, 100, 200, 500]),
        ([1.0, 5000.0], [1, 10, 100, 1000]),
    ],
)
def test_a_logarithmic_axis_has_round_ticks(values: list[float], ticks: list[float]) -> None:
    """Powers of ten over a wide range, with 2 and 5 between them over a small one; never one beyond the data."""
    axis = amount_axis(values, title="t", value_format="")["axis"]
    assert axis["values"] == pytest.approx(ticks)


def test_zero_keeps_an_axis_linear() -> None:
    """A logarithm of nothing is none; nothing at all is drawn on a linear axis too."""
    assert [is_wide(values) for values in ([0.0, 1e6], [], [1.0, 2.0], [1.0, 1e6])] == [
        False,
        False,
        False,
        True,
    ]
