"""What so many trials would take on so many workers: measured costs and assumed workloads in closed form.

The simulation checks the closed form where it can be run (a million trials); a thousand million need the form alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from fits import Estimate
from simulation import Durations, Fleet, simulate
from workloads import Workload

Costs = Mapping[str, Estimate]

TABLES = ("trials", "tries", "scores", "judgements")
SHARD_TRIALS = 100_000
"""Trials of a shard: small enough for its analysis, large enough that the start of a job does not count."""
PLAN_TRIALS = 1_000_000
"""Trials of one plan; more is several plans, e.g. one a skill set or a seed, since each shard plans all of its plan."""
MTBF_S = 7 * 86_400.0
RESTART_S = 60.0
INPUT_USD, OUTPUT_USD = 0.25, 2.0
CALLS_PER_MINUTE = 10_000.0
SUMMARY_BYTES = 2_000.0
_DRAWS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """What one workload takes: the whole time, what bounds it, and what it leaves on disk."""

    trials: int
    workers: int
    seconds: float
    bottleneck: str
    limited_seconds: float | None
    parquet_bytes: float
    shard_journal_bytes: float
    usd: float
    own_cores: float
    """Cores that the evaluating processes keep busy while trials run, out of one a worker."""

    @property
    def worker_hours(self) -> float:
        """Hours that all workers together are taken."""
        return self.seconds * self.workers / 3600


def overhead_s(workload: Workload, costs: Costs) -> float:
    """Give the time that the evaluating process takes for one trial."""
    return costs[f"trial, {workload.adapter}"].value


def rates(workload: Workload, costs: Costs, workers: int, calls_per_minute: float | None) -> dict[str, float]:
    """Give how many trials a second each part of the machinery could do at most, all workers together."""
    own = overhead_s(workload, costs)
    found = {
        "the skill or model itself": workers * workload.concurrency / (workload.mean_s + own),
        "the evaluating process": workers / own,
    }
    if calls_per_minute is not None and workload.calls:
        found["the provider's limit"] = calls_per_minute / 60 / workload.calls
    return found


def job_seconds(costs: Costs, planned: int, trials: int) -> tuple[float, float]:
    """Give what a job takes before its first trial and after its last one.

    Every shard plans the whole plan to know its share; compaction and analysis are those of the shard.
    """
    before = (
        costs["composition"].value
        + costs["plan"].value
        + costs["plan: each trial of the whole"].value * planned
    )
    after = costs["compaction: each trial"].value * trials + costs["one-trial job, reports none"].value
    return before, after + costs["summary of stored trials: each row"].value * trials


def stored_bytes(workload: Workload, costs: Costs, codec: str = "zstd") -> tuple[float, float]:
    """Give the bytes of a trial: in the tables, and in the journal that is gone after compaction."""

    def of(name: str) -> float:
        return costs[name].value + costs[f"{name}: each byte of output"].value * workload.output_bytes

    return sum(of(f"{table} bytes, {codec}") for table in TABLES), of("journal bytes")


@lru_cache(maxsize=8)
def _drawn(workload: Workload) -> Durations:
    return np.sort(workload.draw(_DRAWS, np.random.default_rng(0)))


def tail_s(workload: Workload, slots: int) -> float:
    """Give the longest duration among as many trials as run at once: that long the last one runs on, or less."""
    return float(_drawn(workload)[int((_DRAWS - 1) * (1 - 1 / slots))]) if slots > 1 else workload.mean_s


def unevenness_s(workload: Workload, trials: int, workers: int) -> float:
    """Give how much longer the unluckiest worker takes than the mean one, when all have as many trials.

    Source: the expected maximum of N normal variables is about sqrt(2 ln N) standard deviations.
    """
    spread = float(_drawn(workload).std()) * math.sqrt(trials / workers) / workload.concurrency
    return spread * math.sqrt(2 * math.log(workers))


def projected(workload: Workload, costs: Costs, trials: int, workers: int) -> Projection:
    """Project in closed form, without a provider's limit and with one."""
    free, bottleneck = _seconds(workload, costs, trials, workers, None)
    limited = _seconds(workload, costs, trials, workers, CALLS_PER_MINUTE)[0] if workload.calls else None
    parquet, journal = stored_bytes(workload, costs)
    rate = min(rates(workload, costs, workers, None).values())
    return Projection(
        trials=trials,
        workers=workers,
        seconds=free,
        bottleneck=bottleneck,
        limited_seconds=limited,
        parquet_bytes=parquet * trials,
        shard_journal_bytes=journal * min(trials, SHARD_TRIALS),
        usd=workload.usd(trials, input_usd=INPUT_USD, output_usd=OUTPUT_USD),
        own_cores=rate * overhead_s(workload, costs),
    )


def jobs_of(trials: int, workers: int) -> int:
    """Give into how many shards the work is split: of a handy size, and a whole number for each worker."""
    wanted = max(1, math.ceil(trials / SHARD_TRIALS))
    return math.ceil(wanted / workers) * workers


def _seconds(
    workload: Workload, costs: Costs, trials: int, workers: int, calls_per_minute: float | None
) -> tuple[float, str]:
    """Add up what a worker's jobs take, and name what bounds them."""
    limits = rates(workload, costs, workers, calls_per_minute)
    bottleneck = min(limits, key=lambda name: limits[name])
    n_jobs = jobs_of(trials, workers)
    shard = trials / n_jobs
    before, after = job_seconds(costs, min(trials, PLAN_TRIALS), int(shard))
    running = trials / limits[bottleneck]
    # Each shard ends with a tail of its own, in which the other slots of its worker have nothing to do.
    tails = n_jobs / workers * tail_s(workload, workload.concurrency) / 2
    each = n_jobs / workers * (before + after)
    last = tail_s(workload, workload.concurrency * workers) / 2 + unevenness_s(workload, trials, workers)
    whole = (running + tails + each) * _failing(workload) + last
    longest = before + tail_s(workload, trials) + after
    if longest > whole:
        return longest, "the longest trial"
    return whole, "the start and end of shards" if each > running else bottleneck


def _failing(workload: Workload) -> float:
    """Give by how much failures lengthen a run: half a trial in each slot is lost, then the restart."""
    return 1 / (1 - (RESTART_S + workload.mean_s / 2) / MTBF_S)


def simulated_seconds(workload: Workload, costs: Costs, trials: int, workers: int, *, seed: int = 0) -> float:
    """Simulate the same, trial by trial."""
    n_jobs = jobs_of(trials, workers)
    durations = workload.draw(trials, np.random.default_rng(seed))
    before, after = job_seconds(costs, min(trials, PLAN_TRIALS), trials // n_jobs)
    fleet = Fleet(
        workers=workers,
        concurrency=workload.concurrency,
        overhead_s=overhead_s(workload, costs),
        start_s=before,
        end_s=after,
        mtbf_s=MTBF_S,
        restart_s=RESTART_S,
    )
    return simulate(np.array_split(durations, n_jobs), fleet, seed=seed).seconds
