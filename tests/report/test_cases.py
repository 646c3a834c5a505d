from __future__ import annotations

from typing import Any

from reports import FLAKY, WRONG, cell, failure, report_of

from skilleval.report.cases import Case, skill_cases


def test_equal_outcomes_are_told_once() -> None:
    """Repeats that went the same way are one case; another output is another case."""
    rows = [failure(WRONG, "t", 0), failure(WRONG, "t", 1, output="7"), failure(WRONG, "t", 2)]
    (skill,) = skill_cases(report_of(WRONG, failures=rows))
    (task,) = skill.tasks
    assert [case.repeats for case in task.cases] == [(0, 2), (1,)]
    assert (skill.n_trials, task.n_trials) == (3, 3)


BROKEN: dict[str, Any] = {
    "status": "skill_error",
    "failure_kind": "no_reply",
    "message": "nothing came",
    "output": None,
}


def only_case(**texts: Any) -> Case:
    """Give the only case of a report with one failed trial."""
    (skill,) = skill_cases(report_of(WRONG, failures=[failure(WRONG, "t", **texts)]))
    return skill.tasks[0].cases[0]


def test_a_sentence_that_the_scorer_repeats_is_told_once() -> None:
    """The reason of a broken trial is its status and message again; any other reason is kept."""
    assert only_case(**BROKEN, reason="skill_error: nothing came").sentences == ("nothing came",)
    assert only_case(**BROKEN, reason="other").sentences == ("nothing came", "other")
    assert only_case(**BROKEN | {"message": None}, reason="skill_error: no_reply").sentences == ()
    assert only_case().sentences == ("expected 4, found 5",)


def test_the_outcome_is_a_status_or_a_verdict_with_its_kind() -> None:
    """A kind that is the status again is not said twice."""
    assert only_case(**BROKEN).outcome == "skill_error (no_reply)"
    assert only_case(status="timeout", failure_kind="timeout").outcome == "timeout"
    assert only_case().outcome == "failed"


def test_raw_stdout_is_evidence_where_there_is_no_output() -> None:
    """What a program printed instead of a reply is shown; beside an output it is not."""
    assert dict(only_case(**BROKEN, stdout="HELLO").excerpts)["stdout"].text == "HELLO"
    assert "stdout" not in dict(only_case(stdout="HELLO").excerpts)
    assert only_case(**BROKEN).lacks_reply
    assert not only_case().lacks_reply


def test_skills_come_in_the_order_of_the_summary() -> None:
    """The order of the failed trials does not change the order of skills; strangers come last."""
    rows = [failure(FLAKY | {"condition_id": "c?"}, "t"), failure(WRONG, "t"), failure(FLAKY, "t")]
    found = skill_cases(report_of(WRONG, FLAKY, failures=rows))
    assert [skill.condition_id for skill in found] == ["c-flaky", "c-wrong", "c?"]


def test_what_is_shown_is_told_apart_from_what_failed() -> None:
    """The matrix knows all failed trials: a cut list never passes for the whole."""
    matrix = [cell(WRONG, task, 0, n=5) for task in ("a", "b")]
    (skill,) = skill_cases(report_of(WRONG, matrix=matrix, failures=[failure(WRONG, "a", 0)]))
    assert skill.amount == "1 of 10 trials, 2 tasks"
    assert [(task.task_id, task.left_out) for task in skill.tasks] == [
        ("a", "4 more failed trials in the tables of the run"),
        ("b", "5 failed trials in the tables of the run"),
    ]
    (whole,) = skill_cases(report_of(WRONG, failures=[failure(WRONG, "a", 0)]))
    assert (whole.amount, whole.tasks[0].left_out) == ("1 trial, 1 task", "")


def test_ungraded_trials_have_a_place_too() -> None:
    """A cell in which every verdict is a pass and one is missing leads to the trial without a verdict."""
    lost = cell(FLAKY, "t", 2) | {"n_graded": 2, "rate": 1.0}
    (skill,) = skill_cases(report_of(FLAKY, matrix=[lost]))
    assert [(task.task_id, task.n_failed) for task in skill.tasks] == [("t", 1)]
