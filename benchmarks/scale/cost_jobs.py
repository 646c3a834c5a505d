"""What a job takes beside its trials: composition, the plan with all its shards, reports."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cost_trials import places
from fits import Estimate, line_of, mean_of
from workload import write_benchmark, write_recording, write_skill

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare
from skilleval.config.compose import compose_settings

REPORTS = {"none": "[]", "json and markdown": "[json,markdown]", "html": "[html]"}
REPEATS = 100
PLANNER = """
import json, sys, time
sys.path[:0] = json.loads(sys.argv[1])
from pathlib import Path
from cost_jobs import planned
print(json.dumps(planned(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))
"""


def measured_jobs(*, quick: bool) -> dict[str, Estimate]:
    """Measure CPU seconds of a one-trial job by its reports, and those of planning with its memory."""
    with tempfile.TemporaryDirectory() as folder:
        return _reports(Path(folder) / "job", 3 if quick else 12) | _plans(Path(folder) / "plan", quick=quick)


def _settings(root: Path, n_tasks: int) -> list[str]:
    root.mkdir(parents=True, exist_ok=True)
    skill = root / "adder"
    return [
        f"skill_set.paths=[{skill if skill.is_dir() else write_skill(skill)}]",
        f"benchmark.name={write_benchmark(root / 'sums.json', n_tasks)}",
        "adapter=replay",
        f"adapter.path={write_recording(root / 'recorded.jsonl', n_tasks)}",
        *places(root),
    ]


def _reports(root: Path, turns: int) -> dict[str, Estimate]:
    settings = _settings(root, 1)
    composing: list[float] = []
    spent: dict[str, list[float]] = {name: [] for name in REPORTS}
    for turn in range(turns + 1):
        for name, formats in REPORTS.items():
            started = time.process_time()
            composed = compose_settings([*settings[:-1], f"report.formats={formats}"], project=root)
            ready = time.process_time()
            evaluate(prepare(composed), observe=lambda _: None)
            if turn:  # the first one loads what all others find loaded
                composing.append(ready - started)
                spent[name].append(time.process_time() - ready)
    jobs = {f"one-trial job, reports {name}": mean_of(seconds) for name, seconds in spent.items()}
    return {"composition": mean_of(composing), **jobs}


def _plans(root: Path, *, quick: bool) -> dict[str, Estimate]:
    """Fit CPU seconds and memory of the planner against the trials of the whole plan: every shard plans all of it."""
    sizes = (2_000, 4_000, 8_000) if quick else (20_000, 100_000, 300_000)
    points = [(n, _planned(root, n)) for n in sizes for _ in range(1 if quick else 2)]
    n_trials = [n for n, _ in points]
    seconds = line_of(n_trials, [cost["cpu_s"] for _, cost in points])
    memory = line_of(n_trials, [cost["bytes"] for _, cost in points])
    return {
        "plan": seconds.fixed,
        "plan: each trial of the whole": seconds.each,
        "plan memory": memory.fixed,
        "plan memory: each trial of the whole": memory.each,
    }


def _planned(root: Path, n_trials: int) -> dict[str, float]:
    """Plan in a process of its own, so that its peak memory is its own."""
    paths = json.dumps([path for path in sys.path if "benchmarks" in path])
    command = [sys.executable, "-c", PLANNER, paths, str(root), str(n_trials), "8"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def planned(root: Path, n_trials: int, n_shards: int) -> dict[str, float]:
    """Plan one shard of many trials in this process; give its CPU seconds and the most memory it had, in bytes."""
    settings = _settings(root, n_trials // REPEATS)
    shards = [f"runner.repeats={REPEATS}", f"plan.shards={n_shards}", "plan.shard=0"]
    composed = compose_settings([*settings, *shards], project=root)
    started = time.process_time()
    prepared = prepare(composed)
    assert prepared.plan is not None
    assert len(prepared.plan.trials) == n_trials
    spent = time.process_time() - started
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return {"cpu_s": spent, "bytes": peak * 1024.0}
