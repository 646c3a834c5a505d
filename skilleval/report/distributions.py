"""How what trials took is distributed, and which skills nobody beats, as pure data; see `document`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """One measure under one condition: so large a share of its `n` trials does not exceed the value beside it.

    `measure` is `latency_ms`, `cost_usd` or `total_tokens`. `n_censored` trials were cut off: their value is a lower
    bound. All values where they are 200 or fewer, else those at 0, 0.5, 1 … 100 % (nearest rank).
    """

    condition_id: str
    measure: str
    unit: str
    n: int
    n_censored: int
    mean: float | None
    shares: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """Where a condition stands, by one scorer, between completion and what a trial takes.

    `measure` is `p50_ms` or `mean_cost_usd`. On the front it is as good as any other in both, or better in one;
    `dominated_by` names the conditions that are as good in both and better in one.
    """

    condition_id: str
    scorer: str
    measure: str
    value: float
    is_on_front: bool
    dominated_by: tuple[str, ...] = ()
