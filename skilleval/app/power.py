"""Planning how much to measure: the variances of a stored run, or given ones, and what a goal asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.analytics.power import (
    USUAL_REPEATS,
    Goal,
    Plan,
    Variances,
    from_rate,
    of_difference,
    plans,
    repeats_needed,
)
from skilleval.analytics.variance import variance_split
from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.results.find import find_run
from skilleval.results.schema import SCORES, TRIALS
from skilleval.results.store import compact, is_live, scan_table

_FLAT = 1e-12
_NO_SPREAD = "every trial came out the same, so that no variance is seen: give --rate and --icc"
_ONE_TASK = "fewer than two tasks have a value: give --rate and --icc"
_SINGLE = (
    "with one repeat a task the variance between repeats is not known: give --icc, or run with more repeats"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Whose variances these are, and what a goal asks of it; `reason` says why there are none."""

    about: Mapping[str, Any]
    n_tasks: int | None = None
    variances: Variances | None = None
    plans: tuple[Plan, ...] = ()
    repeats_needed: int | None = None
    reason: str = ""

    def facts(self) -> dict[str, Any]:
        """Give it as JSON."""
        variances = None if self.variances is None else asdict(self.variances)
        return {
            **self.about,
            "n_tasks": self.n_tasks,
            "variances": variances,
            "plans": [asdict(plan) for plan in self.plans],
            "repeats_needed": self.repeats_needed,
            "reason": self.reason or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The goal, and how it is to be reached: numbers of repeats, tasks at hand, correlation of the two conditions."""

    goal: Goal
    repeats: tuple[int, ...] = USUAL_REPEATS
    tasks: int | None = None
    correlation: float = 0.5
    icc: float | None = None


def given_power(variances: Variances, wish: Wish, about: Mapping[str, Any]) -> Source:
    """Plan with variances that somebody knows."""
    return _planned(about, variances, wish.tasks, wish)


def variances_of(
    *, omega2: float | None, sigma2: float | None, rate: float | None, icc: float | None
) -> Variances | None:
    """Take variances from the command line; null where none are given.

    Raises:
        UsageError: only half of them is given, both kinds are, or nothing varies.
    """
    by_variance, by_rate = (omega2, sigma2), (rate, icc)
    if omega2 is not None and sigma2 is not None and rate is None and icc is None:
        _check_variances(omega2, sigma2)
        return Variances(between_tasks=omega2, between_repeats=sigma2)
    if rate is not None and icc is not None and omega2 is None and sigma2 is None:
        return from_rate(rate, icc)
    # A correlation alone completes a run that has one repeat a task.
    if by_variance == (None, None) and rate is None:
        return None
    names = ("--omega2", "--sigma2", "--rate", "--icc")
    found = [name for name, value in zip(names, (*by_variance, *by_rate), strict=True) if value is not None]
    problem = Problem(
        where="power", expected="--omega2 with --sigma2, or --rate with --icc", found=" and ".join(found)
    )
    raise UsageError("the variances are not told completely", problems=(problem,))


def _check_variances(omega2: float, sigma2: float) -> None:
    given = {"--omega2": omega2, "--sigma2": sigma2}
    wrong = [(name, f"{value:g}") for name, value in given.items() if not math.isfinite(value)]
    if omega2 == sigma2 == 0:
        wrong = [("--omega2 and --sigma2", "0 and 0: any number of tasks would do")]
    problems = tuple(
        Problem(where=name, expected="a finite variance above 0", found=found) for name, found in wrong
    )
    if problems:
        raise UsageError("this cannot be planned for", problems=problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which rows of a run are planned for: a measure, and one skill or scorer or all."""

    measure: str
    skill: str | None = None
    scorer: str | None = None


def run_power(reference: str, store: Path, wish: Wish, question: Question) -> tuple[Source, ...]:
    """Plan with the variances of each condition of a stored run (folder, id, `latest`).

    Raises:
        SkillevalError: there is no such run, or no such skill or scorer in it.
    """
    folder = find_run(reference, store)
    compact(folder)
    if is_live(folder):
        msg = f"{folder} is still being written"
        raise ResultsError(msg, hint="wait for the run, or stop it with Ctrl-C")
    try:
        split = variance_split(scan_table(folder, TRIALS), scan_table(folder, SCORES)).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        msg = f"the tables of {folder} cannot be read: {str(error).splitlines()[0]}"
        raise ResultsError(msg) from None
    rows = split.filter(pl.col("measure") == question.measure)
    for key, wanted in (("skill_id", question.skill), ("scorer", question.scorer)):
        rows = _only(rows, key, wanted, folder)
    return tuple(_of_row(row, wish) for row in rows.iter_rows(named=True))


def _only(rows: pl.DataFrame, key: str, wanted: str | None, folder: Path) -> pl.DataFrame:
    if wanted is None:
        return rows
    kept = rows.filter(pl.col(key) == wanted)
    if kept.is_empty():
        there = ", ".join(sorted(rows[key].drop_nulls().unique())) or "none with a value"
        problem = Problem(where=str(folder), key=key, expected=f"one of {there}", found=wanted)
        raise UsageError("the run has no such rows", problems=(problem,))
    return kept


def _of_row(row: Mapping[str, Any], wish: Wish) -> Source:
    keys = ("skill_id", "skill_version", "model", "mode", "scorer", "benchmark_id", "measure", "mean", "icc")
    about = {key: row[key] for key in keys} | {"repeats": row["repeats"], "n_trials": row["n_trials"]}
    total = row["total_variance"]
    if total is None or total <= _FLAT:
        reason = _ONE_TASK if total is None else _NO_SPREAD
        return Source(about=about, n_tasks=row["n_tasks"], reason=reason)
    return _planned(about, _known(row, wish.icc), wish.tasks or row["n_tasks"], wish)


def _known(row: Mapping[str, Any], icc: float | None) -> Variances:
    """Give the run's variances; of single repeats the total, parted by a correlation if one is given."""
    if row["repeat_variance"] is not None:
        return Variances(between_tasks=row["task_variance"], between_repeats=row["repeat_variance"])
    total = row["total_variance"]
    if icc is None:
        return Variances(between_tasks=total, between_repeats=0.0, is_single=True)
    return Variances(between_tasks=icc * total, between_repeats=(1 - icc) * total)


def _planned(about: Mapping[str, Any], variances: Variances, tasks: int | None, wish: Wish) -> Source:
    is_change = wish.goal.power is not None
    counted = of_difference(variances, wish.correlation) if is_change else variances
    return Source(
        about=about,
        n_tasks=tasks,
        variances=variances,
        plans=plans(counted, wish.goal, repeats=wish.repeats, tasks=tasks),
        repeats_needed=None if tasks is None else repeats_needed(counted, tasks, wish.goal),
        reason=_SINGLE if variances.is_single else "",
    )
