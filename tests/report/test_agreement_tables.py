from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from reports import HOSTILE, report_of
from rich.console import Console

from skilleval.report import html_writer, markdown_writer
from skilleval.report.agreement import (
    Agreement,
    Calibration,
    DisputedTask,
    Overall,
    RaterCount,
    RaterPair,
)
from skilleval.report.agreement_tables import (
    agreement_tables,
    document_tables,
    overall_sentence,
    scorers_note,
)
from skilleval.report.document import Report, from_json, to_json
from skilleval.report.terminal import agreement_view

PAIR = RaterPair(
    rater_a="exact",
    rater_b="labels",
    n_both=50,
    n_both_passed=20,
    n_only_a=5,
    n_only_b=10,
    n_both_failed=15,
    n_one_ungraded=2,
    percent_agreement=0.7,
    kappa=0.4,
    kappa_low=0.15,
    kappa_high=0.63,
    score_difference=0.1,
    kendall_tau=-0.5,
)
VERDICTS = Overall(
    kind="verdicts",
    n_raters=2,
    n_trials=50,
    n_values=100,
    n_complete=50,
    percent_agreement=0.7,
    fleiss_kappa=0.39,
)
AGREEMENT = Agreement(
    raters=("exact", "labels"),
    n_trials=52,
    n_left_out=1,
    pairs=(PAIR,),
    overall=(replace(VERDICTS, alpha=0.4),),
    calibration=(
        Calibration(
            judge="exact",
            reference="labels",
            n_both=50,
            n_both_passed=20,
            n_both_failed=15,
            n_only_judge=5,
            n_only_reference=10,
            sensitivity=2 / 3,
            specificity=0.75,
            precision=0.8,
            bias=-0.1,
        ),
    ),
    tasks=(
        DisputedTask(
            task_id=HOSTILE,
            n_trials=3,
            n_split=2,
            disagreement=2 / 3,
            counts=(RaterCount(rater="exact", n_graded=3, n_passed=2),),
        ),
    ),
    n_disputed=4,
)


def judged(**changes: Any) -> Report:
    """Give a report of a run that two scorers judged."""
    return replace(report_of(), agreement=replace(AGREEMENT, **changes))


def test_a_pair_is_a_row_with_its_coefficient_and_its_four_cells() -> None:
    """Kappa stands with its interval; the order of skills has a column where there is one."""
    scorers, calibration, disputed = agreement_tables(AGREEMENT)
    assert scorers.rows == (
        ("exact", "labels", "50", "0.7", "0.4 [0.15, 0.63]", "20", "5", "10", "15", "+0.1", "−0.5"),
    )
    assert scorers.header[-1] == "tau of the rankings"
    assert calibration.rows == (("exact", "labels", "50", "0.667", "0.75", "0.8", "−0.1", "5", "10"),)
    assert disputed.rows == ((HOSTILE, "3", "2", "0.667", "2/3", "–"),)
    assert "3 more tasks not shown." in disputed.note
    assert [table.name for table in document_tables(AGREEMENT)] == ["scorers", "calibration"]


def test_the_note_says_what_it_rests_on_and_what_all_of_them_come_to() -> None:
    """Trials that were left out are counted; a coefficient that cannot be is a dash with its reason."""
    assert scorers_note(AGREEMENT) == (
        "On 52 completed trials; 1 trial without a reply left out. All verdicts (2 raters, 50 trials): 0.7 of pairs "
        "agree, Fleiss' kappa 0.39, Krippendorff's alpha 0.4. Kendall's tau of the orders they put the skills in: "
        "−0.5."
    )
    none = Overall(
        kind="scores",
        n_raters=2,
        n_trials=9,
        n_values=18,
        n_complete=9,
        alpha_reason="there is one score only",
    )
    assert overall_sentence(none) == "All scores: Krippendorff's alpha – (there is one score only)."
    two = replace(AGREEMENT, pairs=(PAIR, replace(PAIR, kendall_tau=0.5)))
    assert scorers_note(two).endswith("in: from −0.5 (exact, labels) to 0.5.")
    same = replace(AGREEMENT, pairs=(replace(PAIR, kendall_tau=1.0),))
    assert "They put the skills in one order." in scorers_note(same)


def test_a_run_of_one_scorer_has_no_table() -> None:
    """Nothing is shown where there is nothing to compare, and the JSON lacks the part."""
    report = report_of()
    assert agreement_tables(report.agreement) == ()
    assert "agreement" not in to_json(report)


def test_the_part_survives_its_json() -> None:
    """A report read back equals the one that was written."""
    import json

    report = judged()
    assert from_json(json.dumps(to_json(report))) == report


@pytest.mark.parametrize("writer", [html_writer, markdown_writer])
def test_documents_show_the_tables(writer: Any) -> None:
    """Names of scorers are escaped like all foreign text."""
    text = writer.render(judged(pairs=(replace(PAIR, rater_a=HOSTILE),)))
    assert "How far the scorers agree" in text
    assert "The scorers held against the labels" in text
    assert "<img src=x" not in text


@pytest.mark.parametrize("width", [60, 200])
def test_the_view_shows_everything_at_any_width(width: int) -> None:
    """Where a table is too wide, a row becomes a line of words; no line is longer than the terminal."""
    console = Console(file=io.StringIO(), width=width)
    calm = replace(AGREEMENT.tasks[0], task_id="sum-1")
    console.print(agreement_view(judged(tasks=(calm,)), width=width), soft_wrap=True)
    file = console.file
    assert isinstance(file, io.StringIO)
    text = file.getvalue()
    for word in (
        "How far the scorers agree",
        "0.4 [0.15, 0.63]",
        "Tasks that the scorers disagree on",
        "sum-1",
    ):
        assert word in " ".join(text.split())
    assert all(len(line) <= width for line in text.splitlines())
