"""How long calls took, exactly: what shards of later runs are balanced by."""

from __future__ import annotations

from typing import Final

import polars as pl

from skilleval.analytics.metric import Metric, summarise

CALL: Final = ("task_id", "skill_id", "mode")
_US = (pl.col("latency_ms") * 1000).round().cast(pl.Int64)

mean_call: Final = Metric(
    name="mean_us",
    # Whole microseconds: their sum does not depend on the order of the rows.
    expr=_US.sum() // _US.count(),
    unit="µs",
    doc="mean duration of the calls",
)


def call_durations(trials: pl.LazyFrame) -> pl.LazyFrame:
    """Give the mean duration of the calls that this run made itself and that are known to have taken a time.

    Grain: one row a task × skill × mode.
    Columns: `task_id`, `skill_id`, `mode`, `mean_us` (whole microseconds).
    """
    own = trials.filter(pl.col("reused_from").is_null() & pl.col("latency_ms").is_not_null())
    return summarise(own, by=CALL, metrics=[mean_call])
