from __future__ import annotations

from reports import FLAKY, WRONG, failure, report_of

from skilleval.report.cases import skill_cases


def test_equal_outcomes_are_told_once() -> None:
    """Repeats that went the same way are one case; another output is another case."""
    rows = [failure(WRONG, "t", 0), failure(WRONG, "t", 1, output="7"), failure(WRONG, "t", 2)]
    (skill,) = skill_cases(report_of(WRONG, failures=rows))
    (task,) = skill.tasks
    assert [case.repeats for case in task.cases] == [(0, 2), (1,)]
    assert (skill.n_trials, task.n_trials) == (3, 3)


def test_skills_come_in_the_order_of_the_summary() -> None:
    """The order of the failed trials does not change the order of skills; strangers come last."""
    rows = [failure(FLAKY | {"condition_id": "c?"}, "t"), failure(WRONG, "t"), failure(FLAKY, "t")]
    found = skill_cases(report_of(WRONG, FLAKY, failures=rows))
    assert [skill.condition_id for skill in found] == ["c-flaky", "c-wrong", "c?"]
