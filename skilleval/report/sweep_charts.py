"""The figures of a sweep, drawn from the rows of its report where a format shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skilleval.figures import SWEEP_FIGURES
from skilleval.report.charts import Figure, has_data
from skilleval.report.sweep_phrases import metric_label
from skilleval.report.text import one_line

if TYPE_CHECKING:
    from skilleval.report.sweep_document import Rows, SweepReport

_UNITS = {"ms": "ms", "USD": "USD", "tokens": "tokens"}


def sweep_figures(report: SweepReport, *, paper: bool = False) -> dict[str, Figure]:
    """Draw every figure of which a sweep has rows, by name."""
    import polars as pl

    parts: dict[str, Rows] = {"levels": report.levels, "crossed": report.crossed, "jobs": report.jobs}
    drawn = {}
    for name, topic in SWEEP_FIGURES.items():
        rows = [_visible(row, report) for row in parts[topic.part]]
        if not has_data(topic, rows):
            continue
        frame = pl.DataFrame(rows, infer_schema_length=None, strict=False)
        caption = " ".join(filter(None, (topic.caption, topic.cut(frame))))
        spec = topic.chart(frame, None, paper=paper).to_dict()
        drawn[name] = Figure(name=name, title=topic.title, caption=caption, spec=spec)
    return drawn


def _visible(row: Mapping[str, Any], report: SweepReport) -> dict[str, Any]:
    """Make every text of a row safe to look at, and tell what the axis of the metric is called."""
    shown = {name: one_line(value) if isinstance(value, str) else value for name, value in row.items()}
    unit = _UNITS.get(report.method.unit, "")
    title = f"{metric_label(report.method.metric)}{f' ({unit})' if unit else ''}"
    return {**shown, "metric": report.method.metric, "title": title}
