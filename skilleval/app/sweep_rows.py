"""The rows of a sweep: each run is scanned and reduced by itself, job after job; one that cannot be is told of."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from skilleval.analytics.effects import MEASURES
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.summary import summary
from skilleval.analytics.sweeps import TASK, UNITS, Setting, job_means, job_spend
from skilleval.analytics.task_results import task_results
from skilleval.app.stored import Stored, readable, stored
from skilleval.errors import Problem, ResultsError
from skilleval.results.sweeps import DONE, Sweep, SweepJob

log = logging.getLogger("skilleval.progress")

_TOLD_EVERY = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRows:
    """What was read of the runs of all jobs; `reasons` say of jobs why nothing was.

    `benchmarks` gives the hash of a benchmark's content by job.
    """

    specs: tuple[AnalysisSpec, ...]
    results: pl.DataFrame
    tasks: pl.DataFrame
    spend: pl.DataFrame
    reasons: Mapping[int, str]
    benchmarks: Mapping[int, str]


def read_rows(sweep: Sweep, settings: Sequence[Setting]) -> SweepRows:
    """Reduce the rows of each run that is done; one that cannot be read is told of, and nobody's obstacle."""
    specs: list[AnalysisSpec] = []
    frames: dict[str, list[pl.DataFrame]] = {"results": [], "tasks": [], "spend": []}
    reasons: dict[int, str] = {}
    benchmarks: dict[int, str] = {}
    for n, job in enumerate(sweep.jobs, start=1):
        try:
            one = _opened(job)
            found = _reduced(one, job, settings)
        except ResultsError as error:
            reasons[job.job] = error.message
            continue
        specs.append(one.spec)
        benchmarks[job.job] = str(one.manifest["benchmark"].get("digest"))
        for name, frame in zip(frames, found, strict=True):
            frames[name].append(frame)
        if n % _TOLD_EVERY == 0:
            log.info("read %d of %d jobs", n, len(sweep.jobs))
    joined = {
        name: pl.concat(found, how="vertical_relaxed") if found else pl.DataFrame()
        for name, found in frames.items()
    }
    return SweepRows(specs=tuple(specs), reasons=reasons, benchmarks=benchmarks, **joined)


def _opened(job: SweepJob) -> Stored:
    """Open the run of a job that came to its end.

    Raises:
        ResultsError: it did not, or cannot be read.
    """
    if job.state != DONE or job.run_dir is None:
        raise ResultsError(job.error or f"the job is {job.state}")
    return stored(job.run_dir)


def _reduced(one: Stored, job: SweepJob, settings: Sequence[Setting]) -> list[pl.DataFrame]:
    """Give the summary, the tasks and the costs of a run, with the settings of its job."""
    levels = {setting.column: pl.lit(job.settings.get(setting.name), dtype=pl.String) for setting in settings}
    number = pl.lit(job.job, dtype=pl.Int64).alias("job")
    measured = [measure.column for measure in MEASURES]
    with readable(one.folder):
        return pl.collect_all(
            [
                summary(one.trials, one.scores, spec=one.spec)
                .select(
                    number,
                    key=pl.lit(job.key),
                    run_id=pl.lit(str(one.manifest["run_id"])),
                    **levels,
                    rest=pl.struct(pl.all()),
                )
                .unnest("rest"),
                task_results(one.trials, one.scores, spec=one.spec).select(
                    number, *UNITS, *TASK, *measured, **levels
                ),
                job_spend(one.trials).select(number, pl.exclude("run_id")),
            ]
        )


def some_results(results: pl.DataFrame, sweep: Sweep, reasons: Mapping[int, str]) -> pl.DataFrame:
    """Refuse a sweep without any result.

    Raises:
        ResultsError: it has none; the reasons of its first jobs are named.
    """
    if results.height:
        return results
    problems = tuple(
        Problem(where=f"job {job.job}", expected="a run that came to its end", found=reasons[job.job])
        for job in sweep.jobs[:5]
        if job.job in reasons
    )
    hint = f"skilleval sweep status {sweep.folder}"
    raise ResultsError(f"no job of the sweep {sweep.sweep_id} has a result", problems=problems, hint=hint)


def job_rows(
    sweep: Sweep, settings: Sequence[Setting], read: SweepRows, values: pl.DataFrame
) -> pl.DataFrame:
    """Say what became of each job.

    Grain: one row a job.
    Columns: `job`, `key`, one a setting, `state`, `exit_code`, `counts` (it has a result that counts), `reason` (why
        not), `verdict`, `run_id`, `duration_ms`, `n_trials`, `n_reused`, `cost_usd`, `tokens`, `mean`, `n_tasks`.
    """
    rows = [
        {
            "job": job.job,
            "key": job.key,
            **{setting.column: job.settings.get(setting.name) for setting in settings},
            "state": job.state,
            "exit_code": job.exit_code,
            "counts": job.job not in read.reasons,
            "reason": read.reasons.get(job.job),
            "verdict": job.verdict,
            "run_id": job.run_id,
            "duration_ms": job.duration_ms,
        }
        for job in sweep.jobs
    ]
    texts = ("key", *(one.column for one in settings), "state", "reason", "verdict", "run_id")
    types = {
        "job": pl.Int64(),
        "exit_code": pl.Int64(),
        "duration_ms": pl.Float64(),
        **dict.fromkeys(texts, pl.String()),
    }
    frame = pl.DataFrame(rows, schema_overrides=types)
    spent = frame.join(read.spend, on="job", how="left") if read.spend.height else frame
    return spent.join(job_means(values), on="job", how="left").sort("job", "key")
