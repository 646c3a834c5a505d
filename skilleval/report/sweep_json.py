"""A sweep as JSON: the document itself."""

from __future__ import annotations

from skilleval.report.sweep_document import SweepReport
from skilleval.report.text import json_text


def render(report: SweepReport) -> str:
    """Write the document as JSON with a final newline."""
    return json_text(report.to_json(), indent=2) + "\n"
