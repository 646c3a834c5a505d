"""The analysis of stored sweeps, from the rows of their runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from stored_runs import TASKS, Runs
from swept import stored_sweep

import skilleval
from skilleval.app.named_runs import named_runs
from skilleval.app.notebooks import NotebookOptions
from skilleval.app.sweep_files import sweep_paths, write_sweep_report
from skilleval.app.sweep_report import analyse_sweep
from skilleval.errors import ConfigError, ResultsError, UsageError
from skilleval.report.notebook.document import read_notebook
from skilleval.results.sweeps import read_sweep


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a sweep of two models and two seeds: the second model fails nothing, its last job failed."""
    runs = Runs(tmp_path_factory.mktemp("sweep"))
    cells = {("a", "0"): TASKS[:7], ("a", "1"): TASKS[:7], ("b", "0"): (), ("b", "1"): None}
    return stored_sweep(runs, cells)


def test_the_tidy_frame_has_a_row_a_job_and_condition_with_typed_settings(sweep: Path) -> None:
    """Jobs that are done alone; a seed is a number."""
    frame = skilleval.sweep_frame(sweep)
    assert frame.select(
        "job", "setting.model", "setting.runner.seed", "skill_id", "completion_rate"
    ).rows() == [
        (0, "a", 0, "recorded", 0.125),
        (1, "a", 1, "recorded", 0.125),
        (2, "b", 0, "recorded", 1.0),
    ]
    assert frame["ci_low"].is_not_null().all()


def test_only_matched_cells_are_compared_and_the_missing_job_is_told(sweep: Path) -> None:
    """The seed of the failed job has no counterpart; the better model is told all the same."""
    report = analyse_sweep(sweep)
    model, seed = report.effects
    assert (model["effect"], model["n_cells"], model["n_cells_before"]) == (0.875, 1, 2)
    assert seed["n_cells"] == 1
    assert [job["counts"] for job in report.jobs] == [True, True, True, False]
    assert report.jobs[3]["reason"] == "the provider <b>refused</b> it"
    assert "1 of 4 jobs has no result that counts (job 3 failed)" in report.verdict
    assert any(
        warning.startswith("model, runner.seed: some cells have no counterpart")
        for warning in report.warnings
    )
    assert report.best[0]["setting.model"] == "b"
    assert report.best[0]["p_best"] == 1.0


def test_the_same_rows_give_the_same_document(sweep: Path) -> None:
    """Resampling has the seed of the run."""
    assert analyse_sweep(sweep).to_json() == analyse_sweep(sweep).to_json()


def test_a_sweep_is_found_by_its_id_and_as_the_latest(sweep: Path) -> None:
    """As runs are."""
    store = sweep.parent.parent
    by_id = skilleval.sweep_frames(sweep.name, store=store)
    assert by_id.sweep.sweep_id == skilleval.sweep_frames("latest", store=store).sweep.sweep_id == sweep.name


def test_a_run_that_is_gone_counts_as_missing(sweep: Path, tmp_path: Path) -> None:
    """One that cannot be read is told of with its job, and is nobody's obstacle; without any there is no report."""
    shutil.copytree(sweep.parent.parent, tmp_path / "out")
    copy = tmp_path / "out" / "default" / sweep.name
    folders = [path for path in (tmp_path / "out").iterdir() if (path / "manifest.json").is_file()]
    first = read_sweep(copy).jobs[0].run_dir
    assert first is not None
    shutil.rmtree(first)
    report = analyse_sweep(copy)
    assert [job["counts"] for job in report.jobs] == [False, True, True, False]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    with pytest.raises(ResultsError, match="no job of the sweep") as caught:
        analyse_sweep(copy)
    assert caught.value.problems[3].found == "the provider <b>refused</b> it"


@pytest.mark.parametrize(
    ("metric", "margin"), [("beauty", 0.05), ("completion_rate", 0.0), ("completion_rate", 1.0)]
)
def test_what_cannot_be_judged_is_refused(sweep: Path, metric: str, margin: float) -> None:
    """An unknown metric, or a margin that is no share."""
    with pytest.raises(UsageError):
        skilleval.sweep_frames(sweep, metric=metric, margin=margin)


@pytest.mark.parametrize("metric", ["partial_score", "error_rate", "latency_ms", "tokens", "cost_usd"])
def test_every_metric_of_tasks_can_be_reported(sweep: Path, metric: str) -> None:
    """One that no task has is said to be missing; nothing is made of it."""
    report = analyse_sweep(sweep, metric=metric)
    assert report.method.metric == metric
    has_values = any(job["mean"] is not None for job in report.jobs)
    assert has_values != any("nothing is compared" in warning for warning in report.warnings)


def test_files_go_to_the_sweep_a_folder_or_the_file_that_is_named(tmp_path: Path) -> None:
    """A name that says another format is refused, and so is one name for two."""
    paths = sweep_paths(["html", "markdown"], folder=tmp_path, output=None)
    assert paths == {"html": tmp_path / "report.html", "markdown": tmp_path / "report.md"}
    assert sweep_paths(["csv"], folder=tmp_path, output=Path("x/y.csv")) == {"csv": Path("x/y.csv")}
    assert sweep_paths(["csv"], folder=tmp_path, output=Path("x")) == {"csv": Path("x/report.csv")}
    for formats, output in ((["html", "csv"], "y.csv"), (["html"], "y.csv"), (["word"], "x")):
        with pytest.raises(UsageError):
            sweep_paths(formats, folder=tmp_path, output=Path(output))


def test_a_sweep_stands_for_the_runs_of_its_jobs_that_are_done(sweep: Path) -> None:
    """By its folder or its id; a run stays what it is."""
    store = sweep.parent.parent
    runs = named_runs(["latest", sweep.name], store)
    assert runs[0] == "latest"
    assert len(runs) == 4
    assert all((Path(run) / "manifest.json").is_file() for run in runs[1:])
    assert named_runs([str(sweep)], store) == runs[1:]


def test_a_notebook_is_about_its_sweep_and_works_out_every_table(sweep: Path, tmp_path: Path) -> None:
    """It names the sweep as seen from itself; its cells run."""
    path = tmp_path / "report.ipynb"
    report = analyse_sweep(sweep)
    write_sweep_report(report, {"notebook": path}, folder=sweep, notebook=NotebookOptions())
    cells = {cell.id: cell for cell in read_notebook(path.read_text(encoding="utf-8")).cells}
    assert sweep.name in cells["parameters"].source
    assert cells["effects"].outputs[0].output_type == "execute_result"
    assert "model" in json.dumps(cells["effects"].outputs)


def test_a_template_of_a_run_is_refused_for_a_sweep(sweep: Path, tmp_path: Path) -> None:
    """It has no place for the sweep; what it is for is said."""
    options = NotebookOptions(template="run", execute=False)
    with pytest.raises(ConfigError, match="another kind") as refused:
        write_sweep_report(
            analyse_sweep(sweep), {"notebook": tmp_path / "n.ipynb"}, folder=sweep, notebook=options
        )
    assert "skilleval report convert" in refused.value.hint


def test_the_template_of_sweeps_has_a_name_that_a_user_can_take(sweep: Path, tmp_path: Path) -> None:
    """It can be chosen by name, and a file of that name in a folder of the user replaces it."""
    path, mine = tmp_path / "n.ipynb", tmp_path / "mine"
    report = analyse_sweep(sweep)
    named = NotebookOptions(template="sweep", execute=False)
    write_sweep_report(report, {"notebook": path}, folder=sweep, notebook=named)
    usual = path.read_text(encoding="utf-8")
    write_sweep_report(report, {"notebook": path}, folder=sweep, notebook=NotebookOptions(execute=False))
    assert path.read_text(encoding="utf-8") == usual
    mine.mkdir()
    (mine / "sweep.py").write_text(
        '# %% id="p" tags=["parameters"]\nsweep_folder = "."\n\n# %% id="own"\n1\n', encoding="utf-8"
    )
    own = NotebookOptions(execute=False, folders=(mine,))
    write_sweep_report(report, {"notebook": path}, folder=sweep, notebook=own)
    assert [cell.id for cell in read_notebook(path.read_text(encoding="utf-8")).cells] == ["p", "own"]
