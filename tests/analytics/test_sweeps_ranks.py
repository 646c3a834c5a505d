"""Whether the order of the skills depends on a setting."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from swept import HOW, grid, measure, measured

from skilleval.analytics.sweeps_ranks import rank_agreement, rank_flips, skill_ranks

SCORERS = grid(scorer=("strict", "lenient"))


def swapped(cell: Mapping[str, str], skill: str, task: int) -> float:
    """Let a lenient scorer pass the second skill on the first eight tasks, and a strict one the first skill."""
    return float(task < 8 if (skill == "one") == (cell["scorer"] == "strict") else task < 1)


def test_skills_that_change_places_are_found_with_their_tasks() -> None:
    """Tau is −1, and the tasks named are those on which the order turned."""
    values = measured(SCORERS, swapped, skills=("one", "two"))
    ranks = skill_ranks(values, SCORERS, measure=measure())
    assert ranks.select("level", "skill_id", "rank").rows() == [
        ("strict", "one", 1.0),
        ("strict", "two", 2.0),
        ("lenient", "two", 1.0),
        ("lenient", "one", 2.0),
    ]
    assert rank_agreement(ranks)["kendall_tau"].to_list() == [-1.0]
    flip = rank_flips(values, SCORERS, measure=measure(), how=HOW, limit=5).row(0, named=True)
    assert (flip["skill_ahead_a"], flip["skill_ahead_b"]) == ("one", "two")
    assert flip["lead_a"] == pytest.approx(7 / 12)
    assert flip["effect"] == pytest.approx(14 / 12)
    assert flip["tasks"] == ["t01", "t02", "t03", "t04", "t05"]
    assert flip["is_shown"]


def test_an_order_that_stays_has_no_flip() -> None:
    """Tau is 1 although all rates moved."""
    values = measured(
        SCORERS,
        lambda cell, skill, task: float(task < (6 if skill == "one" else 3) + (cell["scorer"] == "lenient")),
        skills=("one", "two"),
    )
    assert rank_agreement(skill_ranks(values, SCORERS, measure=measure()))["kendall_tau"].to_list() == [1.0]
    assert rank_flips(values, SCORERS, measure=measure(), how=HOW, limit=5).height == 0


def test_skills_that_are_level_share_a_place() -> None:
    """Two first ones have the mean of both places; without an order there is no tau, and it says why."""
    values = measured(SCORERS, lambda *_: 1.0, skills=("one", "two"))
    ranks = skill_ranks(values, SCORERS, measure=measure())
    assert ranks["rank"].to_list() == [1.5] * 4
    agreement = rank_agreement(ranks).row(0, named=True)
    assert agreement["kendall_tau"] is None
    assert agreement["tau_reason"]


def test_the_fastest_skill_is_first() -> None:
    """Where less is better, the smallest value has the first place."""
    values = measured(
        SCORERS, lambda _cell, skill, _task: 50.0 if skill == "two" else 90.0, skills=("one", "two")
    )
    ranks = skill_ranks(values, SCORERS, measure=measure("latency_ms"))
    assert ranks.filter(level="strict")["skill_id"].to_list() == ["two", "one"]


def test_a_task_that_a_skill_lacks_at_one_level_does_not_count() -> None:
    """Both levels are averaged over the same tasks of the skill."""
    values = measured(
        SCORERS,
        lambda cell, _skill, task: None if cell["scorer"] == "strict" and task > 5 else float(task > 5),
    )
    assert skill_ranks(values, SCORERS, measure=measure()).select("value", "n_tasks").unique().rows() == [
        (0.0, 6)
    ]
