from __future__ import annotations

import csv
import html
import io
import json
import re
import unicodedata
from dataclasses import replace

import pytest
from arm_frames import arm_report
from reports import demo_report

from skilleval.report import WRITERS
from skilleval.report.document import Report
from skilleval.report.numbers import DASH
from skilleval.report.tables import skill_table

REPORTS = {"demo": demo_report, "arms": arm_report}
WHOLE = ("html", "markdown", "latex")
"""Formats that show every cell of the table of skills."""


def bare(text: str) -> str:
    """Give a text without markup, and without what the formats put between and around numbers."""
    text = html.unescape(re.sub(r"<[^>]*>", "", text))
    text = text.replace(r"\,", "").replace("$", "").replace("{-}", "−").replace(r"\ensuremath{\times}", "×")
    return "".join(char for char in text if not unicodedata.category(char).startswith("Z") and char != "\n")


def cells(report: Report) -> list[str]:
    """Give the numbers of the table of skills, in words as the report shows them."""
    table = skill_table(report)
    assert table is not None
    return [part for row in table.rows for cell in row[1:-1] for part in cell.split(" [") if part != DASH]


@pytest.mark.parametrize("kind", REPORTS)
@pytest.mark.parametrize("name", WHOLE)
def test_a_format_shows_each_number_of_the_table(name: str, kind: str) -> None:
    """What one format says of a skill, another says in the same digits."""
    report = REPORTS[kind]()
    text = bare(WRITERS[name].render(report))
    assert [cell for cell in cells(report) if bare(cell).rstrip("]") not in text] == []


@pytest.mark.parametrize("kind", REPORTS)
def test_tables_of_numbers_hold_the_numbers_of_the_document(kind: str) -> None:
    """CSV and JSON hold the unrounded values of the summary."""
    report = REPORTS[kind]()
    rows = list(csv.DictReader(io.StringIO(WRITERS["csv"].render(report))))
    stored = json.loads(WRITERS["json"].render(report))["summary"]
    for row, written, read in zip(report.summary, rows, stored, strict=True):
        assert read == row
        for key, value in row.items():
            if isinstance(value, float | int) and not isinstance(value, bool):
                assert float(written[key]) == value


def test_a_number_that_differs_is_found() -> None:
    """The comparison can fail: a rate that was changed is in no page of the report it was taken from."""
    report = demo_report()
    changed = replace(report, summary=tuple({**row, "completion_rate": 0.1357} for row in report.summary))
    assert [cell for cell in cells(changed) if bare(cell) not in bare(WRITERS["html"].render(report))]
