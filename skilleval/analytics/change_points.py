"""When did a skill change? Runs in their order, each a row of task means: where the level of the tasks moved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DRAWS = 1_999
"""Shuffles behind each p: the smallest p that can be told is 1 / 2,000."""

_CELLS = 2_000_000  # of one block of shuffles
_SAME = 1e-9
_MIN_TASKS = 2
_MIN_RUNS = 2

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """A run from which on the level is another one.

    `at` is its index; `start` and `stop` bound the runs that were compared (stop excluded); `before` and `after` are
    the means over the `n_tasks` tasks that all of them know.
    """

    at: int
    start: int
    stop: int
    before: float
    after: float
    n_tasks: int
    p_value: float

    @property
    def difference(self) -> float:
        """After less before."""
        return self.after - self.before


def change_points(means: Floats, *, alpha: float, seed: int) -> tuple[ChangePoint, ...]:
    """Find the runs at which the means of the tasks moved; `means` is runs × tasks, NaN where one is not known.

    Binary segmentation: the cut with the largest CUSUM statistic is kept if its p is at most `alpha`, then each side
    is looked at for itself. Without a change the means of a task could stand in any order, so the p shuffles the runs
    within each task: (b + 1) / (m + 1) of m seeded shuffles, whose largest statistic over all cuts counts. Thus an
    unchanged history is said to have changed with a chance of `alpha`, however many runs it has.

    Source: Scott and Knott 1974 (segmentation); Page 1954 (CUSUM); Phipson and Smyth 2010 (p).
    """
    rng = np.random.default_rng(seed)
    found = _segment(np.asarray(means, dtype=np.float64), 0, alpha, rng)
    return tuple(sorted(found, key=lambda point: point.at))


def _segment(means: Floats, start: int, alpha: float, rng: np.random.Generator) -> Iterator[ChangePoint]:
    point = _strongest(means, start, rng)
    if point is None or point.p_value > alpha:
        return
    yield point
    cut = point.at - start
    yield from _segment(means[:cut], start, alpha, rng)
    yield from _segment(means[cut:], point.at, alpha, rng)


def _strongest(means: Floats, start: int, rng: np.random.Generator) -> ChangePoint | None:
    """Give the strongest cut of some runs with its p; null where nothing moves, or too little is known."""
    known = means[:, ~np.isnan(means).any(axis=0)]
    n_runs, n_tasks = known.shape
    if n_runs < _MIN_RUNS or n_tasks < _MIN_TASKS:
        return None
    levels = known.mean(axis=1)
    statistics = _cusum(levels[np.newaxis, :])[0]
    if statistics.max() <= _SAME:
        return None
    cut = int(statistics.argmax()) + 1
    return ChangePoint(
        at=start + cut,
        start=start,
        stop=start + n_runs,
        before=float(levels[:cut].mean()),
        after=float(levels[cut:].mean()),
        n_tasks=n_tasks,
        p_value=_p(known, float(statistics.max()), rng),
    )


def _cusum(levels: Floats) -> Floats:
    """Give of each row the distance of the means before and after each cut, in units of its own noise."""
    n = levels.shape[1]
    before = np.arange(1, n)
    sums = levels.cumsum(axis=1)
    total = sums[:, -1:]
    gap = (total - sums[:, :-1]) / (n - before) - sums[:, :-1] / before
    return np.asarray(np.abs(gap) * np.sqrt(before * (n - before) / n), dtype=np.float64)


def _p(known: Floats, observed: float, rng: np.random.Generator) -> float:
    """Shuffle the runs within each task, block by block; tasks that never moved stay as they are."""
    moving = known[:, np.ptp(known, axis=0) > _SAME]
    n_runs, n_moving = moving.shape
    share = n_moving / known.shape[1]  # what does not move dilutes the gap, and adds nothing to it
    block = max(_CELLS // moving.size, 1)
    extremes = 0
    for begin in range(0, DRAWS, block):
        size = min(block, DRAWS - begin)
        shuffled = rng.permuted(np.broadcast_to(moving, (size, n_runs, n_moving)), axis=1)
        statistics = _cusum(shuffled.mean(axis=2) * share)
        extremes += int((statistics.max(axis=1) >= observed - _SAME).sum())
    return (extremes + 1) / (DRAWS + 1)
