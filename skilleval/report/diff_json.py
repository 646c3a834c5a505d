"""A comparison as JSON: the document itself."""

from __future__ import annotations

from skilleval.report.diff_document import Diff
from skilleval.report.text import json_text


def render(diff: Diff) -> str:
    """Write the document as JSON with a final newline."""
    return json_text(diff.to_json(), indent=2) + "\n"
