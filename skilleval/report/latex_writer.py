"""The report as LaTeX: a document that pdflatex sets as it stands, with all tables of the report.

Foreign text passes through `latex_text` alone. For a paper of one's own `skilleval paper` writes parts to put in.
"""

from __future__ import annotations

from collections.abc import Iterable

from skilleval.report.document import Report
from skilleval.report.facts import origins, run_line
from skilleval.report.latex_table import FIT, PACKAGES, floating
from skilleval.report.latex_text import escape
from skilleval.report.tables import report_tables

_MAX_TEXT = 400


def preamble(*packages: str) -> list[str]:
    """Give the lines before the text; all packages are part of a small TeX."""
    loaded = [rf"\usepackage{{{name}}}" for name in (*PACKAGES, *packages)]
    fonts = [r"\usepackage[T1]{fontenc}", r"\usepackage{lmodern}", r"\usepackage{textcomp}"]
    page = [r"\usepackage[a4paper, margin=2.5cm]{geometry}"]
    return [r"\documentclass[10pt]{article}", *fonts, *page, *loaded, FIT]


def render(report: Report) -> str:
    """Write the report as a LaTeX document."""
    tables = [floating(table, label=table.name) for table in report_tables(report)]
    state = escape(report.verdict.state.value.upper())
    lines = [
        *preamble(),
        r"\begin{document}",
        rf"\section*{{{escape(report.title)}}}",
        escape(" · ".join(run_line(report.run))),
        "",
        rf"\medskip\noindent\textbf{{{state}}} {escape(report.verdict.sentence)}",
        "",
        *tables,
        r"\clearpage",
        *_listed("Provenance", origins(report)),
        *_listed("Methods", [(method.name, method.text) for method in report.provenance.methods]),
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _listed(title: str, facts: Iterable[tuple[str, str]]) -> list[str]:
    items = [rf"\item[{{{escape(name)}}}] {escape(text, limit=_MAX_TEXT)}" for name, text in facts if text]
    if not items:
        return []
    return [rf"\section*{{{title}}}", r"\begin{description}\raggedright", *items, r"\end{description}"]
