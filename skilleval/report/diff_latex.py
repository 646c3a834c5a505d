"""A comparison as LaTeX: a document that pdflatex sets as it stands; the verdict, then the tables of each skill."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from skilleval.report.comparison import headline, verdict_line
from skilleval.report.diff_document import Diff, DiffRow
from skilleval.report.diff_tables import left_over, statistics_lines, tables
from skilleval.report.latex_table import floating
from skilleval.report.latex_text import escape
from skilleval.report.latex_writer import preamble
from skilleval.report.numbers import points, rate


def render(diff: Diff) -> str:
    """Write the comparison as a LaTeX document."""
    about = f"margin {points(diff.margin).lstrip('+')} pp · level {rate(diff.level)}"
    lines = [
        *preamble(),
        r"\begin{document}",
        rf"\section*{{{escape(headline(diff))}}}",
        escape(about),
        "",
        rf"\medskip\noindent\textbf{{{escape(verdict_line(diff.change, diff.sentence))}}}",
        *_items(diff.warnings),
    ]
    for number, row in enumerate((row for row in diff.rows if row.side == "both"), start=1):
        lines += _row(diff, row, number)
    lines += [*_items(left_over(diff.rows)), r"\end{document}"]
    return "\n".join(lines) + "\n"


def _row(diff: Diff, row: DiffRow, number: int) -> Iterator[str]:
    yield rf"\subsection*{{{escape(row.name)}}}"
    yield escape(verdict_line(row.change, row.sentence))
    yield from _items(row.caveats)
    for table in tables(diff, row):
        titled = replace(table, title=f"{table.title}, {row.name}")
        yield floating(titled, label=f"{number}-{table.name}")
    yield from _items(list(statistics_lines(row)))
    yield r"\clearpage"


def _items(texts: list[str] | tuple[str, ...]) -> list[str]:
    if not texts:
        return []
    return [r"\begin{itemize}\raggedright", *(rf"\item {escape(text)}" for text in texts), r"\end{itemize}"]
