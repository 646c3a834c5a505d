"""Trials a second through persistent workers, beside a bare asyncio loop over the same programs."""

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

CONCURRENCY = 4
GOAL = 2500
PROGRAM = """\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    total = request["params"]["a"] + request["params"]["b"]
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": total}}), flush=True)
"""


async def bare_rate(skill: Path, n_tasks: int) -> float:
    """Ask as many programs as often, one line for one line."""
    pending = iter(range(n_tasks))

    async def work() -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "skill.py",
            cwd=skill,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        for i in pending:
            request = {"jsonrpc": "2.0", "method": "invoke", "params": {"a": i, "b": 1}, "id": i}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            assert json.loads(await process.stdout.readline())["result"] == {"result": i + 1}
        process.stdin.close()
        await process.wait()

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    return n_tasks / (time.perf_counter() - started)


def rows(*, quick: bool) -> list[Row]:
    """Measure interleaved pairs and compare the best of each; the goal is 2,500 trials a second."""
    n_tasks, pairs = (2000, 2) if quick else (10_000, 3)
    ours, bare = [], []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        skill = write_skill(root / "adder")
        (skill / "skill.py").write_text(PROGRAM)
        for i in range(pairs):
            (root / str(i)).mkdir()
            settings = ("runner.isolation=worker", f"runner.concurrency={CONCURRENCY}")
            ours.append(n_tasks / trial_seconds(root / str(i), skill, n_tasks, *settings))
            bare.append(asyncio.run(bare_rate(skill, n_tasks)))
    rate, floor = max(ours), max(bare)
    row = Row(
        what=f"persistent worker, {n_tasks:,} trials, concurrency {CONCURRENCY}",
        value=f"{rate:,.0f} trials/s",
        floor=f"bare loop {floor:,.0f}/s",
        ratio=rate / floor,
        goal=f"≥ {GOAL:,} trials/s",
        met=rate >= GOAL,
    )
    return [row]
