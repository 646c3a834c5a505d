"""Orders of skills: how alike two of them are, and how far one can be trusted."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAME = 1e-9
_LEAST = 2
_BLOCK = 4_000_000  # comparisons of rates that are held at once


def kendall_tau_b(x: np.ndarray, y: np.ndarray) -> float | None:
    """Give tau-b of two rankings of the same things; null where one of them ties everything.

    Source: Kendall 1945.
    """
    upper = np.triu_indices(len(x), k=1)
    first, second = (_order(values)[upper] for values in (x, y))
    scale = np.sqrt(float((first**2).sum()) * float((second**2).sum()))
    return float((first * second).sum() / scale) if scale else None


def _order(values: np.ndarray) -> np.ndarray:
    """Say of every two values which is larger, as 1, 0 or -1; a hair of difference is a tie."""
    apart = values[:, None] - values[None, :]
    signs: np.ndarray = np.where(np.abs(apart) <= _SAME, 0.0, np.sign(apart))
    return signs


def ranking_agreement(rates: pl.DataFrame) -> pl.DataFrame:
    """Say of every two scorers whether they put the same things in the same order.

    `rates` is one row a condition × scorer with `condition_id`, `scorer` and `completion_rate`.

    Grain: one row a pair of scorers, sorted.
    Columns: `rater_a`, `rater_b`, `n_conditions` (with a rate by both), `kendall_tau`, `tau_reason` (why it is null),
        `first_a`, `first_b` (condition ids that come first by each, several where they tie).
    """
    schema = {
        "rater_a": pl.String(),
        "rater_b": pl.String(),
        "n_conditions": pl.Int64(),
        "kendall_tau": pl.Float64(),
        "tau_reason": pl.String(),
        "first_a": pl.List(pl.String()),
        "first_b": pl.List(pl.String()),
    }
    return pl.DataFrame(list(_rankings(rates)), schema=schema)


def _rankings(rates: pl.DataFrame) -> Iterator[dict[str, Any]]:
    known = rates.filter(pl.col("completion_rate").is_not_null() & pl.col("scorer").is_not_null())
    for a, b in combinations(sorted(known["scorer"].unique()), 2):
        sides = (known.filter(pl.col("scorer") == name).drop("scorer") for name in (a, b))
        both = next(sides).join(next(sides), on="condition_id", suffix="_b").sort("condition_id")
        names = both["condition_id"].to_numpy()
        x, y = (both[name].to_numpy() for name in ("completion_rate", "completion_rate_b"))
        tau = kendall_tau_b(x, y)
        yield {
            "rater_a": a,
            "rater_b": b,
            "n_conditions": len(names),
            "kendall_tau": tau,
            "tau_reason": None if tau is not None else _no_tau(len(names)),
            "first_a": _first(names, x),
            "first_b": _first(names, y),
        }


def _no_tau(n: int) -> str:
    return "fewer than two skills have a rate by both" if n < _LEAST else "one of them puts all skills level"


def _first(names: np.ndarray, rates: np.ndarray) -> list[str]:
    return [str(name) for name in names[rates >= rates.max() - _SAME]] if len(rates) else []


def rank_distribution(tasks: pl.DataFrame, *, level: float, seed: int, resamples: int) -> pl.DataFrame:
    """Say how sure the order by completion rate is, by drawing the tasks again and again.

    Every draw takes the same tasks for all, because they were asked the same. Only tasks that all have verdicts on
    count. Who ties for the first place in a draw shares it.

    `tasks` is one row a candidate × task with `candidate`, `task_id`, `n_graded`, `n_passed`.

    Grain: one row a candidate, sorted.
    Columns: `candidate`, `n_shared_tasks`, `p_best` (chance to come first), `mean_rank` (ties have the mean of their
        ranks), `rank_low`, `rank_high`, `behind_low`, `behind_high` (completion rate less that of the best one, between
        quantiles), `is_level` (nothing says that it is worse than the best one). All null below two shared tasks or
        two candidates.
    Source: percentile bootstrap over tasks, Efron 1979; paired.
    """
    names = sorted(tasks["candidate"].unique())
    passed, graded = _shared(tasks, names)
    n_tasks = passed.shape[1]
    base: list[dict[str, Any]] = [{"candidate": name, "n_shared_tasks": n_tasks} for name in names]
    schema = {"candidate": tasks.schema["candidate"], "n_shared_tasks": pl.Int64(), **_DISTRIBUTION}
    if n_tasks < _LEAST or len(names) < _LEAST:
        return pl.DataFrame(base, schema=schema)
    rates = _drawn_rates(passed, graded, seed, resamples)
    best = int(np.argmax(passed.sum(axis=1) / graded.sum(axis=1)))
    found = _placed(rates, best, level)
    return pl.DataFrame(
        [row | {name: values[at] for name, values in found.items()} for at, row in enumerate(base)],
        schema=schema,
    )


_DISTRIBUTION = {
    **dict.fromkeys(
        ("p_best", "mean_rank", "rank_low", "rank_high", "behind_low", "behind_high"), pl.Float64()
    ),
    "is_level": pl.Boolean(),
}


def _shared(tasks: pl.DataFrame, names: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Give candidates × shared tasks, passed and graded."""
    graded = tasks.filter(pl.col("n_graded") > 0).sort("task_id", "candidate")
    shared = graded.filter(pl.col("candidate").n_unique().over("task_id") == len(names))
    shape = (shared.height // max(len(names), 1), len(names))
    passed, known = (shared[name].to_numpy().astype(np.float64) for name in ("n_passed", "n_graded"))
    return passed.reshape(shape).T, known.reshape(shape).T


def _drawn_rates(passed: np.ndarray, graded: np.ndarray, seed: int, resamples: int) -> np.ndarray:
    """Give draws × candidates."""
    n = passed.shape[1]
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples)
    rates: np.ndarray = (weights @ passed.T) / (weights @ graded.T)
    return rates


def _placed(rates: np.ndarray, best: int, level: float) -> dict[str, list[Any]]:
    ends = [(1 - level) / 2, (1 + level) / 2]
    ranks = _ranks(rates)
    first = rates >= rates.max(axis=1, keepdims=True) - _SAME
    shares = first / first.sum(axis=1, keepdims=True)
    # Ranks are whole or half: an interpolated quantile of them would be a place that nobody had.
    low, high = np.quantile(ranks, ends, axis=0, method="inverted_cdf")
    behind_low, behind_high = np.quantile(rates - rates[:, [best]], ends, axis=0)
    return {
        "p_best": shares.mean(axis=0).tolist(),
        "mean_rank": ranks.mean(axis=0).tolist(),
        "rank_low": low.tolist(),
        "rank_high": high.tolist(),
        "behind_low": behind_low.tolist(),
        "behind_high": behind_high.tolist(),
        "is_level": (behind_high >= -_SAME).tolist(),
    }


def _ranks(rates: np.ndarray) -> np.ndarray:
    """Rank every draw from the highest rate down; ties have the mean of their ranks."""
    n = rates.shape[1]
    block = max(_BLOCK // (n * n), 1)
    parts = []
    for start in range(0, len(rates), block):
        apart = rates[start : start + block, None, :] - rates[start : start + block, :, None]
        above = (apart > _SAME).sum(axis=2)
        level_with = (np.abs(apart) <= _SAME).sum(axis=2)
        parts.append(above + (level_with + 1) / 2)
    return np.concatenate(parts)
