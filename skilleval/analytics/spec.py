"""What a reader may choose about the analysis; every value comes from `conf/`, none has a default here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum

from skilleval.errors import ConfigError, Problem

MAX_K = 1000
"""Nobody repeats a task that often, and the product behind pass@k has k factors."""

MIN_RESAMPLES, MAX_RESAMPLES = 100, 1_000_000


class Preset(StrEnum):
    """Whose formulas: ours, or those of the tool `eval-skills` with its rounding and conventions."""

    DEFAULT = "default"
    EVAL_SKILLS = "eval_skills"


class ScoringMethod(StrEnum):
    """How a benchmark turns the scores of its trials into one partial score."""

    MEAN = "mean"
    WEIGHTED_MEAN = "weighted_mean"
    PASS_AT_K = "pass_at_k"  # noqa: S105 - a rate of passing, not a password


class IntervalMethod(StrEnum):
    """How the interval of a rate is made; means take the bootstrap where it is chosen, else clustered t."""

    AGRESTI_COULL_T = "agresti_coull_t"
    CLUSTERED_T = "clustered_t"
    WILSON_NEFF = "wilson_neff"
    WILSON = "wilson"
    CLOPPER_PEARSON = "clopper_pearson"
    BOOTSTRAP = "bootstrap"
    BCA = "bca"

    @property
    def is_bootstrap(self) -> bool:
        """Say whether clusters are drawn anew."""
        return self in {IntervalMethod.BOOTSTRAP, IntervalMethod.BCA}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeWeights:
    """The weight of each part of the composite score; only their proportions matter."""

    completion: float
    partial: float
    speed: float
    reliability: float

    @property
    def total(self) -> float:
        """Sum of all weights."""
        return self.completion + self.partial + self.speed + self.reliability


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisSpec:
    """All settings of one analysis.

    `level` is the confidence level of intervals, `k` the number of tries of pass@k and pass^k, `max_latency_ms` the
    latency that earns no speed credit (null: speed is not known), `seed` drives the bootstrap. With `serial_latency`
    the latency of a trial is that of its further, undisturbed call; with `reused_latency` attempts of earlier runs have
    one too. `interval` is the method of intervals, with `resamples` where it draws; `family` says which tasks
    are sampled together: null (each for itself), `task_id` (the part of the id before its first `/`) or the prefix of a
    tag (`topic` for tags such as `topic:algebra`).

    Raises:
        ConfigError: one problem a number that no formula can use.
    """

    preset: Preset
    level: float
    k: int
    weights: CompositeWeights
    scoring_method: ScoringMethod
    max_latency_ms: float | None
    seed: int
    serial_latency: bool
    reused_latency: bool
    interval: IntervalMethod
    family: str | None
    resamples: int

    def __post_init__(self) -> None:
        problems = tuple(
            Problem(where="analysis", key=key, expected=expected, found=repr(found))
            for usable, key, expected, found in self._rules()
            if not usable
        )
        if problems:
            raise ConfigError("the analysis cannot be done with these settings", problems=problems)

    def _rules(self) -> list[tuple[bool, str, str, object]]:
        weights = asdict(self.weights)
        limit = self.max_latency_ms
        total = self.weights.total
        return [
            (self.preset in set(Preset), "preset", _one_of(Preset), self.preset),
            (
                self.scoring_method in set(ScoringMethod),
                "scoring_method",
                _one_of(ScoringMethod),
                self.scoring_method,
            ),
            (self.interval in set(IntervalMethod), "interval", _one_of(IntervalMethod), self.interval),
            (self.family != "", "family", "null, task_id or the prefix of a tag", self.family),
            (
                MIN_RESAMPLES <= self.resamples <= MAX_RESAMPLES,
                "resamples",
                f"a whole number from {MIN_RESAMPLES} to {MAX_RESAMPLES}",
                self.resamples,
            ),
            (0 < self.level < 1, "level", "a number between 0 and 1, both excluded", self.level),
            (1 <= self.k <= MAX_K, "k", f"a whole number from 1 to {MAX_K}", self.k),
            (
                limit is None or (math.isfinite(limit) and limit > 0),
                "max_latency_ms",
                "a finite number above 0",
                limit,
            ),
            *(
                (
                    math.isfinite(weight) and weight >= 0,
                    f"composite.{name}",
                    "a finite number, 0 or more",
                    weight,
                )
                for name, weight in weights.items()
            ),
            (_is_usable(total, weights.values()), "composite", "weights with a finite sum above 0", weights),
        ]


def _is_usable(total: float, weights: Iterable[float]) -> bool:
    """Judge the sum where the weights themselves are no problem already."""
    return not all(map(math.isfinite, weights)) or (math.isfinite(total) and total != 0)


def _one_of(kinds: type[StrEnum]) -> str:
    return f"one of {', '.join(kinds)}"
