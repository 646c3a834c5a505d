"""A sweep as Markdown: the verdict, what limits it, then the tables."""

from __future__ import annotations

from skilleval.report.markdown_text import escape
from skilleval.report.numbers import counted
from skilleval.report.sweep_document import SweepReport
from skilleval.report.sweep_facts import headline, sweep_line
from skilleval.report.sweep_tables import sweep_tables
from skilleval.report.text_table import TextTable

_MAX_ROWS = 50


def render(report: SweepReport) -> str:
    """Write the report as GitHub-flavoured Markdown; foreign text in it means nothing."""
    parts = [
        f"# {escape(headline(report))}",
        " · ".join(escape(fact) for fact in sweep_line(report)),
        "\n".join(f"- {escape(sentence)}" for sentence in report.sentences),
        "\n".join(f"- ▲ {escape(warning)}" for warning in report.warnings),
    ]
    for table in sweep_tables(report):
        parts += [f"## {escape(table.title)}", escape(table.note), _table(table)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: TextTable) -> str:
    marks = ["---:" if numeric else ":---" for numeric in table.numeric]
    shown = [[escape(cell) for cell in row] for row in table.rows[:_MAX_ROWS]]
    lines = [[escape(cell) for cell in table.header], marks, *shown]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    more = len(table.rows) - len(shown)
    return f"{text}\n\n{counted(more, 'more row')} in the JSON document" if more else text
