from __future__ import annotations

from pathlib import Path

import pytest
from stored_runs import TASKS, Runs

from skilleval.app.slicing import slice_runs
from skilleval.errors import UsageError
from skilleval.report.metric_text import metric_text


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Give two runs that differ in their seed; the second one fails two tasks of the family."""
    made = Runs(tmp_path_factory.mktemp("slicing"))
    made.run("runner.seed=1")
    made.run("runner.seed=2", wrong=TASKS[:2])
    return made


def names(runs: Runs) -> list[str]:
    """Name both runs; ids of one second have no order in time."""
    return sorted(str(path.parent) for path in runs.store.glob("*/manifest.json"))


def test_a_field_of_the_manifest_is_a_slice(runs: Runs) -> None:
    """Runs are told apart by whatever their manifests say, numbers as text."""
    found = slice_runs(
        names(runs), by=["manifest:config.runner.seed"], metrics=["completion_rate"], store=runs.store
    )
    shown = found.rows.select("manifest:config.runner.seed", "skill_id", "n_trials", "completion_rate")
    assert shown.rows() == [("1", "recorded", 8, 1.0), ("2", "recorded", 8, 0.75)]
    assert found.left_out == 0
    assert found.rows["ci_method"].str.starts_with("Agresti").all()


def test_trials_in_no_slice_are_counted(runs: Runs) -> None:
    """Four of eight tasks have no family: their trials of both runs are told, once each."""
    found = slice_runs(names(runs), by=["family"], metrics=["n_passed", "p95_ms"], store=runs.store)
    assert found.rows.select("family", "n_trials", "n_passed", "p95_ms").rows() == [("family", 8, 6, 12.5)]
    assert found.left_out == 8
    assert found.facts()["n_trials_left_out"] == 8


def test_what_the_benchmark_says_is_a_slice(runs: Runs) -> None:
    """Its domain and its id belong to every trial of a run."""
    found = slice_runs(names(runs), by=["domain", "benchmark"], metrics=["n_trials"], store=runs.store)
    assert found.rows.select("domain", "benchmark", "n_trials").rows() == [("general", "custom", 16)]


@pytest.mark.parametrize(
    ("by", "metric", "hint"),
    [
        ("tags", "completion_rate", "did you mean tag?"),
        ("manifest:config.runner.sede", "completion_rate", "did you mean seed?"),
        ("tag", "completionrate", "did you mean completion_rate?"),
    ],
)
def test_a_misspelt_name_is_an_error_with_the_right_one(runs: Runs, by: str, metric: str, hint: str) -> None:
    """Nothing is sliced by what nobody knows."""
    with pytest.raises(UsageError) as caught:
        slice_runs(names(runs), by=[by], metrics=[metric], store=runs.store)
    assert caught.value.problems[0].hint == hint


def test_runs_by_other_formulas_are_not_mixed(tmp_path: Path) -> None:
    """On one benchmark the formulas must be the same; what differs is named."""
    runs = Runs(tmp_path / "a")
    folders = [str(runs.run()), str(runs.run("analysis.level=0.9"))]
    with pytest.raises(UsageError, match="different formulas") as caught:
        slice_runs(folders, by=["run"], metrics=["completion_rate"], store=runs.store)
    assert caught.value.problems[0].key == "analysis: level"
    with pytest.raises(UsageError, match="no run is named"):
        slice_runs([], by=["run"], metrics=["completion_rate"], store=runs.store)


@pytest.mark.parametrize(
    "by", ["skill", "version", "content", "model", "mode", "adapter", "sandbox", "run", "task", "family"]
)
def test_whatever_names_a_condition_is_a_slice(runs: Runs, by: str) -> None:
    """A slice that is a column of the condition too stands there once; what nobody knows is in no slice."""
    found = slice_runs(names(runs), by=[by], metrics=["n_trials"], store=runs.store)
    assert found.rows.columns.count(by) == 1
    assert found.rows["n_trials"].sum() + found.left_out == 16


def test_every_figure_of_a_slice_has_its_interval(runs: Runs) -> None:
    """Scores and percentiles have ends and a method as completion has; counts have none."""
    metrics = ["partial_score", "p50_ms", "n_passed"]
    found = slice_runs(names(runs), by=["mode"], metrics=metrics, store=runs.store)
    (row,) = found.rows.to_dicts()
    assert row["partial_score_ci_low"] < row["partial_score"] < row["partial_score_ci_high"]
    assert row["partial_score_ci_method"].startswith("clustered t")
    # Fourteen of the sixteen latencies are the same.
    assert row["p50_ms_ci_method"] == "no interval: the values around p50 are all the same, of 16"
    assert "n_passed_ci_low" not in row
    assert metric_text("partial_score", row).endswith("]")
    assert metric_text("p50_ms", row) == "12.5\u202fms"
