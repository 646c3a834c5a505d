"""CSV is safe in a spreadsheet and loses nothing."""

from __future__ import annotations

import csv
import io

import pytest
from cases import case_input
from hypothesis import given
from hypothesis import strategies as st
from reports import CALCULATOR, WRONG, report_of

from skilleval.report.csv_writer import cell, render


def rows(text: str) -> list[list[str]]:
    """Read CSV back."""
    return list(csv.reader(io.StringIO(text, newline="")))


def test_every_column_of_every_row_is_there() -> None:
    """One row a condition and scorer, with the columns of the summary; null is an empty cell."""
    header, first, second = rows(render(report_of(CALCULATOR, WRONG | {"p50_ms": None})))
    assert {"skill_id", "completion_rate", "ci_low", "n_trials", "p50_ms"} <= set(header)
    assert first[header.index("skill_id")] == "calculator"
    assert float(first[header.index("completion_rate")]) == 1.0
    assert second[header.index("p50_ms")] == ""


def test_c48_cells_cannot_become_formulas() -> None:
    """Text is neutralised, a number stays one, and the number of rows is stable."""
    formula, number, with_return, with_breaks = case_input("C48")["cells"]
    assert cell(formula) == f"'{formula}"
    assert cell(float(number)) == -0.25
    names = [formula, with_return, with_breaks]
    read = rows(render(report_of(*(CALCULATOR | {"skill_id": name} for name in names))))
    assert len(read) == 4
    column = read[0].index("skill_id")
    assert sorted(row[column] for row in read[1:]) == sorted(str(cell(name)) for name in names)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "'"])
def test_whatever_could_act_is_quoted(start: str) -> None:
    """Each dangerous first character gets an apostrophe in front."""
    assert cell(f"{start}1") == f"'{start}1"


@given(st.text())
def test_one_apostrophe_taken_off_gives_the_text_back(text: str) -> None:
    """The protection can be undone without a guess."""
    shown = str(cell(text))
    assert (shown.removeprefix("'")) == text


def test_an_empty_report_has_a_header() -> None:
    """A file without rows still says what it would hold."""
    assert rows(render(report_of(manifest={})))[0][0] == "skill_id"
