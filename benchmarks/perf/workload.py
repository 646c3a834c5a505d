"""The workloads: a benchmark of sums with recorded answers, and a small Python skill."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

SKILL_PROGRAM = """\
import json, sys
request = json.load(sys.stdin)
total = request["params"]["a"] + request["params"]["b"]
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": total}}))
"""


def write_skill(folder: Path) -> Path:
    """Write a skill that adds two numbers, run by this very interpreter as the floor is."""
    folder.mkdir(parents=True)
    (folder / "skill.py").write_text(SKILL_PROGRAM)
    manifest = {
        "id": "adder",
        "name": "Adder",
        "version": "1.0.0",
        "description": "Adds two numbers",
        "adapterType": "subprocess",
        "entrypoint": shlex.join([sys.executable, "skill.py"]),
    }
    (folder / "skill.json").write_text(json.dumps(manifest))
    return folder


def write_benchmark(path: Path, n_tasks: int) -> Path:
    """Write a benchmark of `n_tasks` sums."""
    tasks = [
        {
            "id": f"sum-{i}",
            "description": "adds two numbers",
            "inputData": {"a": i, "b": 1},
            "expectedOutput": {"type": "exact", "value": i + 1},
            "evaluator": {"type": "exact"},
        }
        for i in range(n_tasks)
    ]
    about = {"id": "sums", "name": "Sums", "version": "1.0.0", "domain": "coding", "scoringMethod": "mean"}
    path.write_text(json.dumps({**about, "metadata": {}, "tasks": tasks}))
    return path


def write_recording(path: Path, n_tasks: int) -> Path:
    """Write the right answer to every task, as the replay adapter reads it."""
    lines = (
        json.dumps({"task_id": f"sum-{i}", "output": {"result": i + 1}, "latency_ms": 0.1})
        for i in range(n_tasks)
    )
    path.write_text("\n".join(lines) + "\n")
    return path
