"""Figures are drawn from the rows of a report."""

from __future__ import annotations

from dataclasses import replace

import pytest
from diffs import METRIC, diff_of, row_of
from figure_reports import drawn_report, rater_pair
from reports import CALCULATOR, report_of

from skilleval.errors import ResultsError, UsageError
from skilleval.figures import FIGURES
from skilleval.report.agreement import Agreement
from skilleval.report.charts import diff_figures, draw, figures


def test_every_figure_fills_its_page() -> None:
    """A figure has a title, a caption, and the width of its container; what the page shows itself is left to paper."""
    drawn = figures(drawn_report())
    assert [figure.name for figure in drawn] == [name for name, topic in FIGURES.items() if topic.on_page]
    for figure in drawn:
        assert figure.title
        assert figure.caption.endswith(".")
        assert figure.spec["width"] == "container"


def test_paper_has_every_figure_in_the_width_of_a_column() -> None:
    """The same figures, and the heat map."""
    drawn = figures(drawn_report(), paper=True)
    assert [figure.name for figure in drawn] == list(FIGURES)
    assert {figure.spec["width"] for figure in drawn} == {240}


def test_a_figure_without_data_is_left_out() -> None:
    """A run with nothing but rates has a single figure, one that evaluated nothing has none."""
    assert [figure.name for figure in figures(report_of(CALCULATOR), paper=True)] == ["completion"]
    assert figures(report_of(manifest={})) == ()


def test_names_in_charts_are_safe_and_rows_are_not_changed() -> None:
    """A chart shows hidden characters spelled out; the summary keeps the id as it is."""
    report = report_of(CALCULATOR | {"skill_id": "a\u202eb"})
    (completion,) = figures(report)
    (data,) = (rows for rows in completion.spec["datasets"].values() if "rate" in rows[0])
    assert data[0]["skill"] == "a\\u202eb"
    assert report.summary[0]["skill_id"] == "a\u202eb"


def test_a_caption_says_what_was_left_out() -> None:
    """A figure that has no room for all names both numbers."""
    pairs = tuple(rater_pair(f"a{number}", "b", 0.5) for number in range(31))
    agreement = Agreement(raters=("a", "b"), n_trials=1, n_left_out=0, pairs=pairs)
    (figure,) = (
        one for one in figures(replace(drawn_report(), agreement=agreement)) if one.name == "agreement"
    )
    assert figure.caption.endswith("Shown: the 30 of 31 pairs that agree least.")


def test_several_runs_share_one_figure() -> None:
    """Skills of the same name are told apart by their run."""
    first = drawn_report()
    second = replace(first, run=replace(first.run, run_id="other-run"))
    found = draw("completion", [first, second]).to_dict()
    (data,) = (rows for rows in found["datasets"].values() if "rate" in rows[0])
    assert {row["row"] for row in data if row["skill"] == "calculator"} == {
        "calculator · 20260731T120000-4f2a",
        "calculator · other-run",
    }


def test_what_cannot_be_drawn_is_said() -> None:
    """An unknown name, no run, and a run without the data are mistakes with a way out."""
    with pytest.raises(UsageError, match="no such figure") as caught:
        draw("pie", [drawn_report()])
    assert "completion" in caught.value.problems[0].expected
    with pytest.raises(UsageError, match="no run"):
        draw("completion", [])
    with pytest.raises(ResultsError, match="nothing to draw as cost"):
        draw("cost", [report_of(CALCULATOR)])
    with pytest.raises(ResultsError, match="no graded trial has a known cost"):
        draw("pareto_cost", [report_of(CALCULATOR)])


def test_a_comparison_draws_its_differences() -> None:
    """Ratios and rows without a difference are no part of it."""
    ratio = METRIC | {"metric": "latency_ms", "kind": "ratio", "effect": 0.1}
    (figure,) = diff_figures(diff_of(row_of(metrics=(METRIC, ratio))))
    (data,) = (rows for rows in figure.spec["datasets"].values() if "effect" in rows[0])
    assert [(row["name"], row["metric"], row["effect"]) for row in data] == [
        ("s 1.0.0", "completion rate", -0.083)
    ]
    assert diff_figures(diff_of(row_of(metrics=()))) == ()
