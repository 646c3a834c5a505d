"""The report as JSON: the format that the others can be made from later."""

from __future__ import annotations

from skilleval.report.document import Report, to_json
from skilleval.report.text import json_text


def render(report: Report) -> str:
    """Write the document as JSON with a final newline."""
    return json_text(to_json(report), indent=2) + "\n"
