from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skilleval.app.sweeps import StoredLedger
from skilleval.config.compose import Again, Composed, run_hydra
from skilleval.errors import ConfigError

Search = Callable[..., tuple[dict[str, Any], ...]]


def job(composed: Composed) -> Mapping[str, Any]:
    """Come to more the nearer the time-out is to 2000 ms; say which scorer it was."""
    far = abs(composed.settings.runner.timeout_ms - 2000) / 2000
    rows = [
        {"scorer": "exact", "skill_id": "a", "completion_rate": 1 - far},
        {"scorer": "exact", "skill_id": "b", "completion_rate": 0.0},
    ]
    return {"exit_code": 0, "summary": rows, "timeout_ms": composed.settings.runner.timeout_ms}


@pytest.fixture
def search(project: Path, user_file: Path) -> Search:
    """Run a search in the project."""

    def go(*argv: str, again: Again | None = None) -> tuple[dict[str, Any], ...]:
        return run_hydra(
            ["-m", "skill_set=examples", "hydra/sweeper=optuna", *argv],
            job,
            project=project,
            user_file=user_file,
            ledger=lambda folder: StoredLedger(folder=folder),
            again=again,
        )

    return go


def test_a_search_tries_settings_inside_their_interval(search: Search) -> None:
    """It runs as many jobs as it may, each recorded as it comes, all with values of the interval."""
    jobs = search("runner.timeout_ms=interval(1000,3000)", "hydra.sweeper.n_trials=4")
    assert [one["job"] for one in jobs] == [0, 1, 2, 3]
    assert all(1000 <= one["timeout_ms"] <= 3000 for one in jobs)
    assert len({one["timeout_ms"] for one in jobs}) == 4
    assert all(one["state"] == "done" for one in jobs)


def test_a_search_that_goes_on_tries_what_it_would_have_tried(search: Search, project: Path) -> None:
    """A stop costs no job of the budget: nothing that was tried before is drawn again."""
    asked = "runner.timeout_ms=interval(1000,3000)"
    search(asked, "hydra.sweeper.n_trials=2")
    (plan,) = project.glob("outputs/*/*/sweep.json")
    again = Again(sweep_id=plan.parent.name, folder=plan.parent)
    stopped = search(asked, "hydra.sweeper.n_trials=4", again=again)
    whole = search(asked, "hydra.sweeper.n_trials=4")
    assert [one["timeout_ms"] for one in stopped] == [one["timeout_ms"] for one in whole]
    assert len({one["timeout_ms"] for one in stopped}) == 4


def test_a_search_over_choices_runs_no_job_twice(search: Search) -> None:
    """What it came upon before is known already."""
    jobs = search("runner.timeout_ms=choice(1500,2000)", "hydra.sweeper.n_trials=6")
    assert sorted(one["timeout_ms"] for one in jobs) == [1500, 2000]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("hydra.sweeper.objective=nothing", "runner.timeout_ms=interval(1,2)"), "completion_rate"),
        (("hydra.sweeper.direction=up", "runner.timeout_ms=interval(1,2)"), "maximize or minimize"),
    ],
)
def test_what_a_search_cannot_do_is_said(search: Search, argv: tuple[str, ...], said: str) -> None:
    """A figure that no summary has is refused with the known ones, and so is a direction that there is not."""
    with pytest.raises(ConfigError, match=said):
        search(*argv)
