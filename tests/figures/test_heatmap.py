"""Tasks by skills."""

from __future__ import annotations

from typing import Any

import polars as pl

from skilleval.figures.export import svg
from skilleval.figures.heatmap import MAX_SKILLS, MAX_TASKS, chart, cut


def cell(skill: str, task: str, outcomes: str) -> dict[str, Any]:
    """Give one task of one skill."""
    n = len(outcomes)
    return {
        "condition_id": f"c-{skill}",
        "skill_id": skill,
        "scorer": "task",
        "task_id": task,
        "outcomes": outcomes,
        "n": n,
        "n_passed": outcomes.count("p"),
    }


def axes(*cells: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Give the tasks and the skills in the order in which they are drawn."""
    encoding = chart(pl.DataFrame(list(cells))).to_dict()["layer"][0]["encoding"]
    return encoding["y"]["scale"]["domain"], encoding["x"]["scale"]["domain"]


def test_the_hardest_tasks_and_the_best_skills_come_first() -> None:
    """Whatever the order of the rows; equals go by name."""
    cells = [
        cell("b", "easy", "pp"),
        cell("a", "easy", "pp"),
        cell("a", "hard", "fe"),
        cell("b", "hard", "pf"),
    ]
    for rows in (cells, cells[::-1]):
        assert axes(*rows) == (["hard", "easy"], ["b", "a"])


def test_every_repeat_is_a_stripe_and_what_did_not_pass_has_a_mark() -> None:
    """Nobody needs to tell the colours apart: a cross, a triangle, a circle, and nothing for what passed."""
    picture = svg(chart(pl.DataFrame([cell("a", "t", "pfeu")])).to_dict())
    assert picture.count('aria-roledescription="rect mark"') == 4
    assert picture.count('aria-roledescription="point"') == 3


def test_what_has_no_room_is_counted() -> None:
    """At most so many tasks and skills are drawn; the worst tasks stay."""
    hard = [cell("a", f"hard-{n:02}", "f") for n in range(MAX_TASKS)]
    rows = pl.DataFrame([cell("a", "an-easy-one", "p"), *hard])
    assert cut(rows) == f"Shown: {MAX_TASKS} of {MAX_TASKS + 1} tasks."
    assert "an-easy-one" not in svg(chart(rows).to_dict())
    wide = pl.DataFrame([cell(f"s{n}", "t", "p") for n in range(MAX_SKILLS + 2)])
    assert cut(wide) == f"Shown: {MAX_SKILLS} of {MAX_SKILLS + 2} columns."
    assert cut(pl.DataFrame(hard)) == ""


def test_a_task_without_outcomes_is_not_drawn() -> None:
    """A report of an earlier version knows how many passed, not which."""
    assert axes(cell("a", "old", ""), cell("a", "new", "p"))[0] == ["new"]
