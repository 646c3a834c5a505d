"""The formats of a comparison. A new one is one module, and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilleval.report import Writer

if TYPE_CHECKING:
    from skilleval.report.diff_document import Diff


DIFF_WRITERS: dict[str, Writer[Diff]] = {
    "html": Writer(suffix=".html", module="skilleval.report.diff_html"),
    "csv": Writer(suffix=".csv", module="skilleval.report.diff_csv"),
    "json": Writer(suffix=".json", module="skilleval.report.diff_json"),
    "comment": Writer(suffix=".comment.md", module="skilleval.report.diff_comment"),
    "github": Writer(suffix=".github.md", module="skilleval.report.diff_github"),
    "latex": Writer(suffix=".tex", module="skilleval.report.diff_latex"),
    "junit": Writer(suffix=".xml", module="skilleval.report.diff_junit"),
    "markdown": Writer(suffix=".md", module="skilleval.report.diff_markdown"),
    "notebook": Writer(suffix=".ipynb", module="skilleval.report.diff_notebook", reads_rows=True),
}
