"""A sweep as CSV: its tidy rows, one a job × condition × scorer, with the settings as columns.

Cells are those of the report's CSV: safe to open in a spreadsheet, null is an empty cell, numbers keep all digits.
"""

from __future__ import annotations

import csv
import io

from skilleval.report.csv_writer import cell
from skilleval.report.sweep_document import SweepReport


def render(report: SweepReport) -> str:
    """Write the results; a header even where there is none."""
    columns = list(dict.fromkeys(name for row in report.results for name in row)) or ["job"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow([cell(name) for name in columns])
    for row in report.results:
        writer.writerow([cell(row.get(name)) for name in columns])
    return out.getvalue()
