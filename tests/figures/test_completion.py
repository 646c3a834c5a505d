from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import vl_convert
from reports import CALCULATOR, FLAKY, WRONG, summary_frame

from skilleval.figures.completion import chart

OURS = {"row", "skill", "scorer", "rate", "low", "high", "n_graded", "n_tasks", "colour", "threshold"}


def spec(*rows: Mapping[str, Any], threshold: float | None = None) -> dict[str, Any]:
    """Give the specification of the chart of some rows."""
    found: dict[str, Any] = chart(summary_frame(*rows), threshold).to_dict()
    return found


def data(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the rows that are drawn."""
    (rows,) = (rows for rows in found["datasets"].values() if "rate" in rows[0])
    return list(rows)


def fields(value: Any) -> Iterator[str]:
    """Give every field that any encoding names."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in {"field", "x2"} and isinstance(item, str):
                yield item
            yield from fields(item)
    elif isinstance(value, list):
        for item in value:
            yield from fields(item)


def test_a_rate_is_a_point_with_a_line_on_an_axis_from_0_to_1() -> None:
    """There is no bar, and the axis shows the whole range of a share."""
    found = spec(CALCULATOR)
    assert [layer["mark"]["type"] for layer in found["layer"]] == ["rule", "point"]
    assert {str(layer["encoding"]["x"]["scale"]["domain"]) for layer in found["layer"]} == {"[0, 1]"}


def test_the_drawn_rows_are_those_of_the_summary_in_their_order() -> None:
    """Values are passed on as they are; the axis keeps the order of the frame."""
    found = spec(FLAKY, CALCULATOR)
    assert [(row["row"], row["rate"], row["low"], row["high"]) for row in data(found)] == [
        ("flaky-calculator", 43 / 60, 0.5923, 0.8184),
        ("calculator", 1.0, 0.788948, 1.0),
    ]
    assert found["layer"][0]["encoding"]["y"]["scale"]["domain"] == ["flaky-calculator", "calculator"]


def test_the_gate_is_a_dashed_line_where_there_is_one() -> None:
    """The threshold is drawn behind the data."""
    found = spec(CALCULATOR, threshold=0.7)
    first = found["layer"][0]
    assert first["mark"]["strokeDash"] == [4, 3]
    assert found["datasets"][first["data"]["name"]] == [{"threshold": 0.7}]


def test_tooltips_show_n() -> None:
    """Every mark tells how many trials and tasks stand behind it."""
    for layer in spec(CALCULATOR)["layer"]:
        assert {"n_graded", "n_tasks"} <= {item["field"] for item in layer["encoding"]["tooltip"]}


def test_several_scorers_share_the_row_of_their_skill() -> None:
    """Scorers are apart by place and by shape; with one scorer there is neither."""
    found = spec(
        CALCULATOR | {"scorer": "exact"}, CALCULATOR | {"scorer": "contains"}, WRONG | {"scorer": "exact"}
    )
    assert [row["row"] for row in data(found)] == ["calculator", "calculator", "wrong-calculator"]
    encoding = found["layer"][-1]["encoding"]
    assert encoding["yOffset"]["scale"]["domain"] == ["exact", "contains"]
    assert encoding["shape"]["field"] == "scorer"
    assert not {"yOffset", "shape"} & spec(CALCULATOR)["layer"][-1]["encoding"].keys()


@pytest.mark.parametrize(
    "name", ["a.b[0]", "a\"b'c\\", "</script><b>", "", "a\nb", "datum.rate", "日本語", "a:Q"]
)
def test_a_hostile_id_is_a_value_and_never_a_field(name: str) -> None:
    """User text never names a field, so no id can break or change an encoding; the chart can be drawn."""
    found = spec(CALCULATOR | {"skill_id": name, "scorer": name}, WRONG | {"scorer": "other"})
    assert set(fields(found["layer"])) <= OURS
    assert data(found)[0]["skill"] == name
    assert vl_convert.vegalite_to_svg(found).count('aria-roledescription="point"') == 2


def test_what_is_not_known_is_not_drawn_but_keeps_its_row() -> None:
    """A skill without a rate has no mark, and its name is still on the axis."""
    svg = vl_convert.vegalite_to_svg(spec(CALCULATOR, {"skill_id": "lost", "condition_id": "x"}))
    assert svg.count('aria-roledescription="point"') == 1
    assert svg.count('aria-roledescription="rule mark"') == 1
    assert ">lost</text>" in svg


def test_thirty_skills_have_thirty_rows() -> None:
    """The chart grows with its rows."""
    rows = [CALCULATOR | {"skill_id": f"s{i}", "condition_id": f"c{i}"} for i in range(30)]
    found = spec(*rows)
    assert len(data(found)) == 30
    assert found["height"] == 30 * spec(CALCULATOR)["height"]


def test_long_names_that_differ_at_their_end_stay_different_on_the_axis() -> None:
    """A name is shortened in its middle, so that rows of one family can still be told apart."""
    long = "a-rather-long-name-of-a-skill-that-goes-on-and-on"
    rows = [CALCULATOR | {"skill_id": f"{long}-{i}", "condition_id": f"c{i}"} for i in range(2)]
    picture = vl_convert.vegalite_to_svg(spec(*rows) | {"width": 640})
    assert all(f">a-rather-long…es-on-and-on-{i}<" in picture for i in range(2))
