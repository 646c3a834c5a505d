from __future__ import annotations

from typing import Any

import pytest
from reports import CALCULATOR, FLAKY, WRONG

from skilleval.report.columns import row_names
from skilleval.report.document import Conclusion, State
from skilleval.report.verdict import Standing, conclusion, standing


def concluded(
    *rows: dict[str, Any],
    threshold: float | None = 0.7,
    interrupted: bool = False,
    decides: bool = False,
) -> Conclusion:
    """Sum up some rows under the names a report gives them."""
    return conclusion(rows, row_names(rows), threshold=threshold, interrupted=interrupted, decides=decides)


@pytest.mark.parametrize(
    ("rate", "low", "high", "stands"),
    [
        (0.9, 0.8, 0.95, Standing.REACHED),
        (0.9, 0.7, 0.95, Standing.REACHED),
        (0.9, 0.7 - 1e-12, 0.95, Standing.REACHED),
        (0.75, 0.6, 0.85, Standing.OPEN),
        (0.65, 0.5, 0.7, Standing.OPEN),
        (0.5, 0.4, 0.69, Standing.MISSED),
        (0.7, None, None, Standing.REACHED),
        (0.69, None, None, Standing.MISSED),
        (None, None, None, Standing.UNGRADED),
    ],
)
def test_the_whole_interval_stands_against_the_gate(
    rate: float | None, low: float | None, high: float | None, stands: Standing
) -> None:
    """An interval that holds the threshold decides nothing; without an interval the rate decides."""
    assert standing({"completion_rate": rate, "ci_low": low, "ci_high": high}, 0.7) is stands


def test_the_sentence_names_who_fails_and_who_is_flaky() -> None:
    """A failing skill is named with its tasks, a flaky one is called flaky, not 72 %."""
    assert concluded(CALCULATOR, FLAKY, WRONG) == Conclusion(
        state=State.FAILED,
        sentence="1 of 3 skills reaches 0.7 completion; wrong-calculator fails all 20 tasks; flaky-calculator is "
        "inconclusive at 0.717 [0.592, 0.818] and flaky on 14 of 20 tasks.",
    )


def test_all_above_the_gate_is_passed() -> None:
    """The run passes where every interval lies above the threshold, also where a skill is flaky."""
    found = concluded(CALCULATOR, FLAKY | {"ci_low": 0.71})
    assert found == Conclusion(
        state=State.PASSED,
        sentence="2 of 2 skills reach 0.7 completion; flaky-calculator is flaky on 14 of 20 tasks.",
    )


def test_a_gate_that_decides_the_exit_code_is_told_as_it_decides() -> None:
    """With an exit code at stake the verdict goes by the rates, and still says what the intervals leave open."""
    met = concluded(FLAKY, decides=True)
    assert met.state is State.PASSED
    assert met.sentence.startswith(
        "The gate is met; 0 of 1 skill reach 0.7 completion; flaky-calculator is inconclusive"
    )
    assert concluded(FLAKY, threshold=0.72, decides=True).state is State.FAILED
    assert concluded(FLAKY | {"completion_rate": None}, decides=True).state is State.FAILED
    assert concluded(CALCULATOR, decides=True, interrupted=True).state is State.INCONCLUSIVE


def test_a_doubt_makes_the_run_inconclusive() -> None:
    """Where nothing clearly fails but something is open, the run is inconclusive."""
    assert concluded(CALCULATOR, FLAKY).state is State.INCONCLUSIVE


def test_a_low_rate_is_told_with_its_interval() -> None:
    """A skill that passes some tasks but misses the gate is told by how much."""
    row = CALCULATOR | {"n_passed": 30, "completion_rate": 0.5, "ci_low": 0.4, "ci_high": 0.6}
    assert concluded(row) == Conclusion(
        state=State.FAILED,
        sentence="0 of 1 skill reach 0.7 completion; calculator completes only 0.5 [0.4, 0.6].",
    )


def test_without_a_gate_the_run_informs() -> None:
    """Without a threshold nothing passes or fails; the range is told."""
    found = concluded(CALCULATOR, WRONG, threshold=None)
    assert found == Conclusion(
        state=State.INFO,
        sentence="Completion of 2 skills runs from 0 [0, 0.211] (wrong-calculator) to 1 [0.789, 1] (calculator); "
        "wrong-calculator fails all 20 tasks.",
    )
    assert concluded(CALCULATOR, threshold=None).sentence == "Completion of calculator is 1 [0.789, 1]."


def test_nothing_evaluated_is_never_passed() -> None:
    """A run without rows is inconclusive under a gate."""
    assert concluded() == Conclusion(state=State.INCONCLUSIVE, sentence="Nothing was evaluated.")
    assert concluded(threshold=None).state is State.INFO


def test_an_ungraded_skill_is_never_passed() -> None:
    """A skill without a graded trial leaves the run inconclusive and is named."""
    row = {"skill_id": "lost", "n_tasks": 2, "n_graded": 0, "n_infrastructure": 4}
    assert concluded(row) == Conclusion(
        state=State.INCONCLUSIVE,
        sentence="0 of 1 skill reach 0.7 completion; lost could not be graded; 4 trials were lost to infrastructure "
        "errors.",
    )
    assert concluded(row, threshold=None).sentence.startswith("No trial could be graded; ")


def test_lost_trials_count_once_for_several_scorers() -> None:
    """Two scorers that judge the same trials do not double the infrastructure errors."""
    row = CALCULATOR | {"n_infrastructure": 1}
    found = concluded(row | {"scorer": "exact"}, row | {"scorer": "contains"})
    assert found.sentence == (
        "2 of 2 results (condition × scorer) reach 0.7 completion; 1 trial was lost to infrastructure errors."
    )


def test_an_interrupted_run_has_not_passed() -> None:
    """What was cut short may fail but not pass, and says so first."""
    found = concluded(CALCULATOR, interrupted=True)
    assert found.state is State.INCONCLUSIVE
    assert found.sentence == "Interrupted before the end; 1 of 1 skill reaches 0.7 completion."
    assert concluded(WRONG, interrupted=True).state is State.FAILED


def test_many_skills_are_counted_not_listed() -> None:
    """With many of a kind the verdict stays one sentence."""
    rows = [WRONG | {"skill_id": f"wrong-{i}", "condition_id": f"c{i}"} for i in range(30)]
    assert concluded(*rows).sentence == "0 of 30 skills reach 0.7 completion; 30 fail all their tasks."
