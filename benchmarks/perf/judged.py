"""Instruction skills with a judge: 200 evals in two arms, 200 ms a call, concurrency 32, beside the waiting alone.

Every eval takes four calls: the model and its judge, with the skill and without. The log of the scripted server says
when the first call came and when the last one was answered, so that start-up and report are no part of the time.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rows import Row

CONCURRENCY = 32
LATENCY_S = 0.2
ARMS = 2
FACTOR = 1.15
MOST_FILES = 10
SERVER = Path(__file__).parent.parent.parent / "scripts" / "model_server.py"
RULES = [
    {"when": "row", "with_system": "ledger", "reply": "Row 3 is off by 10, the sum is 118.40."},
    {"when": "row", "reply": "The sum is 118.40."},
]


def write_skill(folder: Path, n_evals: int) -> Path:
    """Write a skill of 8 kB with a reference of 12 kB; each case has a file and three assertions."""
    (folder / "references").mkdir(parents=True)
    (folder / "evals").mkdir()
    about = "---\nname: ledger\ndescription: Checks ledgers. Use when a ledger has sums to verify.\n---\n"
    (folder / "SKILL.md").write_text(about + "Add every column and compare.\n" * 270)
    (folder / "references" / "accounts.md").write_text("An account has a number and a name.\n" * 340)
    (folder / "evals" / "ledger.csv").write_text("row,amount\n1,50.00\n2,58.40\n3,10.00\n")
    assertions = ['Names "row 3"', 'States the difference, "10"', 'Gives the sum "118.40"']
    evals = [
        {"id": i, "prompt": f"Check row {i}.", "files": ["evals/ledger.csv"], "assertions": assertions}
        for i in range(n_evals)
    ]
    (folder / "evals" / "evals.json").write_text(json.dumps({"skill_name": "ledger", "evals": evals}))
    return folder


@contextmanager
def scripted_model(folder: Path) -> Iterator[tuple[str, Path]]:
    """Start the server; give its address and its log."""
    rules, log = folder / "rules.json", folder / "requests.jsonl"
    rules.write_text(json.dumps(RULES))
    options = ["--rules", str(rules), "--log", str(log), "--latency-ms", str(LATENCY_S * 1000)]
    command = [sys.executable, str(SERVER), "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[1], log
        finally:
            server.terminate()


def judged_seconds(folder: Path, n_evals: int) -> tuple[float, int]:
    """Run everything a user runs; give the seconds from first to last call and how many files there are then."""
    skill = write_skill(folder / "ledger", n_evals)
    output = folder / "out"
    with scripted_model(folder) as (url, log):
        command = [
            *(sys.executable, "-m", "skilleval", "eval", str(skill), "model=local", f"model.base_url={url}"),
            *("--baseline", "--concurrency", str(CONCURRENCY), "--output-dir", str(output)),
            *("report.formats=[json,markdown,html]", f"paths.cache={folder / 'cache'}"),
        ]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(calls) == n_evals * ARMS * 2, f"{len(calls)} calls"
    assert {call["status"] for call in calls} == {200}
    first = min(call["at"] - call["duration_s"] for call in calls)
    return max(call["at"] for call in calls) - first, sum(path.is_file() for path in output.rglob("*"))


def rows(*, quick: bool) -> list[Row]:
    """Measure one run: almost all of it is waiting, so that turns say little."""
    n_evals = 64 if quick else 200
    with tempfile.TemporaryDirectory() as folder:
        seconds, n_files = judged_seconds(Path(folder), n_evals)
    flat = n_evals * ARMS * 2 * LATENCY_S / CONCURRENCY
    in_turn = math.ceil(n_evals / CONCURRENCY) * ARMS * 2 * LATENCY_S
    what = f"{n_evals} evals × {ARMS} arms with a judge, 200 ms a call, concurrency {CONCURRENCY}"
    timed = Row(
        what=f"{what}, first to last call",
        value=f"{seconds:.2f} s",
        floor=f"waiting alone, arms one after another {in_turn:.1f} s (never idle {flat:.1f} s)",
        ratio=seconds / in_turn,
        goal=f"≤ {FACTOR} × {in_turn:.1f} s",
        met=seconds <= FACTOR * in_turn,
    )
    written = Row(
        what="files it leaves, reports included",
        value=f"{n_files}",
        floor="a file for each eval and arm " + f"{n_evals * ARMS:,}",
        ratio=n_files / (n_evals * ARMS),
        goal=f"≤ {MOST_FILES}",
        met=n_files <= MOST_FILES,
    )
    return [timed, written]
