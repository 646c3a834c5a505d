"""Figures are drawn from the rows of a report."""

from __future__ import annotations

from reports import CALCULATOR, demo_report, report_of

from skilleval.report.charts import figures


def test_every_figure_fills_its_page() -> None:
    """A figure has a title, a caption, and the width of its container."""
    (figure,) = figures(demo_report())
    assert figure.title
    assert figure.caption
    assert figure.spec["width"] == "container"


def test_without_rows_nothing_is_drawn() -> None:
    """A run that evaluated nothing has no figure."""
    assert figures(report_of(manifest={})) == ()


def test_names_in_charts_are_safe_and_rows_are_not_changed() -> None:
    """A chart shows hidden characters spelled out; the summary keeps the id as it is."""
    report = report_of(CALCULATOR | {"skill_id": "a\u202eb"})
    (figure,) = figures(report)
    (data,) = (rows for rows in figure.spec["datasets"].values() if "rate" in rows[0])
    assert data[0]["skill"] == "a\\u202eb"
    assert report.summary[0]["skill_id"] == "a\u202eb"
