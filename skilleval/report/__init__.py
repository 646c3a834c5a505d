"""Reports: a document of pure data, and the writers that turn it into text. A new writer is one line here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from skilleval.report.document import Report


Document = TypeVar("Document")


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer(Generic[Document]):
    """One format of one kind of document: the suffix of its files and the module that writes it.

    The module offers `render(document)`, which is pure; it is imported only to write. What `reads_rows` reads the
    tables of the runs when it is opened: `render` takes them to lie beside it.
    """

    suffix: str
    module: str
    reads_rows: bool = False

    def render(self, document: Document) -> str:
        """Give the whole text of a document in this format."""
        rendered: str = import_module(self.module).render(document)
        return rendered


WRITERS: dict[str, Writer[Report]] = {
    "html": Writer(suffix=".html", module="skilleval.report.html_writer"),
    "csv": Writer(suffix=".csv", module="skilleval.report.csv_writer"),
    "json": Writer(suffix=".json", module="skilleval.report.json_writer"),
    "comment": Writer(suffix=".comment.md", module="skilleval.report.comment"),
    "github": Writer(suffix=".github.md", module="skilleval.report.github"),
    "latex": Writer(suffix=".tex", module="skilleval.report.latex_writer"),
    "junit": Writer(suffix=".xml", module="skilleval.report.junit"),
    "markdown": Writer(suffix=".md", module="skilleval.report.markdown_writer"),
    "notebook": Writer(suffix=".ipynb", module="skilleval.report.notebook.writer", reads_rows=True),
}
