from __future__ import annotations

from typing import Any

import pytest
from reports import CALCULATOR, FLAKY, WRONG

from skilleval.report.columns import row_names
from skilleval.report.document import Conclusion, State
from skilleval.report.verdict import Gate, Interruption, conclusion

NO_INTERVAL = {"ci_low": None, "ci_high": None}
TWO = CALCULATOR | {
    "skill_id": "shout",
    "n_tasks": 2,
    "n_trials": 6,
    "n_graded": 6,
    "n_passed": 6,
    "ci_low": 0.00922,
}
ONE = TWO | {"n_tasks": 1, "n_trials": 1, "n_graded": 1, "n_passed": 1} | NO_INTERVAL
CRASH = WRONG | {
    "skill_id": "crash",
    "n_tasks": 2,
    "n_trials": 6,
    "n_graded": 6,
    "n_skill_error": 6,
    "ci_high": 0.991,
}
HALF = CALCULATOR | {"n_passed": 30, "completion_rate": 0.5, "ci_low": 0.4, "ci_high": 0.6}
HALF |= {"completion_low": 0.5, "completion_high": 0.5}
LOST = ONE | {"n_trials": 2, "n_ungraded": 1, "completion_low": 0.5, "completion_high": 1.0}
SHORT = FLAKY | {"completion_rate": 0.65, "ci_low": 0.5, "ci_high": 0.78, "n_flaky_tasks": 0}
SHORT |= {"completion_low": 0.65, "completion_high": 0.65}


def concluded(
    *rows: dict[str, Any],
    threshold: float | None = 0.7,
    decides: bool = False,
    interruption: Interruption | None = None,
) -> Conclusion:
    """Sum up some rows under the names a report gives them."""
    gate = None if threshold is None else Gate(threshold=threshold, decides=decides)
    return conclusion(rows, row_names(rows), gate=gate, interruption=interruption)


@pytest.mark.parametrize(
    ("rows", "state", "sentence"),
    [
        (
            [CALCULATOR],
            State.PASSED,
            "Completion 1 ≥ 0.7 for 1 of 1 skills, interval [0.789, 1] included.",
        ),
        (
            [TWO],
            State.INCONCLUSIVE,
            "shout completes 2 of 2 tasks; that many cannot show more than [0.00922, 1].",
        ),
        ([ONE], State.INCONCLUSIVE, "shout completes its only task; that shows nothing of other tasks."),
        (
            [TWO | NO_INTERVAL],
            State.INCONCLUSIVE,
            "shout completes 2 of 2 tasks; that few give no interval.",
        ),
        ([CRASH], State.FAILED, "Completion 0 < 0.7 for 1 of 1 skills; crash fails both tasks."),
        (
            [CRASH | {"n_tasks": 1, "n_graded": 1, "n_trials": 1}],
            State.FAILED,
            "Completion 0 < 0.7 for 1 of 1 skills; crash fails its only task.",
        ),
        (
            [CRASH | {"n_graded": 1, "n_infrastructure": 5}],
            State.FAILED,
            (
                "Completion 0 < 0.7 for 1 of 1 skills; crash fails its only graded trial; 5 trials were lost to "
                "infrastructure errors."
            ),
        ),
        ([HALF], State.FAILED, "Completion 0.5 < 0.7 for 1 of 1 skills; all of [0.4, 0.6] lies below."),
        (
            [SHORT],
            State.INCONCLUSIVE,
            (
                "Completion 0.65 < 0.7 for 1 of 1 skills; flaky-calculator falls short at 0.65 [0.5, 0.78], which 20 "
                "tasks cannot settle."
            ),
        ),
        (
            [FLAKY],
            State.INCONCLUSIVE,
            (
                "Completion 0.717 ≥ 0.7 for 1 of 1 skills; 20 tasks cannot show it for other tasks of this kind "
                "(flaky-calculator: 0.717 [0.592, 0.818]); flaky-calculator is flaky on 14 of 20 tasks."
            ),
        ),
        (
            [LOST],
            State.INCONCLUSIVE,
            "Completion 1 ≥ 0.7 for 1 of 1 skills; 1 trial without a verdict leaves shout between 0.5 and 1.",
        ),
        (
            [CALCULATOR, FLAKY | {"ci_low": 0.71}],
            State.PASSED,
            "Completion ≥ 0.7 for 2 of 2 skills, intervals included; flaky-calculator is flaky on 14 of 20 tasks.",
        ),
        (
            [TWO, CRASH],
            State.FAILED,
            (
                "Completion ≥ 0.7 for 1 of 2 skills; crash fails both tasks; 2 tasks cannot show it for other tasks of "
                "this kind (shout: 1 [0.00922, 1])."
            ),
        ),
        (
            [CALCULATOR, HALF | {"skill_id": "half", "condition_id": "h"}],
            State.FAILED,
            "Completion ≥ 0.7 for 1 of 2 skills; half completes only 0.5 [0.4, 0.6].",
        ),
    ],
)
def test_what_was_observed_and_what_it_proves(
    rows: list[dict[str, Any]], state: State, sentence: str
) -> None:
    """Without an exit code at stake a run is judged by all that is known, and the words never contradict the state."""
    assert concluded(*rows) == Conclusion(state=state, sentence=sentence)


@pytest.mark.parametrize(
    ("rows", "threshold", "state", "sentence"),
    [
        (
            [TWO | {"n_tasks": 3, "ci_low": 0.11}],
            0.9,
            State.PASSED,
            (
                "Gate met: completion 1 ≥ 0.9 for 1 of 1 skills; inconclusive beyond these tasks: 3 tasks cannot show "
                "it for other tasks of this kind (shout: 1 [0.11, 1])."
            ),
        ),
        (
            [ONE],
            0.9,
            State.PASSED,
            (
                "Gate met: completion 1 ≥ 0.9 for 1 of 1 skills; inconclusive beyond these tasks: 1 task cannot show "
                "it for other tasks of this kind (shout: 1)."
            ),
        ),
        (
            [CALCULATOR, FLAKY | {"ci_low": 0.71}],
            0.7,
            State.PASSED,
            (
                "Gate met: completion ≥ 0.7 for 2 of 2 skills, intervals included; flaky-calculator is flaky on 14 of "
                "20 tasks."
            ),
        ),
        (
            [FLAKY],
            0.72,
            State.FAILED,
            (
                "Gate not met: completion 0.717 < 0.72 for 1 of 1 skills; inconclusive beyond these tasks: "
                "flaky-calculator falls short at 0.717 [0.592, 0.818], which 20 tasks cannot settle; "
                "flaky-calculator is flaky on 14 of 20 tasks."
            ),
        ),
        (
            [CALCULATOR, WRONG],
            0.7,
            State.FAILED,
            "Gate not met: completion ≥ 0.7 for 1 of 2 skills; wrong-calculator fails all 20 tasks.",
        ),
        (
            [LOST],
            0.7,
            State.FAILED,
            (
                "Gate not met: completion 1 ≥ 0.7 for 1 of 1 skills by the graded trials; 1 ungraded trial counts as "
                "not passed at a gate, which leaves shout at 0.5."
            ),
        ),
        (
            [CALCULATOR, LOST | {"n_ungraded": 3, "condition_id": "lost"}],
            0.7,
            State.FAILED,
            (
                "Gate not met: completion ≥ 0.7 for 2 of 2 skills by the graded trials; 3 ungraded trials count as "
                "not passed at a gate, which leaves shout at 0.25."
            ),
        ),
        (
            [LOST],
            0.5,
            State.PASSED,
            (
                "Gate met: completion 1 ≥ 0.5 for 1 of 1 skills; inconclusive beyond these tasks: 1 task cannot show "
                "it for other tasks of this kind (shout: 1)."
            ),
        ),
        (
            [LOST | {"n_ungraded": 0, "n_infrastructure": 2}],
            0.7,
            State.INCONCLUSIVE,
            (
                "Gate met by the graded trials: completion 1 ≥ 0.7 for 1 of 1 skills; 2 trials lost to infrastructure "
                "errors leave shout between 0.5 and 1."
            ),
        ),
        (
            [{"skill_id": "lost", "n_tasks": 2, "n_graded": 0, "n_infrastructure": 4}],
            0.7,
            State.FAILED,
            (
                "Gate not met: completion ≥ 0.7 for 0 of 1 skills; lost could not be graded; 4 trials were lost to "
                "infrastructure errors."
            ),
        ),
        (
            [HALF | {"completion_rate": 0.69996, "ci_low": 0.69, "ci_high": 0.699}],
            0.7,
            State.FAILED,
            "Gate not met: completion just below 0.7 for 1 of 1 skills; all of [0.69, 0.699] lies below.",
        ),
    ],
)
def test_a_gate_that_decides_the_exit_code_is_told_as_it_decides(
    rows: list[dict[str, Any]], threshold: float, state: State, sentence: str
) -> None:
    """The rates decide as for the exit code: what nobody could judge has not passed, what was lost leaves it open."""
    assert concluded(*rows, threshold=threshold, decides=True) == Conclusion(state=state, sentence=sentence)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([CALCULATOR], "calculator completes 20 of 20 tasks; that many cannot show more than [0.789, 1]."),
        ([ONE], "shout completes its only task; that shows nothing of other tasks."),
        ([TWO | {"ci_low": 1.0}], "shout completes 2 of 2 tasks."),
        ([CRASH], "Completion of crash is 0 [0, 0.991]; crash fails both tasks."),
        (
            [CALCULATOR, WRONG],
            (
                "Completion of 2 skills runs from 0 [0, 0.211] (wrong-calculator) to 1 [0.789, 1] (calculator); "
                "wrong-calculator fails all 20 tasks."
            ),
        ),
        ([CALCULATOR, TWO | {"condition_id": "t"}], "Completion is 1 for all of 2 skills."),
        ([{"skill_id": "lost", "n_graded": 0}], "No trial could be graded."),
    ],
)
def test_without_a_gate_the_run_informs(rows: list[dict[str, Any]], sentence: str) -> None:
    """Without a threshold nothing passes or fails."""
    assert concluded(*rows, threshold=None) == Conclusion(state=State.INFO, sentence=sentence)


def test_nothing_evaluated_is_never_passed() -> None:
    """A run without rows is inconclusive under a gate."""
    assert concluded() == Conclusion(state=State.INCONCLUSIVE, sentence="Nothing was evaluated.")
    assert concluded(threshold=None).state is State.INFO


def test_several_scorers_are_results_and_lost_trials_count_once() -> None:
    """Two scorers that judge the same trials are no two skills and do not double the infrastructure errors."""
    row = CALCULATOR | {"n_infrastructure": 1}
    found = concluded(row | {"scorer": "exact"}, row | {"scorer": "contains"})
    assert found.sentence == (
        "Completion ≥ 0.7 for 2 of 2 results (condition × scorer), intervals included; 1 trial was lost to "
        "infrastructure errors."
    )


def test_an_interrupted_run_has_not_passed() -> None:
    """What was cut short may fail but not pass, and says first how far it came."""
    cut = Interruption(n_trials=7, n_planned=60)
    found = concluded(CALCULATOR, interruption=cut)
    assert found.state is State.INCONCLUSIVE
    assert found.sentence.startswith("Interrupted after 7 of 60 trials; completion 1 ≥ 0.7 for 1 of 1 skills")
    assert concluded(WRONG, interruption=cut).state is State.FAILED
    waiting = concluded(CALCULATOR, interruption=Interruption(n_trials=7, n_planned=60, n_not_judged=2))
    assert waiting.sentence.startswith(
        "Interrupted after 7 of 60 trials, 2 more not judged yet; completion 1"
    )
    decided = concluded(CALCULATOR, decides=True, interruption=Interruption())
    assert decided.state is State.INCONCLUSIVE
    assert decided.sentence.startswith("Interrupted before the end; gate met so far: completion 1")


def test_many_skills_are_counted_not_listed() -> None:
    """With many of a kind the verdict stays short."""
    wrong = [WRONG | {"skill_id": f"wrong-{i}", "condition_id": f"w{i}"} for i in range(30)]
    flaky = [FLAKY | {"skill_id": f"flaky-{i}", "condition_id": f"f{i}"} for i in range(4)]
    short = [SHORT | {"skill_id": f"short-{i}", "condition_id": f"s{i}"} for i in range(5)]
    assert concluded(*wrong, *flaky, *short).sentence == (
        "Completion ≥ 0.7 for 4 of 39 skills; 30 fail everything; 20 tasks cannot show it for other tasks of this "
        "kind for 4 of them; 5 fall short, but not beyond doubt; 4 are flaky."
    )


def test_tasks_are_not_counted_where_skills_differ_in_them() -> None:
    """Skills with different numbers of graded tasks share a sentence without a number."""
    rows = [FLAKY | {"n_graded_tasks": n, "skill_id": f"s{n}", "n_flaky_tasks": 0} for n in (19, 20)]
    assert "the tasks cannot show it for other tasks of this kind (s19: 0.717" in concluded(*rows).sentence


def test_reused_attempts_are_counted_once_whatever_the_scorers() -> None:
    """Two scorers judge the same 60 attempts, of which 20 were made by an earlier run."""
    reused = CALCULATOR | {"n_reused": 20}
    said = concluded(reused, reused | {"scorer": "other"}).sentence
    assert said.endswith("; 20 of 60 attempts reused from earlier runs.")
    assert "reused" not in concluded(CALCULATOR | {"n_reused": 0}).sentence
