"""A Python skill in a fresh process for each trial, beside a bare asyncio loop that starts the same command."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from rows import Row
from workload import write_benchmark, write_skill

from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare
from skilleval.config.compose import compose_settings

CONCURRENCY = 2


def skilleval_seconds(root: Path, skill: Path, n_tasks: int) -> float:
    """Run the skill on every task; give the seconds from the first trial's start to the last one's end."""
    settings = [
        f"skill_set.paths=[{skill}]",
        f"benchmark.name={write_benchmark(root / 'sums.json', n_tasks)}",
        f"runner.concurrency={CONCURRENCY}",
        f"paths.output_dir={root / 'out'}",
        "report.formats=[]",
    ]
    prepared = prepare(compose_settings(settings, project=root))
    stamps: list[float] = [time.perf_counter()]
    outcome = evaluate(prepared, observe=lambda record: stamps.append(time.perf_counter()))
    assert outcome.statuses == {"completed": n_tasks}, outcome.statuses
    return stamps[-1] - stamps[0]


async def bare_seconds(skill: Path, n_tasks: int) -> float:
    """Start the same command as often, two at a time, and read its answer."""
    pending = iter(range(n_tasks))
    environment = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}

    async def work() -> None:
        for i in pending:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "skill.py",
                cwd=skill,
                env=environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            request = {"jsonrpc": "2.0", "method": "invoke", "params": {"a": i, "b": 1}, "id": 1}
            out, _ = await process.communicate(json.dumps(request).encode())
            assert json.loads(out)["result"] == {"result": i + 1}

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    return time.perf_counter() - started


def rows(*, quick: bool) -> list[Row]:
    """Measure interleaved pairs and compare the best of each; the goal is 85 % of the bare loop."""
    n_tasks, pairs = (40, 2) if quick else (200, 4)
    ours, bare = [], []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        skill = write_skill(root / "adder")
        for i in range(pairs):
            (root / str(i)).mkdir()
            ours.append(skilleval_seconds(root / str(i), skill, n_tasks))
            bare.append(asyncio.run(bare_seconds(skill, n_tasks)))
    share = min(bare) / min(ours)
    row = Row(
        what=f"Python skill, fresh process, {n_tasks} tasks, concurrency {CONCURRENCY}",
        value=f"{n_tasks / min(ours):.1f} trials/s",
        floor=f"bare spawn loop {n_tasks / min(bare):.1f}/s",
        ratio=share,
        goal="≥ 0.85 of the floor",
        met=share >= 0.85,
    )
    return [row]
