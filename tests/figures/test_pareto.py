"""Quality against latency and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from reports import CALCULATOR, FLAKY, WRONG

from skilleval.figures import pareto, pareto_cost

ENDS = {"p50_ms_ci_low": 18.0, "p50_ms_ci_high": 25.0}
BEST = CALCULATOR | {"value": 20.0, "is_on_front": True}
FAST = WRONG | {"value": 5.0, "is_on_front": True}
BEATEN = FLAKY | {"value": 40.0, "is_on_front": False}


def spec(*rows: Mapping[str, Any], module: Any = pareto, threshold: float | None = None) -> dict[str, Any]:
    """Give the specification of the chart of some rows."""
    found: dict[str, Any] = module.chart(pl.DataFrame(list(rows)), threshold).to_dict()
    return found


def named(found: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Give the rows that have a column."""
    (rows,) = (rows for rows in found["datasets"].values() if key in rows[0])
    return list(rows)


def line(found: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Give the corners of the front."""
    layer = next(layer for layer in found["layer"] if layer["mark"]["type"] == "line")
    assert layer["mark"]["interpolate"] == "step-after"
    return [(row["value"], row["rate"]) for row in found["datasets"][layer["data"]["name"]]]


def test_the_front_is_a_stepped_line() -> None:
    """It goes from the fastest to the best, and on to where the slowest of all is; who is beaten is not on it."""
    assert line(spec(BEST, BEATEN, FAST)) == [(5.0, 0.0), (20.0, 1.0), (40.0, 1.0)]


def test_each_scorer_has_a_front_of_its_own() -> None:
    """Rates by different scorers are not joined; their points have shapes."""
    other = {"scorer": "judge"}
    found = spec(BEST, FAST, BEST | other | {"completion_rate": 0.5}, FAST | other)
    assert line(found) == [(5.0, 0.0), (20.0, 0.5), (20.0, 0.5), (5.0, 0.0), (20.0, 1.0), (20.0, 1.0)]
    (points,) = (layer for layer in found["layer"] if layer["mark"]["type"] == "point")
    assert points["encoding"]["shape"]["scale"]["domain"] == ["task", "judge"]


def test_both_intervals_are_drawn_where_they_are_known() -> None:
    """A latency has an interval, a mean cost has none."""
    point = named(spec(BEST | ENDS, FAST), "is_on_front")[0]
    assert (point["value_low"], point["value_high"]) == (18.0, 25.0)
    assert (point["low"], point["high"]) == (0.788948, 1.0)
    assert named(spec(BEST | ENDS, FAST, module=pareto_cost), "is_on_front")[0]["value_low"] is None


def test_who_is_beaten_is_pale_but_has_an_outline() -> None:
    """Paleness is of the fill alone, so that the point is still seen."""
    (points,) = (layer for layer in spec(BEST, BEATEN)["layer"] if layer["mark"]["type"] == "point")
    opacity = points["encoding"]["fillOpacity"]
    assert (opacity["condition"]["test"], opacity["condition"]["value"]) == ("datum.is_on_front", 1)
    assert 0 < opacity["value"] < 1
    assert points["mark"]["stroke"]


def test_of_many_only_the_front_is_named() -> None:
    """Up to eight points have a name; beyond that, those that one looks for."""
    few = [BEATEN | {"condition_id": f"c{n}", "skill_id": f"s{n}"} for n in range(6)]
    assert all("place" in row for row in named(spec(BEST, FAST, *few), "is_on_front"))
    found = named(spec(BEST, FAST, *few, BEATEN), "is_on_front")
    assert {row["row"] for row in found if row["place"]} == {"calculator", "wrong-calculator"}


def test_points_on_one_place_have_one_name() -> None:
    """Names would lie on each other: the first stands for all, with how many more skills there are."""
    alike = [BEST | {"skill_id": f"s{n}", "condition_id": f"c{n}"} for n in range(12)]
    rows = named(spec(*alike, FAST), "label")
    assert [row["label"] for row in rows if row.get("label")] == ["s0 +11", "wrong-calculator"]
    twice = named(spec(BEST, BEST | {"scorer": "judge"}), "label")
    assert [row["label"] for row in twice if row.get("label")] == ["calculator"]


def test_the_gate_is_a_dashed_line() -> None:
    """It lies across at the completion that was asked for."""
    layer = spec(BEST, FAST, threshold=0.7)["layer"][0]
    assert layer["mark"]["strokeDash"]
    assert layer["encoding"]["y"]["field"] == "threshold"
