from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from skilleval.analytics.pareto import pareto_front

CRITERIA = {"rate": False, "ms": True}


def front(rows: list[tuple[float | None, float | None]]) -> pl.DataFrame:
    """Mark rows of a rate (more is better) and a time (less is better), named a, b, c and so on."""
    frame = pl.DataFrame(rows, schema={"rate": pl.Float64(), "ms": pl.Float64()}, orient="row")
    named = frame.with_columns(name=pl.Series([chr(97 + at) for at in range(len(rows))], dtype=pl.String()))
    return pareto_front(named.with_row_index("id").lazy(), criteria=CRITERIA, key="id", name="name").collect()


def test_the_front_is_what_nothing_beats() -> None:
    """Better and slower stays, worse and slower does not, and names who beats it."""
    found = front([(0.9, 50.0), (0.8, 10.0), (0.8, 20.0), (0.7, 60.0)])
    assert found["on_front"].to_list() == [True, True, False, False]
    assert found["dominated_by"].to_list() == [[], [], ["b"], ["a", "b", "c"]]


def test_equals_do_not_beat_each_other() -> None:
    """To beat takes one criterion that is really better, not a hair of a sum."""
    assert front([(0.3, 1.0), (0.1 + 0.2, 1.0)])["on_front"].to_list() == [True, True]


def test_what_is_not_known_neither_beats_nor_is_beaten() -> None:
    """Null is no value that could be compared."""
    found = front([(1.0, None), (0.5, 5.0), (None, 1.0)])
    assert found["on_front"].to_list() == [None, True, None]
    assert found["dominated_by"].to_list() == [[], [], []]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([1.0, 2.0, 3.0])), min_size=1, max_size=8
    )
)
def test_the_front_is_never_empty_and_beats_the_rest(rows: list[tuple[float, float]]) -> None:
    """Plain comparison of every two rows says the same."""
    found = front([*rows])
    assert found["on_front"].any()
    for at, (rate, ms) in enumerate(rows):
        beaten = any(r >= rate and m <= ms and (r > rate or m < ms) for r, m in rows)
        assert found["on_front"][at] is not beaten
