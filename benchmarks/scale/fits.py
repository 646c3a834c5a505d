"""Means and straight lines with 95 % intervals: what each measured cost is told as."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A measured cost with its interval; `n` samples stand behind it. Unknown bounds are null."""

    value: float
    low: float | None
    high: float | None
    n: int

    def __mul__(self, factor: float) -> Estimate:
        """Give the same cost in another unit."""
        low, high = (None if bound is None else bound * factor for bound in (self.low, self.high))
        return Estimate(value=self.value * factor, low=low, high=high, n=self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A cost that grows with a size: what it takes at all, and what each further one takes."""

    fixed: Estimate
    each: Estimate

    def at(self, size: float) -> float:
        """Give the cost of a size; less than nothing is nothing."""
        return max(0.0, self.fixed.value + self.each.value * size)


def mean_of(samples: Sequence[float]) -> Estimate:
    """Give a mean with its t-interval; of one sample no interval is known."""
    values = np.asarray(samples, dtype=float)
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return Estimate(value=mean, low=None, high=None, n=n)
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1) * stats.sem(values))
    return Estimate(value=mean, low=mean - half, high=mean + half, n=n)


def line_of(sizes: Sequence[float], costs: Sequence[float]) -> Line:
    """Fit a line by least squares; with fewer than three points no interval is known."""
    fit = stats.linregress(sizes, costs)
    n = len(sizes)
    t = float(stats.t.ppf((1 + LEVEL) / 2, n - 2)) if n > 2 else None
    return Line(
        fixed=_estimate(fit.intercept, fit.intercept_stderr, t, n),
        each=_estimate(fit.slope, fit.stderr, t, n),
    )


def _estimate(value: float, error: float, t: float | None, n: int) -> Estimate:
    if t is None:
        return Estimate(value=float(value), low=None, high=None, n=n)
    if math.isnan(error):  # costs that are all the same lie on their line
        error = 0.0
    return Estimate(value=float(value), low=float(value - t * error), high=float(value + t * error), n=n)
