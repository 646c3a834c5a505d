"""Figures are drawn from the rows of a report."""

from __future__ import annotations

from reports import CALCULATOR, report_of

from skilleval.report.charts import figures


def test_every_figure_fills_its_page() -> None:
    """A figure has a title, a caption, and the width of its container."""
    drawn = figures(report_of(CALCULATOR | {"min_ms": 1.0, "max_ms": 2.0}))
    assert [figure.name for figure in drawn] == ["completion", "latency"]
    for figure in drawn:
        assert figure.title
        assert figure.caption
        assert figure.spec["width"] == "container"


def test_without_rows_nothing_is_drawn() -> None:
    """A run that evaluated nothing has no figure."""
    assert figures(report_of(manifest={})) == ()


def test_names_in_charts_are_safe_and_rows_are_not_changed() -> None:
    """A chart shows hidden characters spelled out; the summary keeps the id as it is."""
    report = report_of(CALCULATOR | {"skill_id": "a\u202eb"})
    (completion,) = figures(report)
    (data,) = (rows for rows in completion.spec["datasets"].values() if "rate" in rows[0])
    assert data[0]["skill"] == "a\\u202eb"
    assert report.summary[0]["skill_id"] == "a\u202eb"
