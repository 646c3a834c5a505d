from __future__ import annotations

from reports import FLAKY, WRONG, cell, report_of

from skilleval.report.html_writer import render


def test_the_list_of_failed_trials_ends_and_says_so() -> None:
    """The list has two hundred lines; it counts those it leaves out."""
    matrix = [cell(row, f"t{i}", 0) for row in (WRONG, FLAKY) for i in range(150)]
    page = render(report_of(WRONG, FLAKY, matrix=matrix))
    assert page.count('<td class="what') == 200
    assert "100 more lines of this list left out" in page
