from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from skilleval.analytics.trial_details import Cuts, DetailFrames, chosen_trials, trial_details
from skilleval.results.schema import SCORES, TRIALS, TRIES, polars_schema

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Build = Callable[[list[dict[str, Any]]], pl.LazyFrame]

NO_TRIES = pl.DataFrame(schema=polars_schema(TRIES)).lazy()
SPEECH = "word " * 2000


def details(
    trials: pl.LazyFrame, scores: pl.LazyFrame, tries: pl.LazyFrame = NO_TRIES, *, cuts: Cuts | None = None
) -> DetailFrames:
    """Give the details of all trials."""
    chosen = chosen_trials(trials, scores, 1000)
    return trial_details(trials, tries, scores, chosen, cuts=cuts or Cuts())


def test_all_trials_are_shown_where_they_fit(grid: Grid) -> None:
    """Below the limit every trial is there, passed ones too, in the order of tasks and repeats."""
    found = chosen_trials(*grid([[1, 0], ["timeout", None]]), 4).collect()
    assert found.select("task_id", "repeat", "status", "verdict", "n_trials").rows() == [
        ("t000", 0, "completed", "passed", 4),
        ("t000", 1, "completed", "failed", 4),
        ("t001", 0, "timeout", "failed", 4),
        ("t001", 1, "completed", "ungraded", 4),
    ]


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (1, ["timeout"]),
        (2, ["failed", "timeout"]),
        (3, ["failed", "timeout", "ungraded"]),
        (4, ["passed", "failed", "timeout", "ungraded"]),
    ],
)
def test_what_did_not_pass_comes_first(grid: Grid, limit: int, shown: list[str]) -> None:
    """What broke goes before what failed, that before what is ungraded, and passed trials fill up."""
    found = chosen_trials(*grid([[1, 0], ["timeout", None]]), limit).collect()
    rows = found.select("status", "verdict").rows()
    assert [verdict if status == "completed" else status for status, verdict in rows] == shown


def test_passed_trials_are_sampled_evenly(grid: Grid) -> None:
    """Of three tasks under two conditions with many repeats each has its share, and no condition is left out."""
    parts = [grid([[1] * 40] * 3, skill_id=name, condition_id=name) for name in ("a", "b")]
    trials, scores = (pl.concat(frames) for frames in zip(*parts, strict=True))
    found = chosen_trials(trials, scores, 30).collect()
    cells = Counter(found.select("task_id", "condition_id").iter_rows())
    assert found["task_id"].value_counts().sort("task_id")["count"].to_list() == [10, 10, 10]
    assert len(cells) == 6
    assert min(cells.values()) >= 4


def test_the_gravest_scorer_speaks_for_a_trial(trials_of: Build, scores_of: Build) -> None:
    """A trial that one scorer passes and another fails has failed."""
    trials = trials_of([{"task_id": "t", "trial_id": "x"}])
    scores = scores_of(
        [{"trial_id": "x", "scorer": "a", "score": 1.0}, {"trial_id": "x", "scorer": "b", "score": 0.0}]
    )
    assert chosen_trials(trials, scores, 9).collect()["verdict"].to_list() == ["failed"]


OUTCOMES = st.sampled_from([1, 0, None, "timeout", "provider_error"])


@settings(deadline=None, max_examples=25)
@given(
    tasks=st.lists(st.lists(OUTCOMES, min_size=1, max_size=4), min_size=1, max_size=5),
    limit=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_the_choice_keeps_its_laws(grid: Grid, tasks: list[list[Any]], limit: int, seed: int) -> None:
    """The order of rows is irrelevant, the limit is kept, and no passed trial is shown while another one is not."""
    trials, scores = grid(tasks)
    found = chosen_trials(trials, scores, limit).collect()
    mixed = trials.collect().sample(fraction=1, shuffle=True, seed=seed).lazy()
    assert_frame_equal(chosen_trials(mixed, scores, limit).collect(), found)
    n_wrong = sum(said != 1 for repeats in tasks for said in repeats)
    passed = (found["verdict"] == "passed") & (found["status"] == "completed")
    assert found.height == min(limit, sum(map(len, tasks)))
    assert found.height - passed.sum() == min(limit, n_wrong)


def test_texts_are_cut_with_their_whole_length(trials_of: Build, scores_of: Build) -> None:
    """A passed trial keeps less of a text than a failed one, and both say how long it is in characters."""
    texts = {"output": "ä" * 9000, "stderr": SPEECH, "stdout": None, "request": "r" * 20_000}
    rows = [{"task_id": "t", "trial_id": name, "repeat": i} | texts for i, name in enumerate("xy")]
    scores = scores_of([{"trial_id": "x", "score": 0.0}, {"trial_id": "y", "score": 1.0}])
    found = details(trials_of(rows), scores).trials.collect()
    assert found["output"].str.len_chars().to_list() == [4000, 1000]
    assert found["output_length"].to_list() == [9000, 9000]
    assert found["stderr_length"].to_list() == [10_000, 10_000]
    assert found["stdout"].to_list() == found["stdout_length"].to_list() == [None, None]
    assert found.select("request_length", pl.col("request").str.len_chars().alias("n")).row(0) == (
        20_000,
        16_000,
    )


READ_LONG_LINES = """
import sys
import polars as pl
from skilleval.analytics.trial_details import Cuts, chosen_trials, trial_details
trials, scores, tries = (pl.scan_parquet(path) for path in sys.argv[1:])
chosen = chosen_trials(trials, scores, 10_000).collect().lazy()
pages = lambda: int(open("/proc/self/statm").read().split()[1])
before = pages()
found = trial_details(trials, tries, scores, chosen, cuts=Cuts()).trials.collect(engine="streaming")
assert found["output_length"].min() > 1_000_000
print((pages() - before) * 4096 // 1_000_000)
"""


def test_long_lines_are_not_kept_alive(trials_of: Build, scores_of: Build, tmp_path: Path) -> None:
    """Of 400 lines of a megabyte only the shown beginnings stay in memory, not the lines that they begin (400 MB)."""
    names = [str(i) for i in range(400)]
    trials = trials_of([{"task_id": "t", "trial_id": name} for name in names])
    lines = trials.with_columns(output=pl.format("{}{}", "trial_id", pl.lit("x" * 1_000_000)))
    scores = scores_of([{"trial_id": name, "score": 0.0} for name in names])
    paths = [tmp_path / name for name in ("trials", "scores", "tries")]
    for path, table in zip(paths, (lines, scores, NO_TRIES), strict=True):
        table.collect().write_parquet(path, row_group_size=10)
    done = subprocess.run(
        [sys.executable, "-c", READ_LONG_LINES, *map(str, paths)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 350


def test_tasks_and_conditions_are_told_once(grid: Grid) -> None:
    """Each task and each condition of the shown trials stands there once, sorted."""
    trials, scores = grid([[1, 0], [1]], condition_id="c", input="[1]", task_tags=["a"], adapter="http")
    found = details(trials, scores)
    assert found.tasks.collect().select("task_id", "task_tags", "input", "input_length").rows() == [
        ("t000", ["a"], "[1]", 3),
        ("t001", ["a"], "[1]", 3),
    ]
    assert found.conditions.collect().select("condition_id", "adapter").rows() == [("c", "http")]


def test_checks_are_those_of_the_chosen_trials(grid: Grid) -> None:
    """A check of a trial that is not shown is not carried."""
    trials, scores = grid([[1, 0, 1]])
    chosen = chosen_trials(trials, scores, 1)
    found = trial_details(trials, NO_TRIES, scores, chosen, cuts=Cuts()).checks.collect()
    assert found.select("trial_id", "verdict").rows() == [("s-0-1", "failed")]


def test_tries_are_told_where_there_are_several(trials_of: Build, scores_of: Build) -> None:
    """The one try of a trial says nothing that the trial does not say."""
    rows = [{"task_id": "t", "trial_id": name, "n_tries": n} for name, n in (("x", 1), ("y", 2))]
    of_tries = [("x", 0), ("y", 1), ("y", 0)]
    tries = pl.DataFrame(
        [
            {"run_id": "r", "trial_id": name, "try_index": i, "status": "timeout", "message": SPEECH}
            for name, i in of_tries
        ],
        schema=polars_schema(TRIES),
    ).lazy()
    found = details(trials_of(rows), scores_of([{"trial_id": "x", "score": 1.0}]), tries).tries.collect()
    assert found.select("trial_id", "try_index", "message_length").rows() == [
        ("y", 0, 10_000),
        ("y", 1, 10_000),
    ]
    assert found["message"].str.len_chars().to_list() == [1000, 1000]


def test_a_run_without_trials_has_no_details() -> None:
    """Of nothing, nothing is chosen."""
    nothing = [pl.DataFrame(schema=polars_schema(table)).lazy() for table in (TRIALS, SCORES)]
    assert chosen_trials(nothing[0], nothing[1], 5).collect().is_empty()
