"""What a sweep costs beyond its trials, beside Hydra alone with an empty task; and what a second worker brings.

Everything is started as a user starts it, so that imports and the books of the sweep are part of the time. The floor
is what somebody would run who has Hydra and not us: its own sweeper and launcher, which compose the whole of `conf/`
with the same overrides for each job, and a task that does nothing. What Hydra alone cannot find lies in a copy of
`conf/`: a file for each benchmark, and two empty settings files. `python benchmarks/perf/sweeps.py --jobs N` measures
one sweep of N jobs alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rows import Row
from workload import write_benchmark, write_recording, write_skill

from skilleval.config.shipped import shipped

JOB_SECONDS = 0.3
BARE_FACTOR = 2.0
WORKER_FACTOR = 1.8
STATUS_SECONDS = 1.0
NAP_S = 0.25
FEW, MORE = 4, 16
SKILLEVAL = [sys.executable, "-m", "skilleval"]
EMPTY_TASK = """\
import hydra
from omegaconf import OmegaConf

OmegaConf.register_new_resolver("skilleval.shipped", str)
OmegaConf.register_new_resolver("skilleval.sweep_id", lambda: "none")

@hydra.main(config_path="conf", config_name="eval", version_base="1.3")
def main(config):
    pass

main()
"""
SLEEPER = """\
import json, sys, time
request = json.load(sys.stdin)
time.sleep({nap_s})
total = request["params"]["a"] + request["params"]["b"]
print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": {{"result": total}}}}))
"""


def rows(*, quick: bool) -> list[Row]:
    """Measure the jobs of a sweep, many of them, their status, and two workers instead of one."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        many = _many(root / "many", 100 if quick else 1000)
        return [_job(root / "job", turns=1 if quick else 3), *many, *_workers(root / "workers", quick=quick)]


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by the clock, and of CPU time: where others use the cores too, the second says more."""

    s: float
    cpu_s: float

    def __str__(self) -> str:
        return f"{self.s:.2f} s, {self.cpu_s:.2f} s CPU"


def replay_sweep(root: Path, n_jobs: int) -> Spent:
    """Run a sweep of one-trial replay jobs through the basic launcher; give what it takes."""
    return _spent([*SKILLEVAL, "eval", "-m", *_replay(root, n_jobs), "--quiet"], root)


def bare_sweep(root: Path, n_jobs: int) -> Spent:
    """Let Hydra alone sweep the same overrides over the same config, with jobs that do nothing."""
    settings = _replay(root, n_jobs)
    shutil.copytree(shipped("conf"), root / "conf")
    for name in ("user_file", "project_file"):
        (root / "conf" / f"{name}.yaml").write_text("{}\n")
    for benchmark in shipped("benchmarks").iterdir():
        option = root / "conf" / "benchmark" / f"{benchmark.name}.yaml"
        option.write_text(f"defaults: [named, _self_]\nname: {benchmark.name}\n")
    (root / "empty.py").write_text(EMPTY_TASK)
    return _spent([sys.executable, "empty.py", "-m", *settings, "hydra/sweeper=basic"], root)


def _replay(root: Path, n_jobs: int) -> list[str]:
    """Write a skill, its task and its recorded attempt, and give the overrides of a sweep over seeds."""
    root.mkdir(parents=True)
    benchmark = write_benchmark(root / "sums.json", 1)
    return [
        f"skill_set.paths=[{write_skill(root / 'adder')}]",
        f"benchmark.name={benchmark}",
        "adapter=replay",
        f"adapter.path={write_recording(root / 'recorded.jsonl', 1)}",
        *_places(root),
        f"runner.seed=range({n_jobs})",
    ]


def _job(root: Path, *, turns: int) -> Row:
    """Compare sweeps of few and more jobs, so that the start of the program is no part of it."""

    def each(sweep: Callable[[Path, int], Spent]) -> Spent:
        spent = {
            n: [sweep(root / f"{sweep.__name__}-{n}-{turn}", n) for turn in range(turns)] for n in (FEW, MORE)
        }
        few, more = (min(spent[n], key=lambda one: one.s) for n in (FEW, MORE))
        return Spent((more.s - few.s) / (MORE - FEW), (more.cpu_s - few.cpu_s) / (MORE - FEW))

    ours, bare = each(replay_sweep), each(bare_sweep)
    return Row(
        what="a further one-trial job of a sweep, basic launcher",
        value=str(ours),
        floor=f"Hydra with an empty task {bare}",
        ratio=ours.s / bare.s,
        goal=f"≤ {JOB_SECONDS} s",
        met=ours.s <= JOB_SECONDS,
    )


def _many(root: Path, n_jobs: int) -> list[Row]:
    ours, bare = replay_sweep(root / "ours", n_jobs), bare_sweep(root / "bare", n_jobs)
    whole = Row(
        what=f"sweep of {n_jobs:,} one-trial replay jobs",
        value=str(ours),
        floor=f"Hydra with an empty task {bare}",
        ratio=ours.s / bare.s,
        goal=f"≤ {BARE_FACTOR:g} × the floor",
        met=ours.s <= BARE_FACTOR * bare.s,
    )
    command = [*SKILLEVAL, "sweep", "status", "latest", "--store", str(root / "ours" / "out"), "--json"]
    spent = min((_spent(command, root) for _ in range(3)), key=lambda one: one.s)
    start = min((_spent([*SKILLEVAL, "sweep", "--help"], root) for _ in range(3)), key=lambda one: one.s)
    status = Row(
        what=f"status of {n_jobs:,} jobs",
        value=str(spent),
        floor=f"--help of the same command {start}",
        ratio=spent.s / start.s,
        goal=f"≤ {STATUS_SECONDS:g} s",
        met=spent.s <= STATUS_SECONDS,
    )
    return [whole, status]


def _workers(root: Path, *, quick: bool) -> list[Row]:
    """Measure a sweep that waits, with one joblib worker and with two; nothing where joblib's launcher is absent."""
    try:
        version("hydra-joblib-launcher")
    except PackageNotFoundError:
        print("workers of a sweep are not measured: hydra-joblib-launcher is not installed", file=sys.stderr)
        return []
    n_jobs, n_naps = (4, 80) if quick else (8, 80)
    one, two = (_waiting_sweep(root / str(n), n_jobs, n_naps, workers=n) for n in (1, 2))
    row = Row(
        what=f"sweep of {n_jobs} jobs that wait {n_naps * NAP_S:g} s each, two joblib workers",
        value=str(two),
        floor=f"one worker {one}",
        ratio=one.s / two.s,
        goal=f"≥ {WORKER_FACTOR:g} × as fast",
        met=one.s >= WORKER_FACTOR * two.s,
    )
    return [row]


def _waiting_sweep(root: Path, n_jobs: int, n_naps: int, *, workers: int) -> Spent:
    root.mkdir(parents=True)
    skill = write_skill(root / "adder")
    (skill / "skill.py").write_text(SLEEPER.format(nap_s=NAP_S))
    settings = [
        f"skill_set.paths=[{skill}]",
        f"benchmark.name={write_benchmark(root / 'sums.json', n_naps)}",
        "sandbox=none",
        "runner.concurrency=1",
        "runner.cache=off",
        "hydra/launcher=joblib",
        f"hydra.launcher.n_jobs={workers}",
        *_places(root),
    ]
    return _spent([*SKILLEVAL, "eval", "-m", *settings, f"runner.seed=range({n_jobs})", "--quiet"], root)


def _places(root: Path) -> list[str]:
    return [f"paths.output_dir={root / 'out'}", f"paths.cache={root / 'cache'}", "report.formats=[]"]


def _spent(command: Sequence[str], folder: Path) -> Spent:
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    took, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    if "--json" in command and json.loads(done.stdout)["by_state"].keys() != {"done"}:
        raise SystemExit(f"not every job is done: {done.stdout[-2000:]}")
    return Spent(took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Print what a sweep of so many jobs takes, and its status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000, help="one-trial replay jobs")
    with tempfile.TemporaryDirectory() as folder:
        for row in _many(Path(folder), parser.parse_args().jobs):
            print(f"{row.what}: {row.value}; {row.floor}; ratio {row.ratio:.2f}, goal {row.goal}")


if __name__ == "__main__":
    main()
