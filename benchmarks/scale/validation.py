"""Is the simulation right? Real shards on two workers on this machine, predicted before they are run.

One sweep answers from recordings, so that it is all work; another one asks a server that takes its time, so that it is
almost all waiting. Predictions know the measured costs and the durations, nothing of how the runs went.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cost_trials import places
from loopback import http_server, write_http_skill
from projection import Costs
from simulation import Fleet, simulate
from workload import write_benchmark, write_recording, write_skill
from workloads import WORKLOADS

from skilleval.app.prepare import prepare
from skilleval.config.compose import compose_settings

SHARDS, WORKERS, CONCURRENCY = 4, 2, 8
REPEATS = 10
MEAN_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A prediction beside what came of it. `load` is how many processes wanted the machine's cores meanwhile."""

    what: str
    unit: str
    predicted: float
    measured: float
    load: float

    @property
    def error(self) -> float:
        """How far the prediction is off, as a share of what was measured."""
        return self.predicted / self.measured - 1


def validated(costs: Costs, *, quick: bool) -> list[Check]:
    """Predict and run both sweeps."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        return [
            *_working(root / "replay", costs, 400 if quick else 20_000),
            *_waiting(root / "http", costs, 80 if quick else 1600),
        ]


def _working(root: Path, costs: Costs, n_trials: int) -> list[Check]:
    """Replay: what counts is CPU time, and with a core for each worker also the clock."""
    settings = _replay(root, n_trials)
    own, before, after = _job(costs, "replay", n_trials)
    shard = [0.0] * (n_trials // SHARDS)
    fleet = Fleet(workers=WORKERS, overhead_s=own, start_s=_start_s(root, costs) + before, end_s=after)
    seconds = simulate([shard] * SHARDS, fleet).seconds
    cpu_s = SHARDS * (fleet.start_s + after + own * len(shard))
    what = f"{n_trials:,} replay trials, {SHARDS} shards, {WORKERS} workers"
    took, spent, load = _run(root, settings)
    return [
        Check(what=what, unit="s of CPU time", predicted=cpu_s, measured=spent, load=load),
        Check(what=what, unit="s", predicted=seconds, measured=took, load=load),
    ]


def _waiting(root: Path, costs: Costs, n_trials: int) -> list[Check]:
    """Ask a server that takes 250 ms on average, log-normal with a tail; each shard has eight slots."""
    naps = WORKLOADS[1].draw(n_trials, np.random.default_rng(3)) * MEAN_S / WORKLOADS[1].mean_s
    with http_server() as port:
        settings = _http(root, port, naps.tolist())
        own, before, after = _job(costs, "http", n_trials)
        fleet = Fleet(
            workers=WORKERS,
            concurrency=CONCURRENCY,
            overhead_s=own,
            start_s=_start_s(root, costs) + before,
            end_s=after,
        )
        seconds = simulate(_shards(root, settings, naps.tolist()), fleet).seconds
        took, _, load = _run(root, settings)
    what = f"{n_trials:,} HTTP trials of {1000 * MEAN_S:.0f} ms, {SHARDS} shards, {WORKERS} workers × {CONCURRENCY}"
    return [Check(what=what, unit="s", predicted=seconds, measured=took, load=load)]


def _job(costs: Costs, adapter: str, n_trials: int) -> tuple[float, float, float]:
    """Give what the costs say of one shard: each trial, before the first one, after the last one."""
    per_shard = n_trials // SHARDS
    before = costs["composition"].value + costs["plan: each trial of the whole"].value * n_trials
    after = costs["one-trial job, reports none"].value + costs["compaction: each trial"].value * per_shard
    after += costs["summary of stored trials: each row"].value * per_shard
    return costs[f"trial, {adapter}"].value, before, after


def _start_s(root: Path, costs: Costs) -> float:
    """Measure what the program takes to load all that a run needs: a small run, less what its job is known to cost."""
    small = _replay(root.parent / f"{root.name}-small", REPEATS)
    before = _children_s()
    subprocess.run([sys.executable, "-m", "skilleval", "eval", *small], check=True, capture_output=True)
    known = costs["composition"].value + costs["one-trial job, reports none"].value
    return max(0.0, _children_s() - before - known)


def _replay(root: Path, n_trials: int) -> list[str]:
    root.mkdir(parents=True)
    n_tasks = n_trials // REPEATS
    return [
        f"skill_set.paths=[{write_skill(root / 'adder')}]",
        f"benchmark.name={write_benchmark(root / 'sums.json', n_tasks)}",
        "adapter=replay",
        f"adapter.path={write_recording(root / 'recorded.jsonl', n_tasks)}",
        f"runner.repeats={REPEATS}",
        *places(root),
    ]


def _http(root: Path, port: int, naps: Sequence[float]) -> list[str]:
    root.mkdir(parents=True)
    path = write_benchmark(root / "sums.json", len(naps))
    benchmark = json.loads(path.read_text())
    for task, nap_s in zip(benchmark["tasks"], naps, strict=True):
        task["inputData"] = {"nap_s": nap_s}
        task["expectedOutput"]["value"] = 1
    path.write_text(json.dumps(benchmark))
    skill = write_http_skill(root / "adder", port)
    slots = f"runner.concurrency={CONCURRENCY}"
    return [f"skill_set.paths=[{skill}]", f"benchmark.name={path}", slots, *places(root)]


def _shards(root: Path, settings: Sequence[str], naps: Sequence[float]) -> list[list[float]]:
    """Ask the planner which trials each shard has, and give their durations in its order."""
    found = []
    for shard in range(SHARDS):
        cut = [f"plan.shards={SHARDS}", f"plan.shard={shard}"]
        prepared = prepare(compose_settings([*settings, *cut], project=root))
        found.append([float(naps[int(trial.task.id.removeprefix("sum-"))]) for trial in prepared.trials])
    return found


def _run(root: Path, settings: Sequence[str]) -> tuple[float, float, float]:
    """Run the shards in turn on two workers, a program each; give seconds, CPU seconds and the load."""

    def job(shard: int) -> None:
        cut = [f"plan.shards={SHARDS}", f"plan.shard={shard}"]
        command = [sys.executable, "-m", "skilleval", "eval", *settings, *cut, "--quiet"]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"shard {shard} ended with {done.returncode}: {done.stderr[-2000:]}")

    cpu, started = _children_s(), time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(job, range(SHARDS)))
    return time.perf_counter() - started, _children_s() - cpu, os.getloadavg()[0]


def _children_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
