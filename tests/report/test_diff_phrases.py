from __future__ import annotations

from typing import Any

import pytest
from diffs import FLIP, METRIC, row_of

from skilleval.report.diff_phrases import (
    change_text,
    effect_interval,
    effect_text,
    row_caveats,
    row_sentence,
    summary_sentence,
)


def said(*flips: dict[str, Any], **changes: Any) -> str:
    """Give the sentence of a metric."""
    return row_sentence(METRIC | changes, flips)


def test_a_regression_says_how_much_where_and_how_surely() -> None:
    """Points with interval, tasks that moved, p, and what broke."""
    assert said(FLIP) == "regressed: −8.3 pp [−14.1, −2.5] on 3 of 41 tasks, p = 0.004; task broken: dates-07"


def test_a_regression_within_the_margin_is_said_to_be_no_more() -> None:
    """What is not shown to exceed the margin opens no gate, and says so."""
    assert said(is_confirmed=False).endswith("p = 0.004, not shown to exceed the margin of 2 pp")


def test_an_open_question_says_what_would_decide() -> None:
    """First what is missing, then the figure."""
    found = said(change="inconclusive", n_more=60, p_value=0.2, p_holm=0.4)
    assert found == (
        "inconclusive: about 60 more tasks would decide; "
        "−8.3 pp [−14.1, −2.5] on 3 of 41 tasks, p = 0.2 (0.4 by Holm)"
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"change": "equivalent"}, "equivalent: −8.3 pp [−14.1, −2.5], within ±2 pp, 41 tasks"),
        (
            {"change": "unchanged", "n_more": 18},
            "unchanged: all 41 tasks ended as before (18 more tasks would rule out a change of 2 pp)",
        ),
        (
            {"change": "unchanged", "n_more": 58, "n_tasks": 1},
            "unchanged: its only task ended as before (58 more tasks would rule out a change of 2 pp)",
        ),
        (
            {"metric": "partial_score", "change": "improved", "low": None, "high": None},
            "improved in partial score: −8.3 pp on 3 of 41 tasks, p = 0.004",
        ),
    ],
)
def test_each_verdict_has_its_sentence(changes: dict[str, Any], told: str) -> None:
    """The verdict is the first word."""
    assert said(**changes) == told


def test_nothing_shared_is_no_verdict() -> None:
    """Without a task that has a verdict on both sides nothing is compared."""
    assert row_sentence(None, ()) == "not compared: no task has a verdict on both sides"


def test_checks_that_broke_within_a_task_are_named() -> None:
    """A task that failed all along can hide a check that broke; one whose task broke is not named twice."""
    check = FLIP | {"check_id": "a1", "check": "A"}
    assert said(check, change="inconclusive", n_more=1).endswith("; check broken: dates-07 / A")
    assert said(FLIP, check).endswith("; task broken: dates-07")
    many = [FLIP | {"task_id": f"t{i}"} for i in range(5)]
    assert said(*many).endswith("; tasks broken: t0, t1, t2, 2 more")


def test_several_rows_are_counted_by_verdict() -> None:
    """What is worst comes first and is named; a single row speaks for itself; new rows are no comparison."""
    rows = [
        row_of(sentence="regressed: −8.3 pp", name="a 1"),
        row_of(change="unchanged", sentence="unchanged: x"),
        row_of(side="new", change="new"),
    ]
    assert summary_sentence(rows) == "regressed: 1 of 2 (a 1: −8.3 pp); unchanged: 1 of 2"
    assert summary_sentence(rows[:1]) == "regressed: −8.3 pp"


def test_ratios_are_written_as_such() -> None:
    """A latency that rose by a third is ×1.33, with its interval."""
    ratio = METRIC | {"kind": "ratio", "effect": 4 / 3, "low": 1.2, "high": 1.5}
    assert (effect_text(ratio), effect_interval(ratio)) == ("×1.33", "[1.2, 1.5]")


def test_c46_a_small_difference_is_never_shown_as_nothing() -> None:
    """0.62 to 0.58 is −0.04, 0.412 to 0.874 +0.462, 900 to 450 ms −450 ms, and 0.01 points are 0.01."""
    assert change_text({"metric": "composite", "delta": 0.58 - 0.62}) == "−0.04"
    assert change_text({"metric": "composite", "delta": 0.874 - 0.412}) == "+0.462"
    assert change_text({"metric": "p95_ms", "delta": -450.0}) == "−450\u202fms"
    assert effect_text(METRIC | {"effect": 0.0001}) == "+0.01 pp"
    assert effect_text(METRIC | {"effect": 0.0}) == "0 pp"


def test_what_limits_a_row_is_said() -> None:
    """Unequal consistency, other inputs and other expectations each have a sentence."""
    unequal = METRIC | {"is_unequal": True, "flip_rate_before": 0.02, "flip_rate_after": 0.31}
    lines = list(row_caveats([unequal], {"changed": ("a", "b", "c", "d")}, ["e"]))
    assert "flip rate 0.02 and 0.31" in lines[0]
    assert lines[1] == "another input, so not compared: 4 tasks (a, b, c, 1 more)"
    assert lines[2] == "something else is expected on one side than on the other: 1 task (e)"
    assert list(row_caveats([METRIC], {}, [])) == []


def test_es16_a_small_difference_is_not_rounded_away() -> None:
    """A composite of 0.62 that becomes 0.58 is −0.04, not 0."""
    assert change_text({"metric": "composite", "delta": 0.58 - 0.62}) == "−0.04"
