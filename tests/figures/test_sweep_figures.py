"""The figures of a sweep: levels, two settings together, and all jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
import vl_convert

from skilleval.figures import SWEEP_FIGURES
from skilleval.figures.parallel import MAX_LINES

ABOUT = {"metric": "completion_rate", "title": "completion"}
LEVELS = [
    {"setting": "model", "level": level, "mean": mean, "low": low, "high": 0.9, "n_tasks": 20, **ABOUT}
    for level, mean, low in (("a", 0.5, 0.4), ("b", 0.7, None))
]
CROSSED = [
    {"setting_a": "model", "level_a": a, "setting_b": "scorer", "level_b": b, "mean": mean, **ABOUT}
    for a, b, mean in (("a", "x", 0.2), ("a", "y", 0.4), ("b", "x", 0.6), ("b", "y", 0.5))
]
JOBS = [
    {
        "job": job,
        "setting.model": model,
        "setting.temperature": heat,
        "setting.fixed": "x",
        "mean": mean,
        **ABOUT,
    }
    for job, (model, heat, mean) in enumerate((("b", 0.5, 0.2), ("a", 0.0, 0.4), ("a", 1.0, None)))
]


def spec(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Give the specification of a figure of some rows."""
    return dict(SWEEP_FIGURES[name].chart(pl.DataFrame(rows, infer_schema_length=None)).to_dict())


def drawn(found: Mapping[str, Any], column: str) -> list[dict[str, Any]]:
    """Give the rows that are drawn."""
    return next(list(rows) for rows in found["datasets"].values() if any(column in row for row in rows))


@pytest.mark.parametrize(
    ("name", "rows"), [("effects", LEVELS), ("interaction", CROSSED), ("parallel", JOBS)]
)
def test_every_figure_can_be_drawn_on_the_page_and_on_paper(name: str, rows: list[dict[str, Any]]) -> None:
    """The renderer takes both without a complaint."""
    assert vl_convert.vegalite_to_svg(spec(name, rows))
    paper = SWEEP_FIGURES[name].chart(pl.DataFrame(rows, infer_schema_length=None), paper=True)
    assert vl_convert.vegalite_to_svg(paper.to_dict())


def test_levels_stand_below_the_name_of_their_setting() -> None:
    """A heading a setting, then a row a level; a level without an interval keeps its point."""
    rows = drawn(spec("effects", LEVELS), "row")
    assert [row["row"] for row in rows] == ["model\n", "model\na", "model\nb"]
    assert [row.get("low") for row in rows] == [None, 0.4, None]


def test_lines_of_two_settings_differ_in_more_than_colour() -> None:
    """Each has a dash and a mark of its own."""
    line, mark = (layer["encoding"] for layer in spec("interaction", CROSSED)["layer"])
    assert len({str(dash) for dash in line["strokeDash"]["scale"]["range"]}) == 2
    assert len(set(mark["shape"]["scale"]["range"])) == 2


def test_a_job_is_a_line_from_its_settings_to_the_metric() -> None:
    """Settings with one level have no axis, jobs without the metric no line; numbers are in order."""
    rows = drawn(spec("parallel", JOBS), "told")
    assert {row["job"] for row in rows} == {0, 1}
    assert [row["axis"] for row in rows if row["job"] == 0] == ["model", "temperature", "completion"]
    ends = {(row["job"], row["axis"]): row["at"] for row in rows}
    assert ends[0, "completion"] == 0
    assert ends[1, "completion"] == 1
    assert ends[1, "temperature"] < ends[0, "temperature"]


def test_too_many_jobs_are_cut_in_the_middle_and_it_is_said() -> None:
    """The best and the worst are drawn."""
    many = [
        {**JOBS[0], "job": job, "setting.model": str(job % 2), "mean": job / 1000}
        for job in range(MAX_LINES + 10)
    ]
    jobs = {row["job"] for row in drawn(spec("parallel", many), "told")}
    assert len(jobs) == MAX_LINES
    assert {0, MAX_LINES + 9} <= jobs
    assert (
        SWEEP_FIGURES["parallel"].cut(pl.DataFrame(many))
        == "10 jobs in the middle of the metric are left out."
    )
    assert SWEEP_FIGURES["parallel"].cut(pl.DataFrame(JOBS)) == ""


def test_a_sweep_that_ended_level_has_a_scale_all_the_same() -> None:
    """One value for all jobs is no division by zero."""
    level = [{**job, "mean": 0.5} for job in JOBS]
    assert {row["at"] for row in drawn(spec("parallel", level), "told") if row["axis"] == "completion"} == {
        0.5
    }


def test_amounts_are_drawn_on_the_range_that_they_have() -> None:
    """Only shares have an axis from 0 to 1."""
    times = [{**row, "metric": "latency_ms", "title": "latency (ms)", "mean": 1200.0} for row in LEVELS]
    point = spec("effects", times)["layer"][1]["encoding"]["x"]
    assert "domain" not in point["scale"]
    assert point["axis"]["title"] == "latency (ms)"
