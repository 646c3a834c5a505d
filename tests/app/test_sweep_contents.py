"""Contents that changed while a sweep ran are told, those that a setting chose are not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from skilleval.app.sweep_contents import changed_contents
from skilleval.results.sweeps import Sweep, SweepJob


def _told(
    settings: list[dict[str, str]], digests: list[str], benchmarks: Mapping[int, str] | None = None
) -> list[str]:
    jobs = tuple(
        SweepJob(job=number, key=str(number), overrides=(), settings=one)
        for number, one in enumerate(settings)
    )
    sweep = Sweep(
        folder=Path(), sweep_id="s", experiment="", command=(), started_in=Path(), overrides=(), grid={},
        sweeper="planned", launcher="basic", is_planned=True, jobs=jobs,
    )  # fmt: skip
    rows = [
        {"job": number, "skill_id": "a", "mode": "direct", "skill_digest": digest}
        for number, digest in enumerate(digests)
    ]
    return list(changed_contents(pl.DataFrame(rows), benchmarks or {}, sweep))


def test_a_skill_that_was_edited_between_two_jobs_is_told() -> None:
    """Jobs of the same skill set saw two contents of one skill: a setting would get what the edit did."""
    (said,) = _told([{"runner.seed": "1"}, {"runner.seed": "2"}], ["x", "y"])
    assert said.startswith("the skill a changed while the sweep ran")
    assert _told([{"runner.seed": "1"}, {"runner.seed": "2"}], ["x", "x"]) == []


def test_a_skill_set_may_hold_other_contents() -> None:
    """Two versions of a skill under test are what the sweep is about."""
    assert _told([{"skill_set": "old"}, {"skill_set": "new"}], ["x", "y"]) == []
    assert _told([{"skill_set.paths": "[a]"}, {"skill_set.paths": "[b]"}], ["x", "y"]) == []


def test_tasks_that_were_edited_between_two_jobs_are_told() -> None:
    """One benchmark has one content, unless it is what is swept."""
    seeds = [{"runner.seed": "1"}, {"runner.seed": "2"}]
    (said,) = _told(seeds, ["x", "x"], {0: "m", 1: "n"})
    assert said.startswith("the benchmark changed while the sweep ran")
    assert _told([{"benchmark": "m"}, {"benchmark": "n"}], ["x", "x"], {0: "m", 1: "n"}) == []
