"""Stored runs to report on: five skills, tasks five times each, outputs and logs of uneven length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from throughput import composed_replay

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare
from skilleval.results.schema import SCORES, TRIALS, TRIES, Table, polars_schema

SKILLS, REPEATS = 5, 5
_WORDS = 4_000
_LONG = 0.02
"""That share of outputs and logs is much longer than a page wants to carry."""


def write_report_run(root: Path, n_trials: int) -> Path:
    """Write a run of so many trials, three in four of which passed; its manifest is that of a real small run."""
    root.mkdir(parents=True)
    folder = evaluate(prepare(composed_replay(root, 1)), observe=lambda _: None).folder
    places, rng = np.arange(n_trials), np.random.default_rng(7)
    first = {table.name: _first_row(folder, table) for table in (TRIALS, SCORES)}
    varied = _varied(places, rng)
    passed = pl.Series("passed", rng.random(n_trials) < 0.75)
    trials = varied.with_columns(output=_texts(rng, n_trials), stderr=_texts(rng, n_trials))
    scores = varied.select("trial_id").with_columns(
        passed,
        passed.cast(pl.Float64).alias("score"),
        pl.when(passed).then(pl.lit("passed")).otherwise(pl.lit("failed")).alias("verdict"),
        pl.when(passed).then(None).otherwise(_texts(rng, n_trials).str.slice(0, 80)).alias("reason"),
    )
    _replace(folder, TRIALS, trials, first["trials"])
    _replace(folder, SCORES, scores, first["scores"])
    for path in (folder / TRIES.name).glob("*.parquet"):
        pl.DataFrame(schema=polars_schema(TRIES)).write_parquet(path)
    return folder


def _first_row(folder: Path, table: Table) -> pl.DataFrame:
    return pl.read_parquet(folder / table.name / "*.parquet").head(1)


def _varied(places: np.ndarray, rng: np.random.Generator) -> pl.DataFrame:
    skill = places % SKILLS
    return pl.DataFrame({"skill": skill, "task": places // (SKILLS * REPEATS)}).select(
        pl.Series("trial_id", [f"{place:032x}" for place in places]),
        pl.Series("repeat", places // SKILLS % REPEATS),
        pl.format("sum-{}", "task").alias("task_id"),
        pl.format("skill-{}", "skill").alias("skill_id"),
        pl.format("condition-{}", "skill").alias("condition_id"),
        pl.Series("latency_ms", rng.lognormal(3, 1, len(places))),
    )


def _texts(rng: np.random.Generator, n: int) -> pl.Series:
    """Make texts of words: most of some hundred characters, a few of many thousand."""
    words = np.array([f"w{one:x}" for one in rng.integers(0, 2**31, _WORDS)])
    lengths = np.where(rng.random(n) < _LONG, rng.integers(500, 3_000, n), rng.integers(3, 40, n))
    starts = rng.integers(0, _WORDS, n)
    return pl.Series(
        [
            '"' + " ".join(np.take(words, range(start, start + length), mode="wrap")) + '"'
            for start, length in zip(starts, lengths, strict=True)
        ]
    )


def _replace(folder: Path, table: Table, changes: pl.DataFrame, first: pl.DataFrame) -> None:
    """Write the table anew: each row is the real one, but for what was made up."""
    rest = first.drop(changes.columns)
    rows = changes.join(rest, how="cross").select(
        pl.col(name).cast(dtype) for name, dtype in polars_schema(table).items()
    )
    for path in (folder / table.name).glob("*.parquet"):
        path.unlink()
    rows.write_parquet(folder / table.name / "part-00000.parquet")
