from __future__ import annotations

from pathlib import Path

import pytest
from stored_runs import TASKS, Runs, rewrite_manifest

from skilleval.app.timeline import Line, Wanted, timeline
from skilleval.errors import ResultsError, UsageError


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Give seven runs: three with seven wrong answers, then three without any by another content; one interrupted."""
    made = Runs(tmp_path_factory.mktemp("timeline"))
    for _ in range(3):
        made.run(wrong=TASKS[1:])
    made.change_skill("better")
    for _ in range(3):
        made.run()
    rewrite_manifest(made.run(), interrupted=True)
    return made


def only(lines: tuple[Line, ...]) -> Line:
    """Give the only line."""
    (line,) = lines
    return line


def test_a_change_is_told_with_the_runs_and_the_files(runs: Runs) -> None:
    """From 1 of 8 to 8 of 8 at the fourth run, with other files of the skill."""
    line = only(timeline(runs.store, Wanted()).lines)
    assert [point["value"] for point in line.points] == [0.125] * 3 + [1.0] * 3
    (change,) = line.changes
    assert (change.run_id, change.after_run_id) == (line.points[3]["run_id"], line.points[2]["run_id"])
    assert (change.before, change.after, change.n_tasks) == (0.125, 1.0, 8)
    assert change.skill_changed
    assert change.p_value < 0.01
    assert line.points[0]["low"] < 0.125 < line.points[0]["high"]


def test_a_run_that_was_cut_short_does_not_count(runs: Runs) -> None:
    """It is named, with the reason."""
    (notice,) = timeline(runs.store, Wanted()).notices
    assert notice.endswith("does not count: the run did not come to its end")


def test_other_metrics_have_a_course_and_no_test(runs: Runs) -> None:
    """What is no mean over tasks is shown, and it is said that no change was looked for."""
    line = only(timeline(runs.store, Wanted(metric="p95_ms")).lines)
    assert line.points[0]["value"] == 12.5
    assert line.points[0]["low"] is None
    assert line.changes == ()
    assert line.note.startswith("changes are looked for in completion_rate")


def test_every_point_of_a_course_has_its_interval_and_the_method_of_it(runs: Runs) -> None:
    """Scores have ends as completion has; where there is none the method says why, and a count has neither."""
    score, p95, count = (
        only(timeline(runs.store, Wanted(metric=name)).lines).points[0]
        for name in ("partial_score", "p95_ms", "n_passed")
    )
    assert score["low"] < score["value"] < score["high"]
    assert score["method"].startswith("clustered t")
    assert (p95["low"], p95["method"]) == (
        None,
        "no interval: p95 needs 72 values at level 0.95, there are 8",
    )
    assert (count["low"], count["method"]) == (None, None)


def test_runs_that_cannot_be_compared_are_apart(tmp_path: Path) -> None:
    """Another content of the benchmark or other settings of the scorer begin a line, and it is said why."""
    runs = Runs(tmp_path / "a")
    first, second = runs.run(), runs.run("scorers.task.fallback=contains")
    found = timeline(runs.store, Wanted())
    assert [[point["run_id"] for point in line.points] for line in found.lines] == [
        [first.name],
        [second.name],
    ]
    assert found.notices == ("recorded by task: 2 lines, because runs differ in settings of the scorer",)
    assert [line.note for line in found.lines] == ["one run: nothing to compare it with"] * 2


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        (Wanted(skill="record"), "did you mean recorded?"),
        (Wanted(benchmark="custum"), "did you mean custom?"),
        (Wanted(scorer="tusk"), "did you mean task?"),
        (Wanted(metric="p95"), "did you mean p95_ms?"),
    ],
)
def test_a_misspelt_name_is_an_error_with_the_right_one(runs: Runs, wanted: Wanted, hint: str) -> None:
    """Nothing found is never shown as an empty history."""
    with pytest.raises(UsageError) as caught:
        timeline(runs.store, wanted)
    assert caught.value.problems[0].hint == hint


def test_without_runs_there_is_no_history(tmp_path: Path) -> None:
    """An empty folder is an error that says what to do."""
    with pytest.raises(ResultsError, match="no run is stored below"):
        timeline(tmp_path, Wanted())


@pytest.mark.parametrize("cut_short", [False, True])
def test_what_was_merged_into_another_run_counts_once(tmp_path: Path, cut_short: bool) -> None:
    """A joined run stands for its parts, unless it does not count itself: then they do."""
    made = Runs(tmp_path)
    parts, joined = (made.run(), made.run()), made.run()
    sources = [{"run_id": part.name} for part in parts]
    rewrite_manifest(joined, merged_from=sources, interrupted=cut_short)
    line = only(timeline(made.store, Wanted()).lines)
    expected = {part.name for part in parts} if cut_short else {joined.name}
    assert {point["run_id"] for point in line.points} == expected
