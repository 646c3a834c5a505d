from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import vl_convert
from arm_frames import UPLIFT, arm_report

from skilleval.figures.uplift import chart
from skilleval.report.charts import figures


def spec(*rows: Mapping[str, Any]) -> dict[str, Any]:
    """Give the specification of the chart of some rows."""
    found: dict[str, Any] = chart(pl.DataFrame(list(rows))).to_dict()
    return found


def drawn(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the rows that are drawn."""
    (rows,) = (rows for rows in found["datasets"].values() if "uplift" in rows[0])
    return list(rows)


def test_a_difference_is_a_point_with_a_line_around_zero() -> None:
    """The axis runs from −1 to 1 with zero marked; there is no bar."""
    found = spec(UPLIFT)
    assert [layer["mark"]["type"] for layer in found["layer"]] == ["rule", "rule", "point"]
    assert {str(layer["encoding"]["x"]["scale"]["domain"]) for layer in found["layer"]} == {"[-1, 1]"}
    assert vl_convert.vegalite_to_svg(found)


def test_values_are_passed_on_as_they_are() -> None:
    """A row without an interval keeps its point; both baselines of one skill are two rows."""
    old = UPLIFT | {"baseline": "old_skill", "uplift": -0.1, "uplift_low": None, "uplift_high": None}
    rows = drawn(spec(UPLIFT, old))
    assert [(row["row"], row["uplift"], row["low"]) for row in rows] == [
        ("csv-totals · without_skill", 0.42, 0.21),
        ("csv-totals · old_skill", -0.1, None),
    ]


def test_a_report_with_arms_has_the_figure_first() -> None:
    """What the skills add is drawn before how they did."""
    assert [figure.name for figure in figures(arm_report())] == ["uplift", "completion"]


def test_a_comparison_without_figures_is_not_drawn() -> None:
    """Where no case was graded in both arms there is nothing to draw."""
    lost = UPLIFT | {"uplift": None, "finding": "ungraded"}
    assert [figure.name for figure in figures(arm_report(uplift=[lost]))] == ["completion"]
