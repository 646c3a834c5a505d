"""A stored run is analysed as what it holds: the arms of a skill are compared, and judges are accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from recorded_runs import RIGHT, WRONG, write_workload

from skilleval.analytics.intervals_table import interval_table
from skilleval.app.analyse import analyse, analysis_spec
from skilleval.app.evaluate import evaluate
from skilleval.results.schema import JUDGEMENTS, SCORES, TRIALS, TRIES, polars_schema
from skilleval.results.store import read_manifest, scan_table
from skilleval.results.store.folders import parts
from skilleval.results.store.parts import write_parts

CALL: Mapping[str, Any] = {
    "call_index": 0,
    "purpose": "assertions",
    "started_at": datetime(2026, 11, 1, tzinfo=UTC),
    "request": "{}",
    "model": "judge-1",
    "latency_ms": 200.0,
    "total_tokens": 90,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Store a run of seven tasks that all passed but the last."""
    endings = {f"t{i}": RIGHT for i in range(6)} | {"t6": WRONG}
    workload = write_workload(tmp_path, endings)
    evaluate(workload.prepared(), observe=lambda record: None)
    return workload.run_folder()


def in_arms(folder: Path) -> None:
    """Make the run one of two arms: with the skill as it was, and the same trials without it, none of them passed."""
    stored = {table.name: scan_table(folder, table).collect() for table in (TRIALS, TRIES, SCORES)}
    named = pl.concat_str(pl.lit("without/"), "trial_id").alias("trial_id")
    trials = pl.concat(
        [
            stored["trials"].with_columns(mode=pl.lit("with_skill"), model=pl.lit("small")),
            stored["trials"].with_columns(
                named, mode=pl.lit("without_skill"), model=pl.lit("small"), condition_id=pl.lit("bare")
            ),
        ]
    )
    failed = {"score": pl.lit(0.0), "passed": pl.lit(value=False), "verdict": pl.lit("failed")}
    scores = pl.concat([stored["scores"], stored["scores"].with_columns(named, **failed)])
    keys = scores.select("run_id", "trial_id", "scorer", "check_id").to_dicts()
    schema = polars_schema(JUDGEMENTS)
    judged = pl.DataFrame([{**dict.fromkeys(schema), **key, **CALL} for key in keys], schema=schema)
    frames = {"trials": trials, "tries": stored["tries"], "scores": scores, "judgements": judged}
    paths = {name: next(iter(parts(folder, name).values())) for name in frames}
    write_parts(paths, [frames])


def test_the_arms_of_a_stored_run_are_compared(folder: Path) -> None:
    """What a skill adds, its cases, its assertions and its judges are read from the tables."""
    in_arms(folder)
    report = analyse(folder)
    (found,) = report.uplift
    assert (found.skill_id, found.baseline, found.n_cases) == ("recorded", "without_skill", 7)
    assert found.uplift == pytest.approx(6 / 7)
    assert found.finding == "helps"
    assert report.verdict.sentence.startswith("recorded adds +0.857 [")
    assert [one.signal for one in report.assertions] == ["only_with"] * 6 + ["always_fail"]
    assert len(report.uplift_cases) == 7
    (spent,) = report.judge_spend
    assert (spent.model, spent.n_calls, spent.total_tokens) == ("judge-1", 14, 14 * 90)


def test_a_run_without_arms_has_no_part_of_them(folder: Path) -> None:
    """Nothing is compared where nothing was to be compared with."""
    report = analyse(folder)
    assert (report.uplift, report.uplift_cases, report.assertions, report.judge_spend) == ((), (), (), ())
    assert "n_judge_errors" not in report.summary[0]


def test_a_report_shows_the_intervals_of_scores_and_percentiles(folder: Path) -> None:
    """Of seven tasks partial score and p50 have an interval; p95 says how many values it would need."""
    report = analyse(folder)
    (row,) = report.summary
    trials, scores = (scan_table(folder, table) for table in (TRIALS, SCORES))
    spec = analysis_spec(read_manifest(folder))
    table = {one["metric"]: one for one in interval_table(trials, scores, spec=spec).collect().to_dicts()}
    for metric in ("partial_score", "p50_ms", "p95_ms"):
        shown = [row[f"{metric}_ci_{end}"] for end in ("low", "high", "method")]
        assert shown == [table[metric][end] for end in ("low", "high", "method")]
    assert row["partial_score_ci_low"] is not None
    assert (row["p50_ms_ci_low"], row["p50_ms_ci_high"]) == (7.25, 12.5)
    methods = [method.text for method in report.provenance.methods if method.name == "interval of p95"]
    assert methods == ["no interval: p95 needs 72 values at level 0.95, there are 7"]


def test_another_preset_has_no_intervals_of_other_numbers(tmp_path: Path) -> None:
    """The figures of another tool are not ours, so our intervals do not stand beside them."""
    workload = write_workload(tmp_path, {f"t{i}": RIGHT for i in range(3)})
    evaluate(workload.prepared("analysis=eval_skills"), observe=lambda record: None)
    (row,) = analyse(workload.run_folder()).summary
    assert not [name for name in row if name.startswith("partial_score_ci")]
