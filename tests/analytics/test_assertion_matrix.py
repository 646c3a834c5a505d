from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.assertion_matrix import Signal, assertion_matrix

Arms = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]


def only(frames: tuple[pl.LazyFrame, pl.LazyFrame]) -> dict[str, Any]:
    """Give the only row."""
    return assertion_matrix(*frames).collect().row(0, named=True)


@pytest.mark.parametrize(
    ("candidate", "baseline", "signal"),
    [
        ([1.0, 1.0], [1.0], Signal.ALWAYS_PASS),
        ([0.0], [0.0, 0.0], Signal.ALWAYS_FAIL),
        ([1.0], [0.0], Signal.ONLY_WITH),
        ([0.0], [1.0], Signal.ONLY_WITHOUT),
        ([1.0, 0.0], [0.0], Signal.FLAKY),
        ([1.0], [1.0, 0.0], Signal.FLAKY),
        ([None], [1.0], Signal.UNGRADED),
        ([1.0], ["provider_error"], Signal.UNGRADED),
    ],
)
def test_each_check_has_a_signal_and_advice(
    arms: Arms, candidate: list[object], baseline: list[object], signal: Signal
) -> None:
    """The pass rates of both arms say what an assertion tells, and each signal has one line of advice."""
    row = only(arms(with_skill=[candidate], without_skill=[baseline]))
    assert row["signal"] == signal
    assert row["advice"]
    assert "\n" not in row["advice"]


def test_c59_an_assertion_that_always_passes_is_flagged(arms: Arms, case: Callable[[str], Any]) -> None:
    """What the baseline passes as well has no signal, and the advice says to drop or sharpen it."""
    runs = {mode: [[float(one) for one in repeats]] for mode, repeats in case("C59")["runs"].items()}
    row = only(arms(**runs))
    assert (row["n_candidate"], row["rate_candidate"], row["rate_baseline"]) == (3, 1.0, 1.0)
    assert row["signal"] == "always_pass"
    assert "drop or sharpen" in row["advice"]


def test_only_verdicts_on_completed_attempts_count(arms: Arms) -> None:
    """An outage, a timeout or a missing verdict is no failure of the assertion."""
    row = only(arms(with_skill=[[1.0, "timeout", None, "provider_error"]], without_skill=[[1.0]]))
    assert (row["n_candidate"], row["rate_candidate"], row["signal"]) == (1, 1.0, "always_pass")


def test_against_the_old_edition_the_advice_speaks_of_editions(arms: Arms) -> None:
    """What only the old edition passed is a regression."""
    row = only(arms(with_skill=[[0.0]], old_skill=[[1.0]]))
    assert (row["baseline"], row["signal"]) == ("old_skill", "only_without")
    assert "regression" in row["advice"]


def test_a_single_arm_has_no_matrix(arms: Arms) -> None:
    """What an assertion tells of a skill needs a baseline."""
    assert assertion_matrix(*arms(with_skill=[[1.0]])).collect().is_empty()


def test_what_stands_for_a_broken_attempt_is_no_assertion(
    trials_of: Callable[..., pl.LazyFrame], scores_of: Callable[..., pl.LazyFrame]
) -> None:
    """An outage leaves one line without an assertion; the assertions of the other arm are ungraded, not lost."""
    statuses = {"with_skill": "completed", "without_skill": "provider_error"}
    trials = trials_of(
        [
            {"trial_id": mode, "task_id": "t", "mode": mode, "status": status}
            for mode, status in statuses.items()
        ]
    )
    scores = scores_of(
        [
            {"trial_id": "with_skill", "check_id": "a1", "score": 1.0},
            {"trial_id": "without_skill", "check_id": "0", "score": None},
        ]
    )
    row = only((trials, scores))
    assert (row["check_id"], row["signal"], row["n_baseline"]) == ("a1", "ungraded", 0)
    assert assertion_matrix(trials, scores).collect().height == 1
