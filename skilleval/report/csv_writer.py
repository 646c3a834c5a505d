"""The summary as CSV: one row a condition × scorer, every column; safe to open in a spreadsheet.

A text cell that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, tab or a line break) gets
an apostrophe in front; numbers stay numbers, also negative ones; null is an empty cell. Taking one leading apostrophe
off a text cell gives the text back, because a text that begins with an apostrophe gets another one.
"""

from __future__ import annotations

import csv
import io

from skilleval.report.document import Report

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")

Cell = str | int | float | bool | None


def render(report: Report) -> str:
    """Write the summary; a header even where there is no row."""
    columns = list(dict.fromkeys(name for row in report.summary for name in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(columns or ["skill_id", "skill_version", "scorer", "completion_rate"])
    for row in report.summary:
        writer.writerow([cell(row.get(name)) for name in columns])
    return out.getvalue()


def cell(value: Cell) -> Cell:
    """Give the value of a cell: text that could act is made text only."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    return f"'{value}" if value.startswith(_DANGEROUS) else value
