"""Rows for people and for `grep`: a table on a terminal, else lines with tabs between, whole in either case."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from skilleval.cli.console import Screen


def show_rows(screen: Screen, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show rows under headings; foreign text in them cannot move the cursor or break a line."""
    from skilleval.report.text import one_line

    if screen.json:
        return
    safe = [[one_line(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _show_table(screen, headings, safe)
    else:
        for row in (headings, *safe):
            screen.say("\t".join(row))


def _show_table(screen: Screen, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    screen.show(table)
