"""The two sides of `analytics.py`: our summary, and the same numbers by DuckDB."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.analytics.outcomes import CONDITION_KEYS, with_counted_latency
from skilleval.analytics.spec import (
    AnalysisSpec,
    CompositeWeights,
    IntervalMethod,
    Preset,
    ScoringMethod,
)
from skilleval.analytics.summary import summary, summary_of
from skilleval.app.stored import collected

SPEC = AnalysisSpec(
    preset=Preset.DEFAULT,
    level=0.95,
    k=1,
    weights=CompositeWeights(completion=0.5, partial=0.2, speed=0.15, reliability=0.15),
    scoring_method=ScoringMethod.MEAN,
    max_latency_ms=1000.0,
    seed=0,
    serial_latency=False,
    reused_latency=False,
    interval=IntervalMethod.AGRESTI_COULL_T,
    family=None,
    resamples=1000,
)
_KEYS = ", ".join(CONDITION_KEYS)
_LATENCY = """case when status = 'timeout' then coalesce(latency_ms, timeout_ms)
    when status in ('completed', 'skill_error') then latency_ms end"""
_SUMMARY = """
task as (select {keys}, task_id, count(*) n, count(passed) g, count(*) filter (passed) c from o group by all),
repeats as (
    select {keys}, run_id, repeat, count(passed) g, count(*) filter (passed) c from o group by all),
whole as (
    select {keys}, count(*) n_trials, count(passed) n_graded, count(*) filter (passed) n_passed,
        count(*) filter (status = 'completed' and not passed) n_failed,
        count(*) filter (status = 'timeout') n_timeout, count(*) filter (status = 'skill_error') n_skill_error,
        count(*) filter (status not in ('completed', 'timeout', 'skill_error')) n_infrastructure,
        count(*) filter (passed) / count(passed) completion_rate, avg(score) partial_score, count(score) n_scored,
        quantile_disc(latency, [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]) percentiles,
        min(latency) min_ms, max(latency) max_ms, count(latency) n_latency, quantile_disc(spawn_ms, 0.5) spawn_p50_ms,
        sum(n_tries) n_tries, sum(input_tokens) input_tokens, sum(output_tokens) output_tokens,
        sum(total_tokens) total_tokens, count(cost_usd) n_cost, sum(cost_usd) cost_usd
    from o group by all),
of_tasks as (
    select {keys}, count(*) n_tasks, avg(case when g > 0 then c / g end) completion_rate_macro, min(g) min_task_graded,
        sum(c * c) cc, sum(c * g) cg, sum(g * g) gg, count(*) filter (g > 0) n_clusters,
        avg(case when g > 1 then 2 * c * (g - c) / (g * (g - 1)) end) flip_rate,
        count(*) filter (c > 0 and c < g) n_flaky_tasks
    from task group by all),
of_repeats as (
    select {keys}, count(*) n_repeats, avg(c / g) mean, stddev_pop(c / g) sd0, stddev_samp(c / g) sd1
    from repeats where g > 0 group by all)
select * from whole join of_tasks using (condition_id, benchmark_id, scorer)
    join of_repeats using (condition_id, benchmark_id, scorer)
"""


def outcomes_by_us(paths: list[str]) -> dict[str, float]:
    """Summarise files of outcomes."""
    # Reading twice takes less than keeping what was read.
    reading = pl.QueryOptFlags(comm_subplan_elim=False)
    return _timed(lambda: _ours(pl.scan_parquet(paths), reading))


def stored_by_us(paths: list[str]) -> dict[str, float]:
    """Summarise a stored run: its trials are joined with its scores."""
    trials, scores = (pl.scan_parquet(Path(paths[0]) / name / "*.parquet") for name in ("trials", "scores"))
    return _timed(lambda: _figures(collected(summary(trials, scores, spec=SPEC), n_trials=1_000_000)))


def _ours(outcomes: pl.LazyFrame, flags: pl.QueryOptFlags) -> dict[str, float]:
    found = summary_of(with_counted_latency(outcomes, SPEC), by=CONDITION_KEYS, spec=SPEC)
    return _figures(found.collect(engine="streaming", optimizations=flags))


def _figures(found: pl.DataFrame) -> dict[str, float]:
    sums = {"n_passed": pl.col("n_passed").sum(), "mean_rate": pl.col("completion_rate").mean()}
    return found.select(**sums, mean_p95_ms=pl.col("p95_ms").mean()).row(0, named=True)


def outcomes_by_duckdb(paths: list[str]) -> dict[str, float]:
    """Give the counts, rates, spreads and percentiles of the same files."""
    source = f"o as (select *, {_LATENCY} latency from read_parquet({paths}))"  # noqa: S608 - our own scratch files
    return _timed(lambda: _theirs(source))


def stored_by_duckdb(paths: list[str]) -> dict[str, float]:
    """Give the same of a stored run."""
    folder = Path(paths[0])
    source = f"""judged as (
        select run_id, trial_id, scorer, bool_and(passed) passed, sum(score * weight) / sum(weight) score
        from read_parquet('{folder}/scores/*.parquet') where required group by all),
    o as materialized (
        select t.* exclude (trial_id), j.scorer, {_LATENCY} latency,
            case when status = 'completed' then j.passed
                when status in ('timeout', 'skill_error') then false end passed,
            case when status = 'completed' then j.score when status in ('timeout', 'skill_error') then 0 end score
        from read_parquet('{folder}/trials/*.parquet') t left join judged j using (run_id, trial_id))"""  # noqa: S608 - our own scratch files
    return _timed(lambda: _theirs(source))


def _theirs(source: str) -> dict[str, float]:
    import duckdb

    query = f"with {source}, {_SUMMARY.format(keys=_KEYS)}"
    connection = duckdb.connect()
    connection.execute("set preserve_insertion_order = false; set enable_progress_bar = false")
    found = connection.execute(f"create table found as {query}").execute(
        "select sum(n_passed), avg(completion_rate), avg(percentiles[6]) from found"
    )
    row: Any = found.fetchone()
    return dict(zip(("n_passed", "mean_rate", "mean_p95_ms"), map(float, row), strict=True))


def peak_mb() -> float:
    """Give the most memory this process ever had; that of its parent does not count."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def _timed(work: Callable[[], dict[str, float]]) -> dict[str, float]:
    """Add seconds, CPU seconds and the peak memory of this process."""
    begun, used = time.perf_counter(), time.process_time()
    found = work()
    spent = {"s": time.perf_counter() - begun, "cpu_s": time.process_time() - used}
    return {**found, **spent, "mb": peak_mb()}
