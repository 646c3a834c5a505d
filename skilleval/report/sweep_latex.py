"""A sweep as LaTeX: a document that pdflatex sets as it stands. Each table floats by itself, to be taken into a paper.

Its columns are those of the other formats; what has many rows is cut, and says so in its caption.
"""

from __future__ import annotations

from skilleval.report.latex_table import floating
from skilleval.report.latex_text import escape
from skilleval.report.latex_writer import preamble
from skilleval.report.sweep_document import SweepReport
from skilleval.report.sweep_facts import headline, sweep_line
from skilleval.report.sweep_tables import sweep_tables

_MAX_TEXT = 400


def render(report: SweepReport) -> str:
    """Write the report as a LaTeX document."""
    lines = [
        *preamble(),
        r"\begin{document}",
        rf"\section*{{{escape(headline(report))}}}",
        escape(" · ".join(sweep_line(report))),
        *_items(report.sentences),
        *_items(report.warnings),
        *(floating(table, label=f"sweep-{table.name}") for table in sweep_tables(report)),
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _items(texts: tuple[str, ...]) -> list[str]:
    if not texts:
        return []
    items = [rf"\item {escape(text, limit=_MAX_TEXT)}" for text in texts]
    return [r"\begin{itemize}\raggedright", *items, r"\end{itemize}"]
