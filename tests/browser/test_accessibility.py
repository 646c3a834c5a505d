from __future__ import annotations

from typing import Any

import pytest
from browser.conftest import grave
from details import check, excerpt, report_with, trial
from diffs import FLIP, diff_of, row_of
from reports import CALCULATOR, FLAKY, HOSTILE, WRONG, cell, demo_report, report_of

from skilleval.report import diff_html
from skilleval.report.document import Report
from skilleval.report.html_writer import render

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 800}


def long_report() -> Report:
    """Give a report in which every part that may be filtered is long enough for it."""
    rows = [
        row | {"scorer": scorer, "skill_id": name} if name else row | {"scorer": scorer}
        for row, name in ((CALCULATOR, ""), (FLAKY, HOSTILE), (WRONG, ""))
        for scorer in ("exact", "rubric")
    ]
    matrix = [
        cell(row, f"task-{i}", (i + place) % 4) | {"outcomes": "pfeu"[: (i + place) % 4] or "u"}
        for place, row in enumerate(rows)
        for i in range(40)
    ]
    return report_of(*rows, matrix=matrix)


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, {"viewport": PHONE}], ids=str)
@pytest.mark.parametrize("make", [demo_report, long_report])
def test_axe_finds_nothing_serious_in_a_report(visit: Any, make: Any, options: dict[str, Any]) -> None:
    """Folded or open, light or dark, wide or narrow: no serious and no critical finding."""
    page = visit(render(make()), **options).page
    assert grave(page) == []
    page.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    assert grave(page) == []


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, {"viewport": PHONE}], ids=str)
def test_axe_finds_nothing_serious_in_an_open_task(visit: Any, options: dict[str, Any]) -> None:
    """The drawer with long texts, checks of every verdict and hostile output keeps to the same."""
    checks = tuple(check(verdict, HOSTILE) for verdict in ("passed", "failed", "ungraded"))
    told = trial("sum-1", "failed", output=excerpt(HOSTILE * 40), stderr=excerpt("x" * 2000), checks=checks)
    page = visit(render(report_with(told, trial("sum-1", repeat=1))), **options).page
    page.goto(f"{page.url}#task-0-0")
    page.locator("#drawer[open] .drawer-trial").first.wait_for(timeout=10_000)
    assert grave(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_a_comparison(visit: Any, scheme: str) -> None:
    """The page of a comparison keeps to the same."""
    flips = tuple(FLIP | {"task_id": f"task {i}"} for i in range(30))
    page = visit(diff_html.render(diff_of(row_of(flips=flips))), color_scheme=scheme).page
    assert grave(page) == []


def test_axe_would_find_a_fault(visit: Any) -> None:
    """The check itself finds what is wrong: a button without a name."""
    page = visit(render(report_of(CALCULATOR))).page
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any(line.startswith("button-name") for line in grave(page))
