"""Growth of the evaluating process over 1,000 trials, after everything is imported."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from rows import Row

LIMIT_MB = 40.0

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from throughput import skilleval_rate

def rss_mb():
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024, int(fields["VmHWM"].split()[0]) / 1024

root = Path(sys.argv[1])
(root / "warm").mkdir(); (root / "real").mkdir()
skilleval_rate(root / "warm", 1)
before, _ = rss_mb()
skilleval_rate(root / "real", 100)
after, peak = rss_mb()
print(before, after, peak)
"""


def rows(*, quick: bool) -> list[Row]:
    """Measure the resident memory before and after; the loop is the same with `quick`."""
    del quick
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", PROGRAM, folder, str(Path(__file__).parent)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, after, peak = (float(one) for one in done.stdout.split())
    row = Row(
        what="memory of the parent over 1,000 trials",
        value=f"{after - before:+.1f} MB, peak {peak:.0f} MB",
        floor=f"after imports and 10 trials {before:.0f} MB",
        ratio=after / before,
        goal=f"≤ {LIMIT_MB:.0f} MB growth",
        met=after - before <= LIMIT_MB,
    )
    return [row]
