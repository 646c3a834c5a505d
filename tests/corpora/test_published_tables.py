"""Two published tables, computed anew from their raw rows by the ordinary importers and metrics.

Run with `SKILLEVAL_CORPORA=<folder> pytest -m corpora`, or `make test-corpora CORPORA=<folder>`.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.outcomes import trial_outcomes, with_counted_latency
from skilleval.analytics.slices import slices
from skilleval.analytics.summary import summary
from skilleval.app.analyse import analyse, analysis_spec
from skilleval.app.importing import find_source, import_results
from skilleval.config.compose import compose_settings
from skilleval.errors import ResultsError
from skilleval.results.importers.base import ImportOptions
from skilleval.results.schema import SCORES, TRIALS
from skilleval.results.store import read_manifest, scan_table

pytestmark = pytest.mark.corpora

TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def results() -> Path:
    """The folder of the published results; asking for these tests without it is a failure."""
    folder = os.environ.get("SKILLEVAL_CORPORA")
    if not folder:
        pytest.fail("set SKILLEVAL_CORPORA to the folder of the corpora, or leave out -m corpora")
    return Path(folder) / "results"


def imported(path: Path, folder: Path, *overrides: str) -> Path:
    """Import a path as the command does; give the folder of the run."""
    needed = ("skill_set.paths=[s]", "benchmark.name=imported", f"paths.output_dir={folder}")
    composed = compose_settings([*needed, *overrides], project=folder)
    (run,) = import_results(find_source(path), ImportOptions(), composed=composed, command="")
    return run.folder


@pytest.fixture(scope="module")
def evos(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the eight files of evos-skills."""
    return imported(results / "evos-skills" / "raw", tmp_path_factory.mktemp("evos"))


def frames(folder: Path) -> dict[str, Any]:
    """Give what the summary of a run needs."""
    spec = analysis_spec(read_manifest(folder))
    return {"trials": scan_table(folder, TRIALS), "scores": scan_table(folder, SCORES), "spec": spec}


def recomputed(folder: Path) -> dict[tuple[str, str, str, str], tuple[float, int, int]]:
    """Give mean score, passed and total of each skill and arm: over all, and of each tag."""
    given = frames(folder)
    outcomes = with_counted_latency(trial_outcomes(given["trials"], given["scores"]), given["spec"])
    tagged = slices(outcomes, by=("tag",), spec=given["spec"])
    whole = summary(**given).with_columns(tag=pl.lit("overall:"))
    columns = ("skill_id", "mode", "tag", "partial_score", "n_passed", "n_tasks")
    found = {}
    for rows in pl.collect_all([whole.select(columns), tagged.select(columns)]):
        for skill, mode, tag, score, n_passed, n_tasks in rows.iter_rows():
            dimension, _, value = tag.partition(":")
            found[skill, mode, dimension, value] = (score, n_passed, n_tasks)
    return found


def test_all_96_figures_of_evos_skills_follow_from_its_rows(results: Path, evos: Path) -> None:
    """Every published mean of a skill, a difficulty and a category is ours to 1e-9, and so is every count."""
    ours = recomputed(evos)
    with (results / "evos-skills" / "published.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    assert len(published) == len(ours) == 96
    for row in published:
        score, n_passed, n_tasks = ours[row["skill"], row["mode"], row["dimension"], row["value"]]
        assert score == pytest.approx(float(row["mean_score"]), abs=TOLERANCE), row
        if row["total"]:
            assert (n_passed, n_tasks) == (int(row["passed_ge_0.70"]), int(row["total"]))


def test_the_figures_that_the_files_state_themselves_are_kept_beside_ours(evos: Path) -> None:
    """The manifest holds what the other tool said, so that it can be held against our numbers."""
    published = read_manifest(evos)["imported_from"]["published"]
    ours = recomputed(evos)
    assert len(published) == 8
    for name, told in published.items():
        skill, mode, _ = name.split(".")
        score, n_passed, n_tasks = ours[skill, mode, "overall", ""]
        assert score == pytest.approx(told["overall"], abs=TOLERANCE)
        assert (n_passed, n_tasks) == (told["passed"], told["total"])


def test_the_uplift_of_each_skill_is_the_published_difference(evos: Path) -> None:
    """With minus without, pairwise over scenarios; 52 of 97 are better, 39 equal, 6 worse."""
    rows = {row.skill_id: row for row in analyse(evos).uplift}
    differences = {
        "carrier-relationship-management": 0.089773,
        "customs-trade-compliance": 0.158036,
        "production-scheduling": 0.073913,
        "returns-reverse-logistics": 0.177083,
    }
    assert {skill: round(row.uplift or 0.0, 6) for skill, row in rows.items()} == differences
    counts = [(row.n_wins, row.n_ties, row.n_losses) for row in rows.values()]
    assert tuple(map(sum, zip(*counts, strict=True))) == (52, 39, 6)


@pytest.mark.parametrize(
    ("k", "pass_hat", "printed", "pass_at"),
    [
        (1, 0.42, "0.420", 0.42),
        (2, 0.273333, "0.273", 0.566667),
        (3, 0.22, "0.220", 0.66),
        (4, 0.2, "0.200", 0.72),
    ],
)
def test_pass_hat_k_of_tau_bench_airline_is_the_published_one(  # noqa: PLR0913, PLR0917 - columns of a table
    results: Path, tmp_path: Path, k: int, pass_hat: float, printed: str, pass_at: float
) -> None:
    """All of k tries succeed; at least one of k is another number, and not mixed up with it."""
    path = results / "tau-bench-airline" / "runs.reduced.json"
    folder = imported(path, tmp_path, f"analysis.k={k}")
    row = summary(**frames(folder)).collect().row(0, named=True)
    assert (row["n_tasks"], row["n_trials"], row["n_passed"]) == (50, 200, 84)
    assert row["pass_hat_k"] == pytest.approx(pass_hat, abs=5e-7)
    assert f"{row['pass_hat_k']:.3f}" == printed
    assert row["pass_at_k"] == pytest.approx(pass_at, abs=5e-7)


def test_full_and_reduced_trajectories_give_the_same_rows(results: Path, tmp_path: Path) -> None:
    """Emptied texts change the outputs, and neither calls nor verdicts."""
    columns = ("task_id", "repeat", "tool_calls", "input", "expected", "status")
    rows = []
    for name in ("two_full_runs.json", "runs.reduced.json"):
        folder = imported(results / "tau-bench-airline" / name, tmp_path / name)
        found = scan_table(folder, TRIALS).filter((pl.col("task_id") == "0") & (pl.col("repeat") < 2))
        rows.append(found.select(columns).sort("repeat").collect().rows())
    assert rows[0] == rows[1]
    assert len(rows[0]) == 2


def test_files_of_other_formats_are_refused(results: Path) -> None:
    """What no importer knows is refused with the names of those that are known."""
    strangers = ("bfcl_question.jsonl", "harbor_trial_result.json", "mcp_bench.json", "tau_bench_task.json")
    for name in strangers:
        with pytest.raises(ResultsError, match="none of these"):
            find_source(results.parent / "formats" / name)
