"""How long calls took, as shards are balanced by it."""

from __future__ import annotations

import polars as pl
from polars.testing import assert_frame_equal

from skilleval.analytics.durations import call_durations

_ROWS = pl.LazyFrame(
    [
        ("t1", "a", "direct", 1.0, None),
        ("t1", "a", "direct", 2.0005, None),
        ("t1", "a", "direct", 900.0, "earlier"),
        ("t1", "b", "direct", None, None),
        ("t2", "a", "direct", 0.25, None),
        ("t2", "a", "with_skill", None, None),
        ("t2", "a", "with_skill", 8.0, None),
    ],
    schema={
        **dict.fromkeys(("task_id", "skill_id", "mode"), pl.String()),
        "latency_ms": pl.Float64(),
        "reused_from": pl.String(),
    },
    orient="row",
)


def test_means_are_whole_microseconds_of_the_runs_own_calls() -> None:
    """Calls of other runs and calls of no known duration do not count; a group without any has no row."""
    expected = pl.DataFrame(
        [("t1", "a", "direct", 1500), ("t2", "a", "direct", 250), ("t2", "a", "with_skill", 8000)],
        schema={**dict.fromkeys(("task_id", "skill_id", "mode"), pl.String()), "mean_us": pl.Int64()},
        orient="row",
    )
    assert_frame_equal(call_durations(_ROWS).collect(), expected)
