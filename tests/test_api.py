"""The public functions, as a notebook uses them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
from stored_runs import TASKS, Runs, rewrite_manifest
from written_runs import write_run

import skilleval


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Give two runs, of which the second one is better."""
    made = Runs(tmp_path_factory.mktemp("api"))
    made.run(wrong=TASKS[:6])
    made.run()
    return made


@pytest.fixture(scope="module")
def pair(runs: Runs) -> tuple[skilleval.Run, skilleval.Run]:
    """Open both runs, oldest first."""
    first, second = skilleval.scan_runs(runs.store).collect()["folder"]
    return skilleval.open_run(first), skilleval.open_run(second)


def overrides(runs: Runs) -> list[str]:
    """Name the settings of a run with paths that begin in the project."""
    return [
        "skill_set.paths=[skill]",
        "benchmark.tasks=tasks.json",
        "adapter=replay",
        f"adapter.path={runs.workload.folder / 'recorded.jsonl'}",
        "sandbox=none",
        "report.formats=[]",
    ]


def test_importing_is_instant() -> None:
    """The name of every function is there before anything heavy is loaded."""
    program = (
        "import sys, skilleval\n"
        "assert {'evaluate', 'compare', '__version__'} <= set(dir(skilleval))\n"
        "assert not {'polars', 'numpy', 'hydra', 'pydantic', 'skilleval.app'} & set(sys.modules)\n"
        "from skilleval import summary\n"
        "assert 'polars' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt function fails as in any module."""
    with pytest.raises(AttributeError, match="evaluates"):
        _ = skilleval.evaluates


def test_evaluating_works_inside_a_running_loop(tmp_path: Path) -> None:
    """A notebook has a loop already; paths of the settings begin in the project, wherever the notebook stands."""
    runs = Runs(tmp_path / "project")

    async def cell() -> skilleval.Run:
        return skilleval.evaluate(overrides(runs), project=runs.workload.folder)

    run = asyncio.run(cell())
    assert run.folder.parent == runs.workload.folder / "outputs" / "default"
    assert run.trials().select(pl.len()).collect().item() == 8
    assert run.manifest["command"].startswith("skilleval eval 'skill_set.paths=[skill]'")


def test_a_mistake_is_an_error_of_ours_before_anything_runs(tmp_path: Path) -> None:
    """A misspelt setting is told with the right one."""
    with pytest.raises(skilleval.SkillevalError) as caught:
        skilleval.evaluate(["runner.repeat=2"], project=tmp_path)
    assert "repeats" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_tables_of_a_run_are_lazy_frames(pair: tuple[skilleval.Run, skilleval.Run]) -> None:
    """Trials, tries, scores and calls of judges, each with its own grain."""
    run, _ = pair
    tables = (run.trials(), run.tries(), run.scores(), run.judgements())
    assert [table.select(pl.len()).collect().item() for table in tables] == [8, 8, 8, 0]


def test_manifests_are_a_frame(runs: Runs) -> None:
    """One row a run, oldest first, with times as times; a broken manifest is left out."""
    broken = runs.store / "broken"
    broken.mkdir(exist_ok=True)
    (broken / "manifest.json").write_text("{", encoding="utf-8")
    found = skilleval.scan_runs(runs.store).collect()
    assert found.height == 2
    row = found.row(0, named=True)
    assert (row["benchmark_id"], row["n_trials"], row["skills"], row["scorers"]) == (
        "custom",
        8,
        ["recorded"],
        ["task"],
    )
    assert isinstance(row["started_at"], datetime)
    assert found["started_at"].is_sorted()


def test_a_shard_says_which_one_it_is(tmp_path: Path) -> None:
    """So that parts of runs can be filtered out; a whole run has none."""
    write_run(tmp_path, "20260101T000000Z-aa", plan={"shards": 1, "shard": 0})
    write_run(tmp_path, "20260102T000000Z-bb", plan={"shards": 2, "shard": 1})
    assert skilleval.scan_runs(tmp_path).collect()["shard"].to_list() == [None, 1]


def test_a_folder_without_runs_is_empty_and_none_is_an_error(tmp_path: Path) -> None:
    """No run is no row; no folder is a mistake."""
    assert skilleval.scan_runs(tmp_path).collect().height == 0
    with pytest.raises(skilleval.SkillevalError, match="there is no folder"):
        skilleval.scan_runs(tmp_path / "absent")


def test_a_manifest_may_say_what_we_do_not_expect(tmp_path: Path) -> None:
    """A value of another type is not known."""
    run = Runs(tmp_path / "a").run()
    rewrite_manifest(run, started_at="yesterday", n_planned="many", interrupted="no")
    row = skilleval.scan_runs(run).collect().row(0, named=True)
    assert [row[name] for name in ("started_at", "n_planned", "interrupted")] == [None, None, None]


def test_a_summary_has_a_row_a_run(pair: tuple[skilleval.Run, skilleval.Run], runs: Runs) -> None:
    """Runs, folders and ids are all taken, one or several."""
    first, second = pair
    found = skilleval.summary([first, second.folder, second.run_id], store=runs.store)
    assert found.select("run_id", "completion_rate").rows() == [
        (first.run_id, 0.25),
        (second.run_id, 1.0),
        (second.run_id, 1.0),
    ]
    assert skilleval.summary(first).equals(found.head(1))


def test_a_comparison_is_paired(pair: tuple[skilleval.Run, skilleval.Run]) -> None:
    """The first run is the baseline: 2 of 8 became 8 of 8, six tasks were mended."""
    found = skilleval.compare(*pair)
    effect = found.skills.filter(pl.col("metric") == "completion_rate").row(0, named=True)
    assert (effect["skill_id"], effect["before"], effect["after"], effect["effect"]) == (
        "recorded",
        0.25,
        1.0,
        0.75,
    )
    assert found.tasks.height == 8
    assert found.flips["task_id"].to_list() == sorted(TASKS[:6])
    assert skilleval.compare(pair[0], pair[0]).flips.height == 0


def test_selecting_gives_reasons(runs: Runs) -> None:
    """A skill of which only recordings were replayed is left out, and the frame says why."""
    found = skilleval.select(runs.workload.folder / "skill", store=runs.store, min_completion=0.5)
    row = found.row(0, named=True)
    assert (row["skill_id"], row["selected"], row["rank"]) == ("recorded", False, None)
    assert row["reasons"] == ["no finished run called it: recorded attempts were replayed"]


def test_previous_is_a_baseline_for_programs_too(
    runs: Runs, pair: tuple[skilleval.Run, skilleval.Run]
) -> None:
    """`previous` is the run before the candidate; the first one has none."""
    first, second = pair
    found = skilleval.compare("previous", second, store=runs.store)
    assert found.skills.equals(skilleval.compare(first, second).skills)
    with pytest.raises(skilleval.SkillevalError, match="no earlier run"):
        skilleval.compare("previous", first, store=runs.store)


def test_arguments_that_mean_nothing_are_refused(
    runs: Runs, pair: tuple[skilleval.Run, skilleval.Run]
) -> None:
    """The error names the argument, and never blames a stored run."""
    for call, said in (
        (lambda: skilleval.compare(*pair, margin=7), "margin: expected a share"),
        (lambda: skilleval.select("skill", min_completion=5, store=runs.store), "min_completion: expected"),
        (lambda: skilleval.select("skill", top_k=-1, store=runs.store), "top_k: expected 0"),
        (lambda: skilleval.evaluate("runner.repeats=2"), r"write \['runner.repeats=2'\]"),
    ):
        with pytest.raises(skilleval.SkillevalError, match=said):
            call()
