"""The report of a sweep as pure data: what its writers read, and what `--json` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA = "skilleval.sweep_report/1"
PREFIX = "setting."
"""Stands before the names of settings that are columns: a setting may be called like a metric."""

Values = Mapping[str, Any]
Rows = tuple[Values, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAbout:
    """What was swept, by what, and when."""

    sweep_id: str
    experiment: str
    command: tuple[str, ...]
    sweeper: str
    launcher: str
    is_planned: bool
    started_at: str | None
    ended_at: str | None
    n_jobs: int
    by_state: Mapping[str, int]
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepMethod:
    """The metric that settings are held against, and how differences are judged."""

    metric: str
    kind: str
    better: str
    unit: str
    level: float
    margin: float
    seed: int
    resamples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """A sweep as its writers see it.

    `sentences` say what each setting does, which one is best and what is missing; `verdict` is all of them in one.
    `settings` hold `name`, `levels`, `is_choice`; `jobs` what became of each job and what it cost; `results` a row a
    job × condition × scorer; `crossed` the means that the largest interaction is about. The other rows are those of
    `analytics.sweeps`, `sweeps_effects`, `sweeps_best` and `sweeps_ranks`.
    """

    about: SweepAbout
    method: SweepMethod
    verdict: str
    sentences: tuple[str, ...]
    is_complete: bool
    warnings: tuple[str, ...]
    settings: Rows
    jobs: Rows
    results: Rows
    levels: Rows
    effects: Rows
    interactions: Rows
    best: Rows
    ranks: Rows
    agreement: Rows
    flips: Rows
    crossed: Rows

    def to_json(self) -> dict[str, Any]:
        """Give the document as JSON values."""
        return {"schema": SCHEMA, **asdict(self)}

    @property
    def varied(self) -> tuple[str, ...]:
        """The names of the settings that have two levels or more."""
        return tuple(str(one["name"]) for one in self.settings if len(one["levels"]) > 1)


def settings_text(row: Values, names: tuple[str, ...]) -> str:
    """Write the settings of a row as one would type them."""
    return " ".join(f"{name}={text_of(row.get(PREFIX + name))}" for name in names)


def text_of(value: object) -> str:
    """Write the value of a setting as settings are written."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
