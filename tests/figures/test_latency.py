"""Latency and cost are drawn as distributions, a line a skill."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from skilleval.figures import cost, latency
from skilleval.figures.export import svg

ROW: dict[str, Any] = {
    "condition_id": "c",
    "skill_id": "calculator",
    "mode": "direct",
    "values": [10.0, 12.0, 15.0],
    "shares": [0.25, 0.75, 1.0],
    "n": 4,
    "n_censored": 1,
}


def spec(*rows: Mapping[str, Any], module: Any = latency) -> dict[str, Any]:
    """Give the specification of the chart of some rows."""
    found: dict[str, Any] = module.chart(pl.DataFrame(list(rows))).to_dict()
    return found


def lines(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the lines that are drawn, whole."""
    (rows,) = (rows for rows in found["datasets"].values() if isinstance(rows[0]["value"], Sequence))
    return list(rows)


def faster(times: float, **changes: Any) -> dict[str, Any]:
    """Give a row whose values are so many times larger."""
    return ROW | {"condition_id": f"c{times}", "values": [value * times for value in ROW["values"]]} | changes


def test_a_line_is_the_whole_distribution() -> None:
    """It rises from the smallest value at 0 to the largest at 1, in steps: between two values nothing happens."""
    found = spec(ROW)
    assert lines(found)[0]["value"] == [10.0, 10.0, 12.0, 15.0]
    assert lines(found)[0]["share"] == [0.0, 0.25, 0.75, 1.0]
    assert found["layer"][0]["mark"]["interpolate"] == "step-after"
    assert found["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 1]


def test_the_pointer_finds_the_values_of_the_percentiles() -> None:
    """The median that a pointer reads is the smallest value that half of the trials do not exceed."""
    (points,) = (rows for rows in spec(ROW)["datasets"].values() if len(rows) == 9)
    assert [point["value"] for point in points] == [10.0, 10.0, 10.0, 12.0, 12.0, 15.0, 15.0, 15.0, 15.0]
    assert {(point["n"], point["n_censored"]) for point in points} == {(4, 1)}


@pytest.mark.parametrize(("times", "kind"), [(2, None), (100, "log")])
def test_a_wide_range_is_drawn_on_a_logarithmic_axis(times: float, kind: str | None) -> None:
    """A slow skill does not press a fast one into the axis."""
    scale = spec(ROW, faster(times))["layer"][0]["encoding"]["x"]["scale"]
    assert scale.get("type") == kind


def test_a_tick_is_a_plain_number() -> None:
    """A thousandth or a thousand of a unit that has a prefix already would be read wrong: `100m`, `1k`."""
    picture = svg(spec(faster(0.01), faster(100)))
    ticks = [text for text in re.findall(r">([^<>]+)</text>", picture) if re.match(r"[\d.]", text)]
    assert {"0.1", "1,000"} <= set(ticks)
    assert not any(re.search(r"\d[mkµ]$", text) for text in ticks)


def test_cost_has_the_same_form_in_its_own_unit() -> None:
    """An axis in dollars, nothing else."""
    found = spec(ROW, module=cost)
    assert found["layer"][0]["encoding"]["x"]["axis"]["title"] == "cost of a trial in USD"
    assert lines(found) == lines(spec(ROW))


def test_up_to_eight_lines_are_named_where_they_are() -> None:
    """Each name stands at a height of its own, and there is no legend; more lines have one, of all of them."""
    few = [faster(times, skill_id=f"s{times}") for times in range(1, 9)]
    found = spec(*few)
    (names,) = (rows for rows in found["datasets"].values() if "side" in rows[0])
    assert len({row["share"] for row in names}) == 8
    assert found["layer"][0]["encoding"]["stroke"]["legend"] is None
    legend = spec(*few, faster(9, skill_id="s9"))["layer"][0]["encoding"]["stroke"]["legend"]
    assert legend["symbolLimit"] == 0
    assert "columns" not in legend


def test_names_that_would_be_cut_stand_below_each_other() -> None:
    """A legend of long names has one column."""
    rows = [faster(times, skill_id=f"one-word-answers-{times}-without_skill") for times in range(1, 40)]
    assert spec(*rows)["layer"][0]["encoding"]["stroke"]["legend"]["columns"] == 1


def test_baselines_are_dashed_where_there_are_arms() -> None:
    """In the colour of their skill they would look like it."""
    found = spec(ROW | {"mode": "with_skill"}, faster(2, mode="without_skill"))
    dash = found["layer"][0]["encoding"]["strokeDash"]["scale"]
    assert dict(zip(dash["domain"], map(tuple, dash["range"]), strict=True)) == {
        "with_skill": (1, 0),
        "without_skill": (6, 4),
    }
    assert "strokeDash" not in spec(ROW)["layer"][0]["encoding"]


def test_long_names_are_told_apart_in_the_legend() -> None:
    """Its labels are shortened in their middle, or numbered, where an end that is cut off would make them equal."""
    names = [f"{'a' * 30}-{n:02}-{'b' * 30}" for n in range(12)]
    rows = [faster(n + 1, skill_id=name, condition_id=name) for n, name in enumerate(names)]
    found = re.findall(r">(a+…[^<]+)</text>", svg(spec(*rows)))
    assert len(found) == len(set(found)) == len(names)
