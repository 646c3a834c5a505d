"""A discrete-event simulation of one evaluation on many workers. Seconds are simulated; nothing sleeps.

A worker takes one job (a shard) after another. Each job starts, runs its trials in so many slots, and ends with tables
and report. The evaluating process has one core: what it does for a trial is served one trial after another, whatever
the number of slots. A provider's limit holds for all workers together. A worker that fails loses the trials that were
running, nothing else: finished ones stand in its journal.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Durations = NDArray[np.float64]
_SLOT, _FAILURE, _END = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The workers and what holds them up.

    `overhead_s` is the time of the evaluating process for one trial, `calls_per_s` how many trials a second the
    provider lets begin. `slowness` multiplies the durations on each worker (1.0 where it says nothing). A worker fails
    every `mtbf_s` seconds on average and is back after `restart_s`.
    """

    workers: int
    concurrency: int = 1
    overhead_s: float = 0.0
    calls_per_s: float | None = None
    start_s: float = 0.0
    end_s: float = 0.0
    slowness: Sequence[float] = ()
    mtbf_s: float | None = None
    restart_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """How it went: when the last worker ended and each of them, and what was lost by failures."""

    seconds: float
    ends: tuple[float, ...]
    n_failures: int
    lost_s: float
    own_s: float
    """Seconds that all evaluating processes together were busy with trials."""


@dataclass(slots=True)
class _Worker:
    slowness: float
    left: list[float] = field(default_factory=list)
    running: dict[int, tuple[float, float]] = field(default_factory=dict)
    free_at: float = 0.0  # when its core has nothing more to do
    n_idle: int = 0
    epoch: int = 0  # what was planned before a failure does not happen
    is_over: bool = False
    ended_at: float = 0.0


class Simulation:
    """One run of the simulation over jobs, each a list of the durations of its trials."""

    def __init__(self, jobs: Sequence[Durations | Sequence[float]], fleet: Fleet, *, seed: int = 0) -> None:
        slowness = [*fleet.slowness, *[1.0] * (fleet.workers - len(fleet.slowness))]
        self._fleet = fleet
        self._jobs = [np.asarray(job, dtype=float)[::-1].tolist() for job in reversed(jobs)]
        self._workers = [_Worker(slowness=one) for one in slowness]
        self._rng = np.random.default_rng(seed)
        self._events: list[tuple[float, int, int, int, int]] = []
        self._granted_at = 0.0
        self._n_failures, self._lost_s, self._n_begun = 0, 0.0, 0

    def run(self) -> Simulated:
        """Let time pass until every worker is through."""
        for number in range(len(self._workers)):
            self._take_job(number, 0.0)
            self._plan_failure(number, 0.0)
        while self._events:
            now, kind, number, epoch, slot = heapq.heappop(self._events)
            worker = self._workers[number]
            if kind == _FAILURE:
                self._fail(number, worker, now)
            elif epoch == worker.epoch:
                if kind == _END:
                    self._take_job(number, now)
                else:
                    self._next_trial(number, worker, now, slot)
        ends = tuple(worker.ended_at for worker in self._workers)
        return Simulated(
            seconds=max(ends),
            ends=ends,
            n_failures=self._n_failures,
            lost_s=self._lost_s,
            own_s=self._n_begun * self._fleet.overhead_s,
        )

    def _take_job(self, number: int, now: float) -> None:
        worker = self._workers[number]
        if not self._jobs:
            worker.is_over, worker.ended_at = True, now
            return
        worker.left = self._jobs.pop()
        self._open(number, worker, now + self._fleet.start_s)

    def _open(self, number: int, worker: _Worker, at: float) -> None:
        """Open the slots of a worker; more of them than trials would do nothing."""
        worker.free_at, worker.n_idle = at, 0
        worker.running.clear()
        for slot in range(self._fleet.concurrency):
            heapq.heappush(self._events, (at, _SLOT, number, worker.epoch, slot))

    def _next_trial(self, number: int, worker: _Worker, now: float, slot: int) -> None:
        fleet = self._fleet
        worker.running.pop(slot, None)
        if not worker.left:
            worker.n_idle += 1
            if worker.n_idle == fleet.concurrency:
                heapq.heappush(self._events, (now + fleet.end_s, _END, number, worker.epoch, 0))
            return
        duration = worker.left.pop()
        begun = max(self._granted(now), worker.free_at)
        worker.free_at = begun + fleet.overhead_s
        worker.running[slot] = (begun, duration)
        self._n_begun += 1
        ended = worker.free_at + duration * worker.slowness
        heapq.heappush(self._events, (ended, _SLOT, number, worker.epoch, slot))

    def _granted(self, now: float) -> float:
        """Give when the provider lets the next trial begin."""
        if self._fleet.calls_per_s is None:
            return now
        at = max(now, self._granted_at)
        self._granted_at = at + 1 / self._fleet.calls_per_s
        return at

    def _plan_failure(self, number: int, now: float) -> None:
        if self._fleet.mtbf_s is not None and not self._workers[number].is_over:
            at = now + float(self._rng.exponential(self._fleet.mtbf_s))
            heapq.heappush(self._events, (at, _FAILURE, number, 0, 0))

    def _fail(self, number: int, worker: _Worker, now: float) -> None:
        if worker.is_over:
            return
        self._n_failures += 1
        for begun, duration in worker.running.values():
            self._lost_s += max(0.0, now - begun)
            worker.left.append(duration)
        worker.epoch += 1
        self._open(number, worker, now + self._fleet.restart_s)
        self._plan_failure(number, now + self._fleet.restart_s)


def simulate(jobs: Sequence[Durations | Sequence[float]], fleet: Fleet, *, seed: int = 0) -> Simulated:
    """Simulate jobs on a fleet; the same seed gives the same failures."""
    return Simulation(jobs, fleet, seed=seed).run()


def one_by_one(durations: Durations | Sequence[float]) -> list[list[float]]:
    """Make each trial a job of its own: a list that the next free worker takes from.

    Source: Graham 1966, bounds for certain multiprocessing anomalies.
    """
    return [[float(one)] for one in durations]


def graham_bound(durations: Durations | Sequence[float], workers: int) -> float:
    """Give what no list schedule exceeds: the work of one worker, and the longest trial but for its share of that.

    Source: Graham 1966.
    """
    values = np.asarray(durations, dtype=float)
    return float(values.sum() / workers + values.max() * (1 - 1 / workers))
