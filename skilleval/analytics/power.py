"""How many tasks, or repeats, are enough: for an interval of a given width, or to see a change of a given size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from skilleval.errors import Problem, UsageError

USUAL_REPEATS = (1, 2, 3, 5, 10)

MAX_REPEATS = 10_000
"""Beyond it more repeats of a task bring nothing that matters."""

_EXACT_TASKS = 1000.0  # above it the t based number exceeds the z based one by z²/2 to four digits
_FEWEST = 2.0  # one task shows no spread
_PROMISE = 1e-9  # a number of tasks that is whole but for rounding is not rounded up


@dataclass(frozen=True, slots=True, kw_only=True)
class Variances:
    """The variance of a measure between tasks (ω²) and between repeats of one task (σ²).

    With `is_single` only their sum is known, as `between_tasks`: what more repeats would bring cannot be said.
    """

    between_tasks: float
    between_repeats: float
    is_single: bool = False

    def of_mean(self, repeats: int) -> float:
        """Give the variance of the mean of one task's repeats."""
        return self.between_tasks + self.between_repeats / repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is asked for: an interval of ± `size`, or to see a change of `size` with a chance of `power`."""

    size: float
    level: float
    power: float | None = None

    def __post_init__(self) -> None:
        power = 0.5 if self.power is None else self.power
        size = "--margin" if self.power is None else "--difference"
        rules = (
            (self.size > 0 and math.isfinite(self.size), size, "a number above 0", self.size),
            (0 < self.level < 1, "--level", "a number between 0 and 1, both excluded", self.level),
            (0 < power < 1, "--power", "a number between 0 and 1, both excluded", power),
        )
        wrong = tuple(
            Problem(where=option, expected=expected, found=f"{found:g}")
            for usable, option, expected, found in rules
            if not usable
        )
        if wrong:
            raise UsageError("this cannot be planned for", problems=wrong)


def from_rate(rate: float, icc: float) -> Variances:
    """Give the variances of verdicts with this rate of passing and this correlation within tasks.

    Raises:
        UsageError: such verdicts would not vary.

    Source: the variance of a verdict is p(1 - p), and the ICC is the part of it that lies between tasks.
    """
    if not 0 < rate < 1:
        expected = (
            "a rate above 0 and below 1: at its ends no verdict varies, and any number of tasks would do"
        )
        problem = Problem(where="--rate", expected=expected, found=f"{rate:g}")
        raise UsageError("this cannot be planned for", problems=(problem,))
    total = rate * (1 - rate)
    return Variances(between_tasks=icc * total, between_repeats=(1 - icc) * total)


def of_difference(one: Variances, correlation: float) -> Variances:
    """Give the variances of paired differences of two conditions that are both like this one.

    Source: Miller 2024, arXiv 2411.00640, 5; `correlation` is that of the tasks' own rates in both.
    """
    return Variances(
        between_tasks=2 * (1 - correlation) * one.between_tasks,
        between_repeats=2 * one.between_repeats,
        is_single=one.is_single,
    )


def tasks_needed(variance: float, goal: Goal) -> float:
    """Give the number of tasks, by the normal distribution, before it is rounded up.

    Source: n = (z(level) + z(power))² · variance / size², Miller 2024, 5; without a power only z(level) counts.
    """
    normal = NormalDist()
    z = normal.inv_cdf((1 + goal.level) / 2) + (normal.inv_cdf(goal.power) if goal.power is not None else 0.0)
    return z * z * variance / goal.size**2


def tasks_needed_t(variance: float, goal: Goal) -> float:
    """Give the number of tasks by Student's t (the non-central one for a change), before it is rounded up."""
    from scipy.optimize import brentq

    by_z = tasks_needed(variance, goal)
    z = NormalDist().inv_cdf((1 + goal.level) / 2)
    if by_z > _EXACT_TASKS:
        # Of an interval z² grows to t² = z² + (z⁴ + z²) / 2n, of a test likewise; the first term is what is left.
        return by_z + ((z * z + 1) / 2 if goal.power is None else z * z / 2)
    if _lacking(_FEWEST, variance, goal) <= 0:
        return _FEWEST
    return float(brentq(_lacking, _FEWEST, by_z + 100 * z * z + 100, args=(variance, goal)))


def _lacking(tasks: float, variance: float, goal: Goal) -> float:
    """Say how far so many tasks are from the goal: above 0 there are too few."""
    from scipy.special import nctdtr, stdtrit

    quantile = float(stdtrit(tasks - 1, (1 + goal.level) / 2))
    if goal.power is None:
        return quantile * math.sqrt(variance / tasks) - goal.size
    if variance <= 0:
        return goal.power - 1
    shift = goal.size / math.sqrt(variance / tasks)
    missed = float(nctdtr(tasks - 1, shift, quantile))
    if math.isnan(missed):  # so far from the quantile that the function gives up
        missed = float(shift < quantile)
    return goal.power - (1 - missed)


def size_reached(variance: float, tasks: int, *, level: float, power: float | None) -> float | None:
    """Give ± of the interval, or the smallest change that is seen with this power, of so many tasks; null below two.

    Source: MDE = (z(level) + z(power)) · sd / √n; the interval is t(level) · sd / √n with n - 1 degrees of freedom.
    """
    from scipy.special import stdtrit

    if tasks < _FEWEST:
        return None
    normal = NormalDist()
    if power is None:
        factor = float(stdtrit(tasks - 1, (1 + level) / 2))
    else:
        factor = normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)
    return factor * math.sqrt(variance / tasks)


def repeats_needed(variances: Variances, tasks: int, goal: Goal) -> int | None:
    """Give the repeats a task that reach the goal with so many tasks; null where no number of repeats does."""
    if variances.is_single or whole(tasks_needed_t(variances.of_mean(MAX_REPEATS), goal)) > tasks:
        return None
    few, many = 0, MAX_REPEATS
    while many - few > 1:
        middle = (few + many) // 2
        enough = whole(tasks_needed_t(variances.of_mean(middle), goal)) <= tasks
        few, many = (few, middle) if enough else (middle, many)
    return many


def whole(tasks: float) -> int:
    """Round a number of tasks up; two at least."""
    return math.ceil(max(tasks - _PROMISE, _FEWEST))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one number of repeats a task asks for; null where the variance is not known."""

    repeats: int
    variance: float | None
    tasks_z: float | None
    tasks: int | None
    trials: int | None
    reached: float | None


def plans(
    variances: Variances, goal: Goal, *, repeats: tuple[int, ...], tasks: int | None
) -> tuple[Plan, ...]:
    """Give the tasks that are needed for each number of repeats, and what the tasks at hand reach (z or t as named)."""
    return tuple(_plan(variances, goal, one, tasks) for one in repeats)


def _plan(variances: Variances, goal: Goal, repeats: int, tasks: int | None) -> Plan:
    if variances.is_single and repeats > 1:
        return Plan(repeats=repeats, variance=None, tasks_z=None, tasks=None, trials=None, reached=None)
    variance = variances.of_mean(repeats)
    n = whole(tasks_needed_t(variance, goal))
    return Plan(
        repeats=repeats,
        variance=variance,
        tasks_z=tasks_needed(variance, goal),
        tasks=n,
        trials=n * repeats,
        reached=None if tasks is None else size_reached(variance, tasks, level=goal.level, power=goal.power),
    )
