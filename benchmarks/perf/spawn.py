"""A Python skill in a fresh process each, enclosed and not, beside a bare loop that starts the same command."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from evaluated import trial_seconds
from rows import Row
from workload import write_skill

CONCURRENCY = 2
SANDBOXES = {"none": 1 / 0.85, "process": 1.6}
"""Sandbox → how many times the bare loop's time a trial may take."""


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
    """Measure in turns and compare the best of each; `process` is whatever encloses best on this machine."""
    n_tasks, turns = (40, 2) if quick else (200, 4)
    ours: dict[str, list[float]] = {name: [] for name in SANDBOXES}
    bare: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        skill = write_skill(root / "adder")
        for i in range(turns):
            bare.append(asyncio.run(bare_seconds(skill, n_tasks)))
            for name, seconds in ours.items():
                place = root / f"{name}-{i}"
                place.mkdir()
                settings = (f"sandbox={name}", f"runner.concurrency={CONCURRENCY}")
                seconds.append(trial_seconds(place, skill, n_tasks, *settings))
    return [_row(name, n_tasks, min(seconds), min(bare)) for name, seconds in ours.items()]


def _row(sandbox: str, n_tasks: int, ours: float, bare: float) -> Row:
    goal = SANDBOXES[sandbox]
    return Row(
        what=f"Python skill, fresh process, sandbox={sandbox}, {n_tasks} tasks, concurrency {CONCURRENCY}",
        value=f"{1000 * ours / n_tasks:.1f} ms a trial",
        floor=f"bare spawn loop {1000 * bare / n_tasks:.1f} ms",
        ratio=ours / bare,
        goal=f"≤ {goal:.2f} of the floor",
        met=ours / bare <= goal,
    )
