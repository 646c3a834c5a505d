"""Results of other tools as ordinary runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from results.importers.foreign import (
    EVOS,
    UNITS_BENCHMARK,
    UNITS_RESULTS,
    agent_skills_eval,
    attempt,
    eval_skills_report,
    eval_skills_store,
    grading,
    inspect_archive,
    inspect_log,
    inspect_sample,
    trajectory,
    write,
)

from skilleval.analytics.summary import summary
from skilleval.app.analyse import analyse, analysis_spec
from skilleval.app.importing import ImportedFolder, find_source, import_results
from skilleval.config.compose import compose_settings
from skilleval.errors import CatalogError, ResultsError, UsageError
from skilleval.report import WRITERS
from skilleval.results.importers import IMPORTERS
from skilleval.results.importers.base import ImportOptions
from skilleval.results.schema import SCORES, TRIALS, TRIES
from skilleval.results.store import read_manifest, scan_table

Imported = Callable[..., ImportedFolder]


def _skill_creator(folder: Path) -> Path:
    root = folder / "csv-workspace"
    for arm, passed in (("with_skill", True), ("old_skill", False)):
        attempt(root / "iteration-1" / "eval-0" / arm / "run-1", grading(passed, spelling="expectations"))
    return root


SAMPLES: Mapping[str, tuple[str, Callable[[Path], Path]]] = {
    "report": ("eval-skills", lambda folder: write(folder / "r.json", [eval_skills_report()])),
    "store": (
        "eval-skills",
        lambda folder: eval_skills_store(folder / "s.db", {"e": "2026-11-01 08:00:00"}),
    ),
    "peer": ("agent-skills-eval", lambda folder: agent_skills_eval(folder / "w" / "iteration-1").parent),
    "creator": ("skill-creator", _skill_creator),
    "rubric": ("evos-skills", lambda folder: write(folder / "x.with_skill.json", EVOS)),
    "trajectories": ("tau-bench", lambda folder: write(folder / "t.json", [trajectory(0, 0, 1.0)])),
    "log": (
        "inspect",
        lambda folder: inspect_archive(folder / "l.eval", inspect_log([inspect_sample("a", 1)])),
    ),
}


@pytest.fixture
def imported(tmp_path: Path) -> Imported:
    """Import a path as the command does; give the one run."""

    def call(path: Path, *overrides: str, skills: Path | None = None, **options: Any) -> ImportedFolder:
        output = tmp_path / "outputs"
        needed = ("skill_set.paths=[s]", "benchmark.name=imported", f"paths.output_dir={output}")
        composed = compose_settings([*needed, *overrides], project=tmp_path)
        source, asked = find_source(path), ImportOptions(**options)
        (run,) = import_results(source, asked, composed=composed, command="skilleval import x", skills=skills)
        return run

    return call


def rows(run: ImportedFolder) -> pl.DataFrame:
    """Summarise a run as its report does."""
    spec = analysis_spec(run.manifest)
    return summary(scan_table(run.folder, TRIALS), scan_table(run.folder, SCORES), spec=spec).collect()


def test_every_importer_has_a_sample() -> None:
    """A new line in the registry is tested at once, or this fails."""
    assert {name for name, _ in SAMPLES.values()} == {one.name for one in IMPORTERS}


@pytest.mark.parametrize("sample", SAMPLES)
def test_imported_results_are_an_ordinary_run(tmp_path: Path, imported: Imported, sample: str) -> None:
    """Each format is known by its content, marked in the manifest, and every report can be written of it."""
    name, make = SAMPLES[sample]
    path = make(tmp_path)
    run = imported(path)
    manifest = read_manifest(run.folder)
    assert manifest == run.manifest
    origin = manifest["imported_from"]
    assert (origin["format"], origin["path"]) == (name, str(path))
    assert len(origin["digest"]) == 64
    n_trials = scan_table(run.folder, TRIALS).select(pl.len()).collect().item()
    assert n_trials == scan_table(run.folder, TRIES).select(pl.len()).collect().item()
    assert manifest["counts"]["trials"] == n_trials == sum(manifest["counts"]["by_status"].values())
    report = analyse(run.folder)
    assert report.summary
    assert any("imported from" in warning for warning in report.provenance.warnings)
    for writer in WRITERS.values():
        assert not re.search(r"[>|,\"( ]None[<|,\") ]", writer.render(report).partition("<script")[0])


def test_what_no_source_says_is_null_in_the_tables(tmp_path: Path, imported: Imported) -> None:
    """No limit, time, seed or size is made up."""
    run = imported(SAMPLES["report"][1](tmp_path))
    unknown = (
        "seed",
        "input",
        "expected",
        "timeout_ms",
        "concurrency",
        "in_flight",
        "queue_ms",
        "scoring_ms",
    )
    more = ("started_at", "ended_at", "sandbox", "model", "adapter", "call_key")
    rest = ("output_encoding_errors", "cost_usd", "exit_code")
    found = scan_table(run.folder, TRIALS).select(pl.col(*unknown, *more, *rest).null_count()).collect()
    assert set(found.row(0)) == {3}
    texts = ("skill_digest", "benchmark_version")
    assert set(scan_table(run.folder, TRIALS).select(texts).unique().collect().row(0)) == {""}
    scores = scan_table(run.folder, SCORES).select("scorer_version", "score_key").unique().collect()
    assert scores.rows() == [("", None)]


def test_the_numbers_of_eval_skills_are_rebuilt(tmp_path: Path, imported: Imported) -> None:
    """With the benchmark and its own formulas, its rows give the figures that its report states."""
    benchmark = write(tmp_path / "units.json", UNITS_BENCHMARK)
    run = imported(
        write(tmp_path / "r.json", [eval_skills_report()]), "analysis=eval_skills", benchmark=str(benchmark)
    )
    row = rows(run).row(0, named=True)
    stated = {"completion_rate": 0.3333, "partial_score": 0.625, "error_rate": 0.3333, "composite": 0.5427}
    stated |= {"consistency": 1.0, "p50_ms": 80.0, "p95_ms": 120.0, "p99_ms": 120.0}
    stated |= {"input_tokens": 22, "output_tokens": 10, "total_tokens": 32}
    assert {name: row[name] for name in stated} == stated
    told = run.manifest["imported_from"]["published"][0]["summary"]
    assert told == {"completionRate": 0.3333, "compositeScore": 0.5427}


def test_the_numbers_of_agent_skills_eval_are_rebuilt(tmp_path: Path, imported: Imported) -> None:
    """Means over cases of 0.833333 and 0.333333, and a delta of 0.5."""
    run = imported(agent_skills_eval(tmp_path / "iteration-1"))
    scores = dict(rows(run).select("mode", "partial_score").iter_rows())
    assert scores == {
        "with_skill": pytest.approx(0.833333, abs=5e-7),
        "without_skill": pytest.approx(0.333333, abs=5e-7),
    }
    (uplift,) = analyse(run.folder).uplift
    assert uplift.uplift == pytest.approx(0.5)


def test_a_failed_call_is_in_no_rate(tmp_path: Path, imported: Imported) -> None:
    """Its checks are kept as rows, and the trial is ungraded all the same."""
    root = agent_skills_eval(tmp_path / "iteration-1")
    attempt(root / "eval-a" / "with_skill", grading(True), {"total_tokens": 0}, "ERROR: HTTP 500")
    run = imported(root)
    row = rows(run).filter(pl.col("mode") == "with_skill").row(0, named=True)
    assert (row["n_trials"], row["n_graded"], row["n_infrastructure"]) == (3, 2, 1)


def test_the_benchmark_adds_what_it_says_of_its_tasks(tmp_path: Path, imported: Imported) -> None:
    """Inputs, expected values, tags, weights and limits come from the benchmark that the user names."""
    benchmark = write(tmp_path / "units.json", UNITS_BENCHMARK)
    run = imported(write(tmp_path / "r.json", [eval_skills_report()]), benchmark=str(benchmark))
    first = scan_table(run.folder, TRIALS).sort("task_id").collect().row(0, named=True)
    assert (first["input"], first["timeout_ms"]) == ('{"from":"km","to":"m","value":3}', 5000.0)
    assert (first["task_tags"], first["task_weight"], first["benchmark_version"]) == (
        ["length"],
        2.0,
        "1.0.0",
    )
    assert run.manifest["benchmark"]["digest"]


def test_tasks_that_the_benchmark_does_not_have_are_told(tmp_path: Path, imported: Imported) -> None:
    """They stay in the run, which then is not on that very benchmark."""
    benchmark = write(tmp_path / "units.json", UNITS_BENCHMARK)
    results = [*UNITS_RESULTS, {**UNITS_RESULTS[0], "taskId": "u9"}]
    run = imported(write(tmp_path / "r.json", [eval_skills_report(results)]), benchmark=str(benchmark))
    assert "1 tasks are not in units-mini@1.0.0: u9" in run.manifest["warnings"]
    assert run.manifest["benchmark"]["digest"] is None


def test_a_benchmark_that_is_not_here_is_only_a_name(tmp_path: Path, imported: Imported) -> None:
    """An id says what the tasks are called; a path has to lead to a benchmark."""
    path = SAMPLES["trajectories"][1](tmp_path)
    assert imported(path, benchmark="airline").manifest["benchmark"]["id"] == "airline"
    with pytest.raises(CatalogError):
        imported(path, benchmark="no/such/benchmark.json")


def test_the_skills_that_were_evaluated_give_their_edition(tmp_path: Path, imported: Imported) -> None:
    """The version has to be the one that was evaluated; another one is told and not believed."""
    manifest = {
        "id": "unit_convert",
        "name": "Units",
        "version": "1.2.0",
        "description": "",
        "adapterType": "subprocess",
        "entrypoint": "never run",
    }
    write(tmp_path / "skills" / "units" / "skill.json", manifest)
    path = write(tmp_path / "r.json", [eval_skills_report()])
    run = imported(path, skills=tmp_path / "skills")
    digests = scan_table(run.folder, TRIALS).select("skill_digest").unique().collect()
    assert digests.null_count().item() == 0
    write(tmp_path / "skills" / "units" / "skill.json", {**manifest, "version": "2.0.0"})
    run = imported(path, skills=tmp_path / "skills")
    assert any("is 2.0.0, not the 1.2.0" in warning for warning in run.manifest["warnings"])
    with pytest.raises(CatalogError, match="no usable skill"):
        imported(path, skills=tmp_path / "outputs")


def test_a_run_has_the_age_of_its_trials(tmp_path: Path, imported: Imported) -> None:
    """History goes by when something was evaluated, not by when it was imported."""
    run = imported(SAMPLES["report"][1](tmp_path))
    assert run.folder.name.startswith("20261101T080000Z-")
    assert run.manifest["ended_at"] == "2026-11-01T08:00:00.000+00:00"
    assert run.manifest["imported_from"]["started_at"] is None


def test_a_log_that_was_cut_short_is_an_interrupted_run(tmp_path: Path, imported: Imported) -> None:
    """It has fewer trials than were planned, and says so."""
    run = imported(write(tmp_path / "l.json", inspect_log([inspect_sample("a", 1)], status="error")))
    assert (run.manifest["interrupted"], run.manifest["n_planned"]) == (True, 4)
    assert analyse(run.folder).run.interrupted


def test_redaction_reaches_imported_rows(tmp_path: Path, imported: Imported) -> None:
    """What must not be stored is not stored, whoever wrote it."""
    run = imported(SAMPLES["rubric"][1](tmp_path), "privacy.redact=['Line [0-9]']")
    outputs = scan_table(run.folder, TRIALS).select("output").collect()["output"].to_list()
    assert '"[redacted]."' in outputs
    assert run.manifest["privacy"]["n_redacted"] == 1


def test_what_cannot_be_told_apart_leaves_nothing_behind(tmp_path: Path, imported: Imported) -> None:
    """An import that fails writes no run."""
    path = write(tmp_path / "r.json", [eval_skills_report([*UNITS_RESULTS, UNITS_RESULTS[0]])])
    with pytest.raises(ResultsError, match="cannot be imported"):
        imported(path)
    assert not (tmp_path / "outputs").exists()


def test_a_value_that_breaks_the_contract_leaves_nothing_behind(tmp_path: Path, imported: Imported) -> None:
    """The tables are checked as our own are; a folder without tables is not kept."""
    result = {**UNITS_RESULTS[0], "usage": {"promptTokens": 2**70}}
    with pytest.raises(ResultsError):
        imported(write(tmp_path / "r.json", [eval_skills_report([result])]))
    assert not list((tmp_path / "outputs").iterdir())


def test_unknown_formats_and_files_are_told(tmp_path: Path) -> None:
    """The nearest format is named, and what the known ones are."""
    with pytest.raises(UsageError, match="did you mean inspect"):
        find_source(tmp_path, "inspct")
    with pytest.raises(ResultsError, match="nothing there"):
        find_source(tmp_path / "absent")
    path = write(tmp_path / "x.json", {"unrelated": 1})
    with pytest.raises(ResultsError, match=r"found none of these \(name it with --format"):
        find_source(path)
    assert find_source(path, "tau-bench").importer.name == "tau-bench"
