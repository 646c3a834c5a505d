"""What holds for every figure: it is the golden one, it can be drawn, and names never become anything but values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from diffs import diff_of, row_of
from figure_reports import drawn_report
from reports import HOSTILE

from skilleval.figures import FIGURES
from skilleval.figures.export import svg
from skilleval.report.charts import Figure, diff_figures, figures
from skilleval.report.document import Report

GOLDEN = Path(__file__).parent.parent / "golden" / "figures"
MARKS = {
    "uplift": 2,
    "completion": 3,
    "heatmap": 12,
    "latency": 3,
    "cost": 3,
    "pareto": 3,
    "pareto_cost": 3,
    "slices": 3,
    "agreement": 4,
    "difference": 1,
}
"""How many things each figure of the sample shows."""
SHOWN = {"latency": 'aria-roledescription="line mark"', "heatmap": 'aria-roledescription="rect mark"'}
SHOWN["cost"] = SHOWN["latency"]


def drawn(report: Report) -> dict[str, Figure]:
    """Draw everything, and the figure of a comparison."""
    found = (*figures(report, paper=True), *diff_figures(diff_of(row_of())))
    return {figure.name: figure for figure in found}


@pytest.fixture(scope="module")
def sample() -> dict[str, Figure]:
    """Draw the sample once."""
    return drawn(drawn_report())


def texts(value: Any) -> Iterator[str]:
    """Give every text of a specification but its data."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in {"datasets", "domain"}:
                yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def test_no_figure_is_forgotten(sample: Mapping[str, Figure]) -> None:
    """The sample has data for all of them, and each has its golden file."""
    assert set(sample) == {*FIGURES, "difference"} == {path.stem for path in GOLDEN.glob("*.json")}


@pytest.mark.parametrize("name", MARKS)
def test_a_figure_is_the_golden_one(name: str, sample: Mapping[str, Figure]) -> None:
    """Known rows give a known specification."""
    expected = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(sample[name].spec)) == expected


@pytest.mark.parametrize("name", MARKS)
def test_a_figure_shows_its_rows(name: str, sample: Mapping[str, Figure]) -> None:
    """Drawn without a network, it has a mark for each thing it is about, and its own data alone."""
    picture = svg(sample[name].spec)
    kind = SHOWN.get(name, 'aria-roledescription="point"')
    shown = picture.count(kind)
    extra = 3 if name == "heatmap" else 1  # a task has three repeats
    assert shown == MARKS[name] * extra
    assert "url" not in str(sample[name].spec["datasets"])


@pytest.mark.parametrize("name", MARKS)
def test_every_axis_of_amounts_has_a_title(name: str, sample: Mapping[str, Figure]) -> None:
    """What is drawn along an axis is named, with its unit where it has one."""
    for layer in sample[name].spec["layer"]:
        for channel in ("x", "y"):
            axis = layer["encoding"].get(channel, {})
            if axis.get("type") == "quantitative":
                assert axis["axis"]["title"]


@pytest.mark.parametrize("name", MARKS)
def test_every_figure_tells_n(name: str, sample: Mapping[str, Figure]) -> None:
    """A pointer learns how many trials, tasks or cases stand behind a mark."""
    fields = {
        item["field"] for layer in sample[name].spec["layer"] for item in layer["encoding"].get("tooltip", ())
    }
    assert {field for field in fields if field == "n" or field.startswith("n_")}


def test_hostile_names_are_values_and_nothing_else() -> None:
    """No text of a skill, task, tag or scorer gets into an expression or an encoding, and all can be drawn."""
    report = drawn_report()
    bad = "datum'\"]</script><b>\u202e"
    hostile = replace(
        report,
        summary=tuple({**row, "skill_id": f"{bad}{row['skill_id']}"} for row in report.summary),
        matrix=tuple(replace(cell, task_id=f"{HOSTILE}{cell.task_id}") for cell in report.matrix),
        slices=tuple(replace(one, tag=f"{bad}{one.tag}") for one in report.slices),
    )
    for name, figure in drawn(hostile).items():
        assert not [text for text in texts(figure.spec) if "</script>" in text], name
        picture = svg(figure.spec)
        assert "<script" not in picture
        assert "\u202e" not in picture
