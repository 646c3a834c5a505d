"""A comparison as Markdown: the verdict, what limits it, then each row with its tables."""

from __future__ import annotations

from collections.abc import Iterator

from skilleval.report.comparison import headline, verdict_line
from skilleval.report.diff_document import Diff, DiffRow
from skilleval.report.diff_tables import left_over, statistics_lines, tables
from skilleval.report.markdown_text import escape
from skilleval.report.numbers import counted
from skilleval.report.text_table import TextTable

_MAX_LINES = 20


def render(diff: Diff) -> str:
    """Write the comparison as Markdown: the verdict, what limits it, then each row."""
    parts = [f"# {escape(headline(diff))}", f"**{escape(verdict_line(diff.change, diff.sentence))}**"]
    parts += ["\n".join(f"- ▲ {escape(warning)}" for warning in diff.warnings)]
    for row in diff.rows:
        if row.side == "both":
            parts += [
                f"## {escape(row.name)}",
                escape(verdict_line(row.change, row.sentence)),
                *_sections(diff, row),
            ]
    parts += ["\n".join(f"- {escape(line)}" for line in left_over(diff.rows))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sections(diff: Diff, row: DiffRow) -> Iterator[str]:
    yield "\n".join(f"- ▲ {escape(caveat)}" for caveat in row.caveats)
    for table in tables(diff, row):
        yield f"### {escape(table.title)}"
        yield escape(table.note)
        yield _markdown_table(table)
    yield "\n".join(f"- {escape(line)}" for line in statistics_lines(row))


def _markdown_table(table: TextTable) -> str:
    shown = table.rows[:_MAX_LINES]
    marks = ["---:" if numeric else ":---" for numeric in table.numeric]
    lines = [
        [escape(cell) for cell in table.header],
        marks,
        *([escape(cell) for cell in row] for row in shown),
    ]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    more = len(table.rows) - len(shown)
    return f"{text}\n\n{counted(more, 'more row')} in the JSON document" if more else text
