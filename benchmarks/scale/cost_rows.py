"""What a trial takes on disk and what it costs to get it there: journal, Parquet by table and codec, compaction."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import polars as pl
from cost_trials import places
from fits import Estimate, Line, line_of
from workload import write_benchmark, write_skill

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare
from skilleval.clock import Clock
from skilleval.config.compose import compose_settings
from skilleval.domain.records import TrialRecord
from skilleval.results.journal import Journal
from skilleval.results.rows import RowBuilder
from skilleval.results.schema import TABLES
from skilleval.results.store import compact, journal_path

CODECS: Final = ("zstd", "snappy", "lz4", "uncompressed")
OUTPUT_BYTES = (100, 300, 1000, 3000, 10_000)
WORDS = (
    "ledger",
    "row",
    "sum",
    "column",
    "name",
    "total",
    "found",
    "checked",
    "line",
    "note",
    "is",
    "of",
    "the",
)


def measured_rows(*, quick: bool) -> dict[str, Estimate]:
    """Measure bytes and CPU seconds of stored trials."""
    n = 100 if quick else 1000
    found: dict[str, Estimate] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        records = {size: _records(root / str(size), n, size) for size in OUTPUT_BYTES}
        runs = {size: _stored(root / f"run-{size}", ones) for size, ones in records.items()}
        found |= _lines("journal bytes", {size: [run[0] / n] for size, run in runs.items()})
        for table in TABLES:
            for codec in CODECS:
                sizes = {size: [_recoded(run[1], table, codec) / n] for size, run in runs.items()}
                found |= _lines(f"{table} bytes, {codec}", sizes)
        few = OUTPUT_BYTES[0]
        found |= _compaction(root / "compaction", _records(root / "many", 8 * n, few))
    return found


def _lines(name: str, costs: dict[int, list[float]]) -> dict[str, Estimate]:
    """Fit bytes of a trial against bytes of its output."""
    points = [(size, cost) for size, all_ in costs.items() for cost in all_]
    line = line_of([size for size, _ in points], [cost for _, cost in points])
    return {name: line.fixed, f"{name}: each byte of output": line.each}


def _records(root: Path, n: int, size: int) -> list[TrialRecord]:
    """Replay outputs of so many bytes of words, and keep what the runner made of them."""
    root.mkdir()
    rng = random.Random(size)  # noqa: S311 - made-up texts
    recorded = root / "recorded.jsonl"
    with recorded.open("w") as file:
        for i in range(n):
            text = " ".join(rng.choices(WORDS, k=size // 4))[:size]
            file.write(
                json.dumps({"task_id": f"sum-{i}", "output": {"result": text}, "latency_ms": 0.1}) + "\n"
            )
    settings = [
        f"skill_set.paths=[{write_skill(root / 'adder')}]",
        f"benchmark.name={write_benchmark(root / 'sums.json', n)}",
        "adapter=replay",
        f"adapter.path={recorded}",
        *places(root),
    ]
    records: list[TrialRecord] = []
    evaluate(prepare(compose_settings(settings, project=root)), observe=records.append)
    return records


def _stored(folder: Path, records: Sequence[TrialRecord]) -> tuple[int, Path]:
    """Write records as a run does; give the bytes of the journal and the folder with the tables."""
    n_bytes, _ = _written(folder, records)
    return n_bytes, folder


def _written(folder: Path, records: Sequence[TrialRecord]) -> tuple[int, float]:
    """Write a journal and make tables of it; give its bytes and the CPU seconds of the tables."""
    folder.mkdir(parents=True)
    path = journal_path(folder)
    journal = Journal(path, RowBuilder(run_id=folder.name, sweep_id=None), Clock())
    for record in records:
        journal.write(record)
    journal.close()
    n_bytes = path.stat().st_size
    started = time.process_time()
    compact(folder)
    return n_bytes, time.process_time() - started


def _recoded(run: Path, table: str, codec: str) -> int:
    """Write a table with another codec; give its bytes."""
    path = run / f"{table}.{codec}"
    pl.read_parquet(run / table / "*.parquet").write_parquet(path, compression=codec)  # type: ignore[arg-type]
    return path.stat().st_size


def _compaction(root: Path, records: Sequence[TrialRecord]) -> dict[str, Estimate]:
    """Fit the CPU seconds of compaction against the number of trials."""
    sizes, seconds = [], []
    for turn in range(3):
        for part in (4, 2, 1):
            n = len(records) // part
            sizes.append(n)
            seconds.append(_written(root / f"{turn}-{part}", records[:n])[1])
            shutil.rmtree(root / f"{turn}-{part}")
    line: Line = line_of(sizes, seconds)
    return {"compaction": line.fixed, "compaction: each trial": line.each}
