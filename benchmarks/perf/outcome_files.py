"""Made-up results: outcomes of ten skills on five benchmarks, and one stored run with trials and scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from skilleval.analytics.outcomes import trial_outcomes
from skilleval.results.schema import SCORES, TRIALS, Table, polars_schema

SKILLS, BENCHMARKS, TASKS, REPEATS = 10, 5, 200, 10
FILE_ROWS = SKILLS * BENCHMARKS * TASKS * REPEATS
_READ = ("run_id", "trial_id", "scorer", "check_id", "weight", "required", "score", "passed", "verdict")


def write_outcomes(folder: Path, n_rows: int) -> list[Path]:
    """Write outcomes a file at a time, a run each."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    paths = []
    for number in range(n_rows // FILE_ROWS):
        outcomes = trial_outcomes(*(frame.lazy() for frame in _run(number, rng))).drop("trial_id")
        paths.append(folder / f"part-{number:05}.parquet")
        outcomes.collect().write_parquet(paths[-1])
    return paths


def write_run(folder: Path, n_rows: int) -> Path:
    """Write trials and scores as a stored run has them, as far as a summary reads them."""
    rng = np.random.default_rng(1)
    for number in range(n_rows // FILE_ROWS):
        for name, frame in zip(("trials", "scores"), _run(0, rng), strict=True):
            (folder / name).mkdir(parents=True, exist_ok=True)
            repeat = [pl.col("repeat") + number * REPEATS] if name == "trials" else []
            frame.with_columns(repeat).write_parquet(folder / name / f"part-{number:05}.parquet")
    return folder


def _run(number: int, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Make the trials and scores of one run."""
    place = np.arange(FILE_ROWS)
    skill = place // (REPEATS * TASKS * BENCHMARKS)
    ids = [f"{one:032x}" for one in rng.integers(0, 2**63, FILE_ROWS)]
    tokens_in, tokens_out = rng.integers(10, 1000, FILE_ROWS), rng.integers(10, 500, FILE_ROWS)
    made = pl.DataFrame(
        {
            "trial_id": ids,
            "skill": skill,
            "benchmark": place // (REPEATS * TASKS) % BENCHMARKS,
            "task": place // REPEATS % TASKS,
            "repeat": place % REPEATS,
            "status": _statuses(rng),
            "latency_ms": rng.lognormal(3, 1, FILE_ROWS),
            "spawn_ms": rng.lognormal(1, 0.5, FILE_ROWS),
            "input_tokens": tokens_in,
            "output_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
            "cost_usd": tokens_in * 1e-6,
        }
    )
    passed = pl.Series(rng.random(FILE_ROWS) < 0.5 + 0.04 * skill)
    trials = _as_table(TRIALS, made.with_columns(*_named(number)).drop("skill", "benchmark", "task"))
    scores = pl.DataFrame({"trial_id": ids, "passed": passed, "score": passed.cast(pl.Float64)})
    said = {
        "run_id": pl.lit(_run_id(number)),
        "scorer": pl.lit("exact"),
        "check_id": pl.lit("0"),
        "weight": pl.lit(1.0),
        "required": pl.lit(value=True),
        "verdict": pl.when("passed").then(pl.lit("passed")).otherwise(pl.lit("failed")),
    }
    return trials, _as_table(SCORES, scores.with_columns(**said)).select(_READ)


def _statuses(rng: np.random.Generator) -> list[str]:
    names = ("completed", "timeout", "skill_error", "provider_error")
    return [names[one] for one in rng.choice(4, FILE_ROWS, p=[0.97, 0.01, 0.01, 0.01])]


def _run_id(number: int) -> str:
    return f"20260101T{number:06}Z-abcdef"


def _named(number: int) -> list[pl.Expr]:
    """Name the parts of a trial as they are named in earnest."""
    return [
        pl.lit(_run_id(number)).alias("run_id"),
        pl.format("condition-{}-{}", "skill", "benchmark").alias("condition_id"),
        pl.format("skill-{}", "skill").alias("skill_id"),
        pl.format("{}" + "0" * 60, "skill").alias("skill_digest"),
        pl.format("benchmark-{}", "benchmark").alias("benchmark_id"),
        pl.format("task-{}", "task").alias("task_id"),
        pl.lit(["made-up"]).alias("task_tags"),
        *(pl.lit("1.0.0").alias(name) for name in ("skill_version", "benchmark_version")),
        pl.lit("subprocess").alias("adapter"),
        pl.lit("process").alias("sandbox"),
        pl.lit("direct").alias("mode"),
        pl.lit(1.0).alias("task_weight"),
        pl.lit(60_000.0).alias("timeout_ms"),
        pl.lit(1).alias("n_tries"),
    ]


def _as_table(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """Give the columns of the contract, null where nothing was made up."""
    columns = polars_schema(table).items()
    return frame.select(
        pl.col(name).cast(dtype) if name in frame.columns else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in columns
    )
