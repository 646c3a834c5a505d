"""Latency is drawn as a distribution, a line a skill."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import vl_convert
from reports import CALCULATOR, FLAKY, summary_frame

from skilleval.figures.latency import chart

TIMES = {
    "min_ms": 10.0,
    "p10_ms": 11.0,
    "p25_ms": 12.0,
    "p50_ms": 13.0,
    "p75_ms": 14.0,
    "p90_ms": 15.0,
    "p95_ms": 16.0,
    "p99_ms": 17.0,
    "max_ms": 18.0,
}


def spec(*rows: Mapping[str, Any]) -> dict[str, Any]:
    """Give the specification of the chart of some rows."""
    found: dict[str, Any] = chart(summary_frame(*rows)).to_dict()
    return found


def points(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the rows that are drawn."""
    return [row for rows in found["datasets"].values() for row in rows]


def test_every_percentile_is_a_point_from_0_to_1() -> None:
    """The line rises from the shortest latency at 0 to the longest at 1."""
    drawn = points(spec(CALCULATOR | TIMES))
    assert [(row["latency_ms"], row["share"]) for row in drawn] == list(
        zip(TIMES.values(), (0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1), strict=True)
    )


def test_two_scorers_of_one_condition_share_a_line() -> None:
    """Latency belongs to the trials, not to who judged them."""
    drawn = points(spec(CALCULATOR | TIMES | {"scorer": "a"}, CALCULATOR | TIMES | {"scorer": "b"}))
    assert len(drawn) == len(TIMES)


def test_a_wide_range_is_drawn_on_a_logarithmic_axis() -> None:
    """A slow skill does not press a fast one into the axis."""
    slow = FLAKY | {name: value * 100 for name, value in TIMES.items()}
    scales = [
        spec(*rows)["layer"][0]["encoding"]["x"]["scale"]
        for rows in ([CALCULATOR | TIMES], [CALCULATOR | TIMES, slow])
    ]
    assert "type" not in scales[0]
    assert scales[1]["type"] == "log"


def test_unknown_latencies_draw_nothing_and_break_nothing() -> None:
    """A skill that never ran has no line; a report of only such skills still renders."""
    found = spec(CALCULATOR | dict.fromkeys(TIMES))
    assert points(found) == []
    assert "<svg" in vl_convert.vegalite_to_svg(found)


def test_a_tick_is_a_plain_number_of_milliseconds() -> None:
    """A thousandth or a thousand of a unit that has a prefix already would be read wrong: `100m`, `1k`."""
    fast = CALCULATOR | {name: value / 100 for name, value in TIMES.items()}
    slow = FLAKY | {name: value * 100 for name, value in TIMES.items()}
    drawing = vl_convert.vegalite_to_svg(spec(fast, slow))
    ticks = [text for text in re.findall(r">([^<>]+)</text>", drawing) if re.match(r"[\d.]", text)]
    assert {"0.1", "1,000"} <= set(ticks)
    assert not any(re.search(r"\d[mkµ]$", text) for text in ticks)


def test_names_that_would_be_cut_stand_below_each_other() -> None:
    """A legend of long names has one column, and no name is left out, however many there are."""
    rows = [
        CALCULATOR | TIMES | {"skill_id": f"one-word-answers-{i}-without_skill", "condition_id": str(i)}
        for i in range(40)
    ]
    legend = spec(*rows)["layer"][0]["encoding"]["stroke"]["legend"]
    assert (legend["columns"], legend["symbolLimit"]) == (1, 0)
