"""What skills can be chosen by: the metrics of a summary, each with its better direction and its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from skilleval.errors import ConfigError, Problem
from skilleval.strict import nearest


class Unit(StrEnum):
    """How values of a criterion compare: shares by difference, amounts (ms, USD, tokens, counts) by ratio."""

    SHARE = "share"
    AMOUNT = "amount"


_HIGH_SHARES = (
    "completion_rate",
    "completion_rate_macro",
    "completion_low",
    "completion_high",
    "partial_score",
    "pass_at_k",
    "pass_hat_k",
    "repeat_rate_mean",
    "consistency",
    "speed",
    "reliability",
    "composite",
)
_LOW_SHARES = (
    "error_rate",
    "infrastructure_rate",
    "flip_rate",
    "latency_term",
    "repeat_rate_sd_ddof0",
    "repeat_rate_sd_ddof1",
)
_LOW_AMOUNTS = (
    *(
        "p10_ms",
        "p25_ms",
        "p50_ms",
        "p75_ms",
        "p90_ms",
        "p95_ms",
        "p99_ms",
        "min_ms",
        "max_ms",
        "spawn_p50_ms",
    ),
    *("n_flaky_tasks", "usd_per_trial", "tokens_per_trial"),
)
_DERIVED = {
    # What a call costs, whoever paid for it; per trial, because runs differ in length.
    "usd_per_trial": (pl.col("cost_usd") + pl.col("reused_cost_usd").fill_null(0.0)) / pl.col("n_cost"),
    "tokens_per_trial": pl.col("total_tokens") / pl.col("n_usage"),
}
_BOUNDS = {"completion_rate": {"low": "ci_low", "high": "ci_high"}}

COLUMNS = (*_HIGH_SHARES, *_LOW_SHARES, *(name for name in _LOW_AMOUNTS if name not in _DERIVED))
"""The columns of a summary row that criteria read as they are, beside the bounds of completion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One figure to choose by, as a strategy names it: a metric, or with `.low` or `.high` a bound of its interval."""

    name: str
    column: str
    best_is_low: bool
    unit: Unit

    @property
    def value(self) -> pl.Expr:
        """The figure of a row of candidates; null where it is not known."""
        return _DERIVED.get(self.column, pl.col(self.column)).cast(pl.Float64).fill_nan(None)


def criterion(name: str, *, where: str, key: str) -> Criterion:
    """Give the criterion of a name such as `p95_ms` or `completion_rate.low`.

    Raises:
        ConfigError: there is none; says which there are.
    """
    metric, _, bound = name.partition(".")
    known = [*_HIGH_SHARES, *_LOW_SHARES, *_LOW_AMOUNTS]
    if metric not in known:
        hint = nearest(metric, known) or f"it is one of {', '.join(known)}"
        raise _wrong(where, key, "a metric of the summary that has a better direction", name, hint)
    if bound and bound not in _BOUNDS.get(metric, {}):
        having = ", ".join(f"{one}.low, {one}.high" for one in _BOUNDS)
        raise _wrong(where, key, f"a metric, or one of {having}", name, f"{metric} has no such bound here")
    return Criterion(
        name=name,
        column=_BOUNDS[metric][bound] if bound else metric,
        best_is_low=metric not in _HIGH_SHARES,
        unit=Unit.AMOUNT if metric in _LOW_AMOUNTS else Unit.SHARE,
    )


def _wrong(where: str, key: str, expected: str, found: str, hint: str) -> ConfigError:
    problem = Problem(where=where, key=key, expected=expected, found=found, hint=hint)
    return ConfigError("there is nothing of this name to choose by", problems=(problem,))
