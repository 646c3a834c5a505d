"""How evenly shards are loaded: by hash, by number (what `plan.shards` does) and by expected duration."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from simulation import Durations, Fleet, simulate
from workloads import Workload

from skilleval.sharding import shards_of

TASKS_SHARE = 0.7
"""How much of the spread of durations lies between tasks: that part an earlier run foretells."""
SLOW_FACTOR = 2.0
CUTS = ("hash", "number", "duration")


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How long shards take, cut in one way: the longest over the mean, without a slow worker and with one."""

    cut: str
    shards: int
    imbalance: float
    with_slow: float
    finer_with_slow: float
    """The same with eight times as many shards, which workers take one after another."""


def balances(workload: Workload, *, trials: int, workers: int, seed: int = 0) -> list[Balance]:
    """Simulate the ways to cut a plan; all times are over that of a plan without any idle worker."""
    rng = np.random.default_rng(seed)
    durations, expected = _with_expectation(workload, trials, rng)
    found = []
    for cut in CUTS:
        few, many = (cut_by(cut, durations, expected, workers * n) for n in (1, 8))
        ideal = durations.sum() / workers / workload.concurrency
        found.append(
            Balance(
                cut=cut,
                shards=workers,
                imbalance=_seconds(few, workload, workers) / ideal,
                with_slow=_seconds(few, workload, workers, SLOW_FACTOR) / ideal,
                finer_with_slow=_seconds(many, workload, workers, SLOW_FACTOR) / ideal,
            )
        )
    return found


def cut_by(cut: str, durations: Durations, expected: Durations, n_shards: int) -> list[Durations]:
    """Cut a plan into shards in one way; `number` and `duration` are those of the product."""
    ids = [hashlib.sha256(str(i).encode()).hexdigest()[:16] for i in range(len(durations))]
    if cut == "hash":
        shards = [int(one, 16) % n_shards for one in ids]
    else:
        weights = None if cut == "number" else [max(1, round(1e6 * one)) for one in expected]
        shards = shards_of(ids, n_shards, weights)
    of = np.asarray(shards)
    return [durations[of == shard] for shard in range(n_shards)]


def _with_expectation(
    workload: Workload, trials: int, rng: np.random.Generator
) -> tuple[Durations, Durations]:
    """Draw durations with the part of them that is known before: that of the task."""
    task, chance = (np.sqrt(share) * workload.sigma for share in (TASKS_SHARE, 1 - TASKS_SHARE))
    expected = workload.mean_s * rng.lognormal(-(task**2) / 2, task, trials)
    return expected * rng.lognormal(-(chance**2) / 2, chance, trials), expected


def _seconds(jobs: list[Durations], workload: Workload, workers: int, slow: float = 1.0) -> float:
    fleet = Fleet(workers=workers, concurrency=workload.concurrency, slowness=(slow,))
    return simulate(jobs, fleet).seconds
