from __future__ import annotations

import dataclasses
import random
from typing import Any

from details import details_of, excerpt, trial
from reports import CALCULATOR, FLAKY, WRONG, cell, failure, report_of

from skilleval.report.details import TrialDetail
from skilleval.report.document import Report
from skilleval.report.html_writer import render


def stripes(report: Report, outcomes: str) -> Report:
    """Give a report whose cells all tell the same outcomes, repeat by repeat."""
    cells = tuple(dataclasses.replace(one, outcomes=outcomes) for one in report.matrix)
    return dataclasses.replace(report, matrix=cells)


def test_a_repeat_is_a_stripe() -> None:
    """A cell shows its repeats in their order beside the count; what passed is the default and takes no class."""
    page = render(stripes(report_of(FLAKY, matrix=[cell(FLAKY, "t", 1, n=4)]), "pfeu"))
    assert '<span class="runs"><i></i><i class=f></i><i class=e></i><i class=u></i></span>1/4' in page


def test_many_repeats_make_narrow_stripes() -> None:
    """More than ten repeats are drawn closer together."""
    page = render(stripes(report_of(FLAKY, matrix=[cell(FLAKY, "t", 11, n=11)]), "p" * 11))
    assert '<span class="runs dense"><i style="--n:11"></i></span>' in page


def single(row: dict[str, Any], task_id: str, text: str = "") -> TrialDetail:
    """Give one trial of a row with an output."""
    return trial(task_id, "failed", condition_id=row["condition_id"], output=excerpt(text) if text else None)


def test_a_cell_opens_its_trials_where_the_page_holds_them() -> None:
    """A cell names the positions of its task and condition; a passed one opens too, and tags can be searched."""
    rows = (FLAKY, WRONG)
    report = report_of(*rows, matrix=[cell(row, task, 3) for task in ("a", "b") for row in rows])
    details = details_of([single(WRONG, "b"), single(FLAKY, "a")])
    page = render(dataclasses.replace(report, details=details))
    assert '<a href="#task-0-0" data-task=0 data-condition=0>' in page
    assert '<a href="#task-1-1" data-task=1 data-condition=1>' in page
    assert page.count("data-condition=") - page.count("[data-condition=") == 2
    assert 'data-text="sums"' in page
    assert 'data-by="task or tag"' in page


def test_a_page_that_holds_no_trial_has_no_drawer() -> None:
    """Nothing promises what is not there."""
    page = render(report_of(FLAKY, matrix=[cell(FLAKY, "t", 3)]))
    assert "<dialog" not in page
    assert "A cell opens its trials" not in page


def test_a_thousand_trials_take_a_kilobyte_each() -> None:
    """The fixed part is below 3 MB; a thousand trials of texts that do not compress add no more than 1 KB each."""
    dice = random.Random(3)
    rows = [FLAKY | {"condition_id": f"c{i}", "skill_id": f"skill-{i}"} for i in range(5)]
    tasks = [f"task-{i}" for i in range(200)]
    trials = [single(row, task, text=dice.randbytes(3000).hex()) for task in tasks for row in rows]
    failures = [failure(rows[0], task, reason=dice.randbytes(150).hex()) for task in tasks]
    report = report_of(
        *rows, matrix=[cell(row, task, 0, n=1) for task in tasks for row in rows], failures=failures
    )
    fixed = len(render(report_of(FLAKY)).encode())
    whole = len(render(dataclasses.replace(stripes(report, "f"), details=details_of(trials))).encode())
    assert fixed <= 3_000_000
    assert whole - fixed <= 256 * 1024 + 1000 * 1024


def test_a_large_matrix_is_cut_after_the_troubled_tasks() -> None:
    """Two thousand tasks are shown, those with the fewest passes; the rest is counted with the way to it."""
    matrix = [cell(CALCULATOR, f"t{i}", 3 if i < 2_010 else 0) for i in range(2_020)]
    page = render(report_of(CALCULATOR, matrix=matrix))
    assert "20 more tasks, which passed at least as often, are in the tables of the run" in page
    table = page[page.index('id="by-task"') :]
    assert table[: table.index("</table>")].count("<tr") == 2_001
    assert "<bdi>t2019</bdi>" in table
    assert "<bdi>t2009</bdi>" not in table
