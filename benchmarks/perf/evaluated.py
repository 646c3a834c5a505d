"""One evaluation through everything a user's run goes through, and how long its trials took."""

from __future__ import annotations

import time
from pathlib import Path

from workload import write_benchmark

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare
from skilleval.config.compose import compose_settings


def trial_seconds(root: Path, skill: Path, n_tasks: int, *settings: str) -> float:
    """Run a skill on `n_tasks` sums; give the seconds from the first trial's start to the last one's end."""
    overrides = [
        f"skill_set.paths=[{skill}]",
        f"benchmark.name={write_benchmark(root / 'sums.json', n_tasks)}",
        f"paths.output_dir={root / 'out'}",
        f"paths.cache={root / 'cache'}",
        "report.formats=[]",
        *settings,
    ]
    prepared = prepare(compose_settings(overrides, project=root))
    stamps: list[float] = [time.perf_counter()]
    outcome = evaluate(prepared, observe=lambda record: stamps.append(time.perf_counter()))
    assert outcome.statuses == {"completed": n_tasks}, outcome.statuses
    return stamps[-1] - stamps[0]
