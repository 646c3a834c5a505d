"""The checks of a gate as a table: cells for every format, and the Markdown of a comment."""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.report.document import Report
from skilleval.report.gates import HEADINGS, GateCheck, cells, failed_first
from skilleval.report.markdown_text import escape
from skilleval.report.numbers import counted
from skilleval.report.text_table import TextTable


def gate_text_table(report: Report) -> TextTable | None:
    """Give a row a check, what failed first; nothing where the gate has no rules."""
    if not report.gates:
        return None
    baselines = sorted({check.baseline for check in report.gates if check.baseline})
    note = f"regressions are measured against run {', '.join(baselines)}" if baselines else ""
    return TextTable(
        name="gate",
        title="Gate",
        note=note or "each rule against each row it is about, what failed first",
        header=HEADINGS,
        numeric=tuple(False for _ in HEADINGS),
        rows=tuple(tuple(cells(check)) for check in failed_first(report.gates)),
    )


def gate_table(checks: Sequence[GateCheck], limit: int | None = None) -> str:
    """Write the checks of a gate as a table, what failed first; empty where there are none."""
    if not checks:
        return ""
    ordered = failed_first(checks)
    rows = [[escape(cell) for cell in cells(check)] for check in ordered[:limit]]
    lines = [list(HEADINGS), [":---"] * len(HEADINGS), *rows]
    left = len(ordered) - len(rows)
    more = f"\n\n{counted(left, 'further check')} not shown" if left else ""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + more
