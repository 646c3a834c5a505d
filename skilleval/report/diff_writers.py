"""The formats of a comparison. A new one is one module, and one line here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skilleval.report.diff_document import Diff


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffWriter:
    """One format: the suffix of its files and the module that writes it.

    The module offers `render(diff)`, which is pure; it is imported only to write. What `reads_rows` reads the tables
    of both runs when it is opened: `render` takes their folders to lie beside it.
    """

    suffix: str
    module: str
    reads_rows: bool = False

    def render(self, diff: Diff) -> str:
        """Give the whole text of a comparison in this format."""
        rendered: str = import_module(self.module).render(diff)
        return rendered


DIFF_WRITERS: dict[str, DiffWriter] = {
    "html": DiffWriter(suffix=".html", module="skilleval.report.diff_html"),
    "csv": DiffWriter(suffix=".csv", module="skilleval.report.diff_csv"),
    "json": DiffWriter(suffix=".json", module="skilleval.report.diff_json"),
    "comment": DiffWriter(suffix=".comment.md", module="skilleval.report.diff_comment"),
    "github": DiffWriter(suffix=".github.md", module="skilleval.report.diff_github"),
    "latex": DiffWriter(suffix=".tex", module="skilleval.report.diff_latex"),
    "junit": DiffWriter(suffix=".xml", module="skilleval.report.diff_junit"),
    "markdown": DiffWriter(suffix=".md", module="skilleval.report.diff_markdown"),
    "notebook": DiffWriter(suffix=".ipynb", module="skilleval.report.diff_notebook", reads_rows=True),
}
