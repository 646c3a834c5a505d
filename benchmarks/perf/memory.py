"""Memory of the evaluating process: growth over 1,000 trials, and what it takes while 100,000 run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from rows import Row
from throughput import REPEATS

LIMIT_MB = 40.0
MOST_MB = 250.0

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from memory import resident_mb
from throughput import skilleval_rate

root, n_tasks = Path(sys.argv[1]), int(sys.argv[3])
(root / "warm").mkdir(); (root / "real").mkdir()
skilleval_rate(root / "warm", 1)
before, _ = resident_mb()
skilleval_rate(root / "real", n_tasks)
after, peak = resident_mb()
print(before, after, peak)
"""


MANY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from memory import resident_mb
from throughput import composed_replay
from skilleval.app.evaluate import evaluate
from skilleval.app.prepare import prepare

seen = []
prepared = prepare(composed_replay(Path(sys.argv[1]), int(sys.argv[3])))
evaluate(prepared, observe=lambda record: seen.append(resident_mb()[0]) if record.trial.repeat % 5 == 0 else None)
print(seen[0], seen[-1], max(seen), resident_mb()[1])
"""


def resident_mb() -> tuple[float, float]:
    """Give the memory of this process now, and the most it ever had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields["VmRSS"].split()[0]) / 1024, int(fields["VmHWM"].split()[0]) / 1024


def rows(*, quick: bool) -> list[Row]:
    """Measure the resident memory of a process of its own each."""
    n_many = 20_000 if quick else 100_000
    before, after, peak = _measured(PROGRAM, 1000)
    growth = Row(
        what="memory of the parent over 1,000 trials",
        value=f"{after - before:+.1f} MB, peak {peak:.0f} MB",
        floor=f"after imports and 10 trials {before:.0f} MB",
        ratio=after / before,
        goal=f"≤ {LIMIT_MB:.0f} MB growth",
        met=after - before <= LIMIT_MB,
    )
    first, last, most, ever = _measured(MANY, n_many)
    during = Row(
        what=f"memory of the parent while {n_many:,} trials run",
        value=f"{most:.0f} MB, at the last trial {last:.0f} MB (tables and report after it: {ever:.0f} MB)",
        floor=f"at the first trial {first:.0f} MB",
        ratio=most / first,
        goal=f"≤ {MOST_MB:.0f} MB",
        met=most <= MOST_MB,
    )
    return [growth, during]


def _measured(program: str, n_trials: int) -> tuple[float, ...]:
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(__file__).parent)
        command = [sys.executable, "-c", program, folder, place, str(n_trials // REPEATS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(float(one) for one in done.stdout.split())
