from __future__ import annotations

from typing import Any

import pytest
from reports import CALCULATOR, FLAKY, WRONG

from skilleval.report.document import MatrixCell
from skilleval.report.flags import SHAPES, Flag, Kind, cell_kind, row_flags


def test_a_good_row_has_no_flag() -> None:
    """Nothing is said of a skill that passes everything."""
    assert row_flags(CALCULATOR, 0.7) == ()


def test_a_failing_row_is_flagged_with_or_without_a_gate() -> None:
    """Failing everything needs no threshold to be seen."""
    flag = Flag(Kind.FAILING, "fails all 60 graded trials")
    assert row_flags(WRONG, None) == (flag,)
    assert row_flags(WRONG, 0.7) == (flag,)


def test_a_flaky_row_names_its_tasks_and_its_errors() -> None:
    """Flaky tasks, doubts and errors are told apart."""
    assert row_flags(FLAKY, 0.7) == (
        Flag(Kind.UNKNOWN, "inconclusive: interval holds 0.7"),
        Flag(Kind.FLAKY, "flaky on 14 of 20 tasks"),
        Flag(Kind.ERRORS, "1 timeout"),
    )
    low = {"completion_rate": 0.6, "completion_low": 0.6, "completion_high": 0.6, "ci_high": 0.69}
    assert row_flags(FLAKY | low, 0.7)[0] == Flag(Kind.FAILING, "below 0.7")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {
                "ci_low": None,
                "ci_high": None,
                "ci_method": "no interval: fewer than two tasks have a verdict",
            },
            "inconclusive: no interval: fewer than two tasks have a verdict",
        ),
        ({"ci_low": None, "ci_high": None}, "inconclusive: no interval"),
        ({"completion_low": 0.5}, "inconclusive: trials without a verdict decide about 0.7"),
    ],
)
def test_a_doubt_is_flagged_with_its_reason(change: dict[str, Any], text: str) -> None:
    """Too few tasks and trials without a verdict are doubts of their own."""
    assert row_flags(CALCULATOR | change, 0.7)[0] == Flag(Kind.UNKNOWN, text)


def test_one_trial_is_its_only_one() -> None:
    """A skill with a single graded trial does not fail `all 1 trials`."""
    assert row_flags(WRONG | {"n_graded": 1}, 0.7) == (Flag(Kind.FAILING, "fails its only graded trial"),)


def test_lost_trials_are_told_with_their_bounds() -> None:
    """Trials without a verdict come with the range in which completion could lie."""
    row = CALCULATOR | {"n_infrastructure": 2, "n_ungraded": 1, "completion_low": 0.95, "n_skill_error": 2}
    assert row_flags(row, None) == (
        Flag(Kind.ERRORS, "2 skill errors"),
        Flag(Kind.UNKNOWN, "3 trials without a verdict: completion lies between 0.95 and 1"),
    )


@pytest.mark.parametrize(
    ("n_graded", "n_passed", "kind"),
    [(3, 3, Kind.FINE), (3, 0, Kind.FAILING), (3, 1, Kind.FLAKY), (0, 0, Kind.UNKNOWN)],
)
def test_a_task_passed_always_never_sometimes_or_was_not_graded(
    n_graded: int, n_passed: int, kind: Kind
) -> None:
    """An ungraded task is neither passed nor failed."""
    cell = MatrixCell(
        skill_id="s",
        skill_version="1",
        condition_id="c",
        scorer="x",
        task_id="t",
        n=3,
        n_graded=n_graded,
        n_passed=n_passed,
        rate=None,
        is_flaky=False,
    )
    assert cell_kind(cell) is kind


def test_every_kind_has_a_shape_of_its_own() -> None:
    """No kind is told by colour alone."""
    assert set(SHAPES) == set(Kind)
    assert len(set(SHAPES.values())) == len(Kind)
