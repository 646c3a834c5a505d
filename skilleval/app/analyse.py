"""From the stored rows of a run to its report; a fresh run and an old one take the same way."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.analytics.arms import ARMS
from skilleval.analytics.assertion_matrix import assertion_matrix
from skilleval.analytics.distributions import distributions, fronts
from skilleval.analytics.failures import failed_trials, task_matrix
from skilleval.analytics.gate_changes import Rows
from skilleval.analytics.interval_columns import with_intervals
from skilleval.analytics.judging import JUDGE_ERROR, judge_errors, judge_remarks, judge_spend
from skilleval.analytics.slices import by_tag
from skilleval.analytics.spec import (
    AnalysisSpec,
    CompositeWeights,
    IntervalMethod,
    Preset,
    ScoringMethod,
)
from skilleval.analytics.summary import summary
from skilleval.analytics.uplift import uplift, uplift_by_case
from skilleval.app.agreement import scorer_agreement
from skilleval.app.details import max_trials, shown_trials
from skilleval.app.gating import Gated, gate_checks, rules_of
from skilleval.app.serial import SERIAL
from skilleval.app.spending import not_judged
from skilleval.domain.attempts import Status
from skilleval.errors import ResultsError
from skilleval.report.build import build_report
from skilleval.report.columns import interval_metrics
from skilleval.report.distributions_part import distributions_part, fronts_part
from skilleval.report.document import Report
from skilleval.report.gates import with_gate
from skilleval.report.uplift import ArmFrames
from skilleval.results.places import fetch_run
from skilleval.results.schema import JUDGEMENTS, SCORES, TRIALS, TRIES
from skilleval.results.store import MANIFEST, compact, is_live, read_manifest, scan_table
from skilleval.sharding import is_shard

_FAILURES_SHOWN = 200
_RESAMPLES = 10_000  # of runs that did not say
_PATIENCE_S = 3.0  # another reader may be making the tables


def analyse(folder: Path) -> Report:
    """Build the report of a stored run.

    Rows that a killed run left in its journal are made into tables first.

    Raises:
        ResultsError: the folder holds no run, or a table is missing.
    """
    manifest = settled(folder)
    try:
        return _report(folder, manifest)
    except (pl.exceptions.PolarsError, OSError) as error:
        msg = f"the tables of {folder} cannot be read: {str(error).splitlines()[0]}"
        raise ResultsError(msg) from None
    except KeyError as error:
        msg = f"{folder / MANIFEST} lacks the key {error}"
        raise ResultsError(msg) from None


def _report(folder: Path, manifest: Mapping[str, Any]) -> Report:
    trials, scores = scan_table(folder, TRIALS), scan_table(folder, SCORES)
    spec = analysis_spec(manifest)
    observed = {"concurrency": loads(folder), "isolation": _isolations(trials)}
    warnings = [*manifest.get("warnings", ()), *_failed_measurements(trials)]
    # Together, because they share what is dear: reading the rows and joining them.
    rows, matrix, failures, slices, measured = pl.collect_all(
        [
            with_intervals(
                summary(trials, scores, spec=spec), trials, scores, metrics=interval_metrics(), spec=spec
            ),
            task_matrix(trials, scores),
            failed_trials(trials, scores, limit=_FAILURES_SHOWN),
            by_tag(trials, scores, spec=spec),
            distributions(trials, scores, spec=spec),
        ]
    )
    built = build_report(
        manifest={**manifest, "observed": observed, "warnings": warnings},
        summary=rows,
        matrix=matrix,
        failures=failures,
        gate=_gate(manifest),
        slices=slices,
        reused=_reused(trials),
        arms=arm_frames(trials, scores, scan_table(folder, JUDGEMENTS), spec),
    )
    tries, limit = scan_table(folder, TRIES), max_trials(manifest["config"])
    report = replace(
        built,
        agreement=scorer_agreement(trials, scores, rows, spec=spec),
        distributions=distributions_part(measured),
        fronts=fronts_part(fronts(rows, measured)),
        details=shown_trials(trials, tries, scores, limit=limit),
    )
    rules = rules_of(_gate(manifest), where=str(folder / MANIFEST))
    return with_gate(report, gate_checks(rules, Gated(rows=Rows(trials=trials, scores=scores), spec=spec)))


def _gate(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the gate that a run is held against: a shard has none, for a gate is about the whole."""
    gate: Mapping[str, Any] = manifest["config"]["gate"]
    return {} if is_shard(manifest) else gate


def arm_frames(
    trials: pl.LazyFrame, scores: pl.LazyFrame, judgements: pl.LazyFrame, spec: AnalysisSpec
) -> ArmFrames | None:
    """Compare the arms of instruction skills, and gather what judges took; null for rows that have neither."""
    signs = (
        trials.select(pl.col("mode").is_in(ARMS).any()),
        judgements.select(pl.len() > 0),
        scores.select((pl.col("failure_kind") == JUDGE_ERROR).any()),
    )
    if not any(found.item() for found in pl.collect_all(signs)):
        return None
    frames = {
        "uplift": uplift(trials, scores, spec=spec),
        "cases": uplift_by_case(trials, scores, spec=spec),
        "assertions": assertion_matrix(trials, scores),
        "remarks": judge_remarks(trials, scores, judgements),
        "spend": judge_spend(judgements),
        "errors": judge_errors(trials, scores),
    }
    return ArmFrames(**dict(zip(frames, pl.collect_all(frames.values()), strict=True)))


def settled(folder: Path) -> dict[str, Any]:
    """Give the manifest of a run. Tables are made of what a killed run left, and it says that it never came to its end.

    Raises:
        ResultsError: a live process is still writing the run.
    """
    fetch_run(folder)
    manifest = read_manifest(folder)
    compact(folder)
    patience = time.monotonic() + _PATIENCE_S
    while is_live(folder):
        if time.monotonic() > patience:
            msg = f"{folder} is still being written"
            raise ResultsError(msg, hint="wait for the run, or stop it with Ctrl-C")
        time.sleep(0.05)
    if manifest.get("ended_at") is not None:
        return manifest
    statuses = trials_by_status(folder)
    counts = {"trials": sum(statuses.values()), "by_status": statuses, "not_judged": not_judged(folder)}
    return {**manifest, "interrupted": True, "counts": counts}


def analysis_spec(manifest: Mapping[str, Any]) -> AnalysisSpec:
    """Give the settings of the analysis that a run was composed with.

    The latency that earns no speed credit is the benchmark's, else the run's time limit.
    """
    config, benchmark = manifest["config"], manifest["benchmark"]
    analysis = config["analysis"]
    return AnalysisSpec(
        preset=Preset(analysis["preset"]),
        level=analysis["level"],
        k=analysis["k"] if analysis["k"] is not None else benchmark["k"],
        weights=CompositeWeights(**analysis["composite"]),
        scoring_method=ScoringMethod(benchmark["scoring_method"]),
        max_latency_ms=benchmark["max_latency_ms"] or config["runner"].get("timeout_ms"),
        seed=config["runner"]["seed"],
        # Runs of the first schema version know neither key.
        serial_latency=config["runner"].get("latency") == SERIAL,
        reused_latency=bool(analysis.get("reused_latency")),
        # Runs older than these keys had the interval that is still the default.
        interval=IntervalMethod(analysis.get("interval", IntervalMethod.AGRESTI_COULL_T)),
        family=analysis.get("family"),
        resamples=analysis.get("resamples", _RESAMPLES),
    )


def _reused(trials: pl.LazyFrame) -> dict[str, int]:
    """Count the attempts that were taken over, by the run that made them."""
    taken = trials.filter(pl.col("reused_from").is_not_null())
    return dict(taken.group_by("reused_from").len().sort("reused_from").collect().iter_rows())


def trials_by_status(folder: Path) -> dict[str, int]:
    """Count the trials of a run by status."""
    counted = scan_table(folder, TRIALS).group_by("status").agg(pl.len().alias("n")).sort("status").collect()
    return dict(counted.iter_rows())


def loads(folder: Path) -> list[int]:
    """Give the lowest and the highest concurrency that trials of a run had; nothing where it has none."""
    limit = pl.col("concurrency")
    found = scan_table(folder, TRIALS).select(limit.min().alias("low"), limit.max().alias("high"))
    return [value for value in found.collect().row(0) if value is not None]


def _isolations(trials: pl.LazyFrame) -> list[str]:
    return sorted(trials.select(pl.col("isolation").unique()).collect()["isolation"])


def _failed_measurements(trials: pl.LazyFrame) -> list[str]:
    """Tell of the calls of the second pass that did not complete: percentiles lack them, or have their limit."""
    ended = trials.filter(pl.col("serial_status").is_not_null()).group_by("serial_status").len()
    by_status = dict(ended.sort("serial_status").collect().iter_rows())
    n = sum(by_status.values())
    failed = {status: m for status, m in by_status.items() if status != Status.COMPLETED.value}
    if not failed:
        return []
    said = ", ".join(f"{m} {status}" for status, m in failed.items())
    what = f"{sum(failed.values())} of {n} measuring calls did not complete ({said})"
    return [f"{what}: a time-out counts with its limit, an error has no latency"]


def last_end(folder: Path) -> datetime | None:
    """Give when the last trial of a run ended; null where it has none."""
    ended: datetime | None = scan_table(folder, TRIALS).select(pl.col("ended_at").max()).collect().item()
    return ended


def graded_scores(folder: Path) -> int:
    """Count the checks of a run that have a verdict."""
    graded = scan_table(folder, SCORES).filter(pl.col("passed").is_not_null())
    return int(graded.select(pl.len()).collect().item())
