"""`skilleval history`, `slices` and `items`: many runs read together."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.conftest import Run
from stored_runs import TASKS, Runs


@pytest.fixture
def runs(folder: Path) -> Runs:
    """Give two runs in the working folder: the second one without the seven wrong answers of the first."""
    made = Runs(folder / "work")
    made.run(wrong=TASKS[1:])
    made.run()
    return made


def test_history_shows_the_course_and_the_change(run: Run, runs: Runs) -> None:
    """A line with bars, a row a run, and the change in a sentence; the document says the same."""
    done = run("history", "--skill", "recorded", "--store", runs.store)
    assert done.code == 0, done.err
    head, headings, first, _, change, *_ = done.out.splitlines()
    assert head.startswith("recorded on custom@")
    assert head.endswith("▂█")
    assert headings.split("\t")[:3] == ["started", "run", "version"]
    assert "0.125 [" in first
    assert "0.125 → 1 (+0.875, p = " in change
    assert change.endswith("8 tasks), with the same files of the skill")
    document = run("history", "--store", runs.store, "--json").document
    assert [point["value"] for point in document["lines"][0]["points"]] == [0.125, 1.0]
    assert document["lines"][0]["changes"][0]["n_tasks"] == 8


def test_slices_show_a_metric_by_family(run: Run, runs: Runs) -> None:
    """A row a slice and skill, and the trials that are in none."""
    done = run(
        "slices", "latest", "--store", runs.store, "--by", "family", "--metric", "completion_rate", "p95_ms"
    )
    assert done.code == 0, done.err
    headings, row, remark = done.out.splitlines()
    assert headings.split("\t") == [
        "family", "skill_id", "scorer", "completion_rate", "p95_ms", "tasks", "graded",
    ]  # fmt: skip
    assert row.split("\t")[:3] == ["family", "recorded", "task"]
    assert row.split("\t")[5:] == ["4", "4"]
    assert remark == "4 trials are in no slice: family not known"
    document = run("slices", "latest", "--store", runs.store, "--by", "family", "--json").document
    assert document["slices"][0]["completion_rate"] == 1.0


def test_items_say_which_tasks_are_dead(run: Run, runs: Runs) -> None:
    """Reliability or why it is not known, a row a task, and advice."""
    done = run("items", "latest", "--store", runs.store)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert "reliability not known: 1 subject has verdicts on all tasks" in lines[0]
    assert lines[-1] == (
        "▲ 8 tasks all_pass: everybody passes it: it tells no skill from another; make it harder, or keep it as a "
        "smoke test"
    )
    document = run("items", "latest", "--store", runs.store, "--json").document
    assert document["findings"] == {"all_pass": 8}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["slices", "latest"], "Missing option '--by'"),
        (["slices", "latest", "--by", "tagg"], "did you mean tag?"),
        (["history", "--store", "absent"], "there is no such folder"),
        (["items", "latest", "--store", "."], "no run is stored below"),
    ],
)
def test_a_mistake_is_one_error_with_the_fix(run: Run, arguments: list[str], told: str) -> None:
    """Exit code 2, nothing on stdout, and what to do on stderr."""
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
