"""The formats of a sweep's report. A new one is one module, and one line here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skilleval.report.sweep_document import SweepReport


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepWriter:
    """One format: the suffix of its files and the module that writes it.

    The module offers `render(report)`, which is pure; it is imported only to write. What `reads_rows` reads the runs of
    the sweep when it is opened: `render` takes it to lie in the folder of the sweep.
    """

    suffix: str
    module: str
    reads_rows: bool = False

    def render(self, report: SweepReport) -> str:
        """Give the whole text of a sweep's report in this format."""
        rendered: str = import_module(self.module).render(report)
        return rendered


SWEEP_WRITERS: dict[str, SweepWriter] = {
    "html": SweepWriter(suffix=".html", module="skilleval.report.sweep_html"),
    "csv": SweepWriter(suffix=".csv", module="skilleval.report.sweep_csv"),
    "json": SweepWriter(suffix=".json", module="skilleval.report.sweep_json"),
    "latex": SweepWriter(suffix=".tex", module="skilleval.report.sweep_latex"),
    "markdown": SweepWriter(suffix=".md", module="skilleval.report.sweep_markdown"),
    "notebook": SweepWriter(suffix=".ipynb", module="skilleval.report.sweep_notebook", reads_rows=True),
}
