"""What it costs to make a trial durable, as a share of a run that makes 1,000 trials a second."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rows import Row
from throughput import skilleval_rate

from skilleval.results.schema import TRIALS
from skilleval.results.store import scan_table

RATE = 1000
SHARE = 0.03


def rows(*, quick: bool) -> list[Row]:
    """Take the time that each row says it took to write; at 1,000 trials/s a trial has a millisecond."""
    n_tasks = 200 if quick else 1000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        skilleval_rate(root, n_tasks)
        (run,) = (path.parent for path in root.glob("out/*/manifest.json"))
        written = scan_table(run, TRIALS).select("write_ms").collect()["write_ms"]
    mean_ms = written.mean()
    assert isinstance(mean_ms, float)
    share = mean_ms * RATE / 1000
    row = Row(
        what=f"making a trial durable, mean over {len(written):,} trials",
        value=f"{1000 * mean_ms:.0f} µs a trial",
        floor=f"{1_000_000 / RATE:.0f} µs a trial at {RATE:,} trials/s",
        ratio=share,
        goal=f"≤ {SHARE:.2f} of the run",
        met=share <= SHARE,
    )
    return [row]
