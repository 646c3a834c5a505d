"""Trials per second with durable rows, Parquet and summary, beside a bare loop that writes the same lines."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path

import msgspec
import polars as pl
from rows import Row
from workload import write_benchmark, write_recording, write_skill

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare
from skilleval.config.compose import Composed, compose_settings

REPEATS = 10


def composed_replay(root: Path, n_tasks: int) -> Composed:
    """Give the settings of `n_tasks` × 10 replayed trials."""
    skill = write_skill(root / "adder")
    settings = [
        f"skill_set.paths=[{skill}]",
        f"benchmark.name={write_benchmark(root / 'sums.json', n_tasks)}",
        "adapter=replay",
        f"adapter.path={write_recording(root / 'recorded.jsonl', n_tasks)}",
        f"runner.repeats={REPEATS}",
        f"paths.output_dir={root / 'out'}",
        f"paths.cache={root / 'cache'}",
        "report.formats=[]",
    ]
    return compose_settings(settings, project=root)


def skilleval_rate(root: Path, n_tasks: int) -> float:
    """Give replayed trials per second of plan, run, tables and summary."""
    composed = composed_replay(root, n_tasks)
    started = time.perf_counter()
    outcome = evaluate(prepare(composed), observe=lambda record: None)
    took = time.perf_counter() - started
    assert outcome.statuses == {"completed": n_tasks * REPEATS}
    return n_tasks * REPEATS / took


def bare_rate(root: Path, n_trials: int) -> float:
    """Do the least that leaves durable rows and a summary: coroutine, line, Parquet, one group_by."""
    encode = msgspec.json.Encoder().encode

    async def call(i: int) -> int:
        await asyncio.sleep(0)
        return i

    async def loop(path: Path) -> None:
        with path.open("ab", buffering=0) as file:
            for i in range(n_trials):
                output = await call(i)
                row = {"task": i, "output": json.dumps({"result": output}), "latency_ms": 0.1, "passed": True}
                file.write(encode(row) + b"\n")

    started = time.perf_counter()
    asyncio.run(loop(root / "bare.jsonl"))
    frame = pl.read_ndjson(root / "bare.jsonl")
    frame.write_parquet(root / "bare.parquet")
    pl.scan_parquet(root / "bare.parquet").select(pl.col("passed").mean()).collect()
    return n_trials / (time.perf_counter() - started)


def rows(*, quick: bool) -> list[Row]:
    """Measure throughput; the goal is 10,000 trials a second, imports apart."""
    n_tasks = 1000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("warm", "real", "bare"):
            (root / name).mkdir()
        skilleval_rate(root / "warm", 10)
        rates = []
        for i in range(1 if quick else 3):
            (root / "real" / str(i)).mkdir()
            rates.append(skilleval_rate(root / "real" / str(i), n_tasks))
        rate, floor = max(rates), bare_rate(root / "bare", n_tasks * REPEATS)
    row = Row(
        what=f"{n_tasks * REPEATS:,} replayed trials",
        value=f"{rate:,.0f} trials/s",
        floor=f"bare loop {floor:,.0f}/s",
        ratio=rate / floor,
        goal="≥ 10,000 trials/s",
        met=rate >= 10_000,
    )
    return [row]
