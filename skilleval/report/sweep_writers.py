"""The formats of a sweep's report. A new one is one module, and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilleval.report import Writer

if TYPE_CHECKING:
    from skilleval.report.sweep_document import SweepReport


SWEEP_WRITERS: dict[str, Writer[SweepReport]] = {
    "html": Writer(suffix=".html", module="skilleval.report.sweep_html"),
    "csv": Writer(suffix=".csv", module="skilleval.report.sweep_csv"),
    "json": Writer(suffix=".json", module="skilleval.report.sweep_json"),
    "latex": Writer(suffix=".tex", module="skilleval.report.sweep_latex"),
    "markdown": Writer(suffix=".md", module="skilleval.report.sweep_markdown"),
    "notebook": Writer(suffix=".ipynb", module="skilleval.report.sweep_notebook", reads_rows=True),
}
