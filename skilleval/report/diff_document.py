"""A comparison of two runs as pure data: what its writers read, and what `--json` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

SCHEMA = "skilleval.diff/1"

REGRESSED, INCONCLUSIVE = "regressed", "inconclusive"
BROKEN = "broken"
NOT_COMPARED = "not compared"

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRun:
    """One of the two runs, and what it is called."""

    label: str
    run_id: str
    started_at: str | None
    benchmark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """What became of one skill, mode and scorer.

    `side` says whether both runs have it. `metrics` are the rows of `analytics.effects`, `beside` holds metrics that
    no task has of its own (`metric`, `before`, `after`, `delta`, `better`, `outcome`), `flips` the rows of
    `analytics.flips`; `tasks` are those that are compared, `left_out` lists others by the reason why they are not.
    """

    skill_id: str
    scorer: str
    mode: str
    benchmark_id: str
    side: str
    name: str
    baseline: Values
    candidate: Values
    change: str
    is_confirmed: bool
    sentence: str
    caveats: tuple[str, ...] = ()
    metrics: tuple[Values, ...] = ()
    beside: tuple[Values, ...] = ()
    flips: tuple[Values, ...] = ()
    tasks: tuple[str, ...] = ()
    left_out: Mapping[str, tuple[str, ...]]

    @property
    def is_same(self) -> bool:
        """Say whether nothing at all differs: no flip, no task that moved in any metric, no task left out."""
        moved = any(metric["n_better"] + metric["n_worse"] for metric in self.metrics)
        return bool(self.metrics) and not (self.flips or moved or self.left_out)

    @property
    def broken(self) -> tuple[Values, ...]:
        """The tasks and checks that always passed and never do now."""
        return tuple(flip for flip in self.flips if flip["flip"] == BROKEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """A whole comparison: the verdict, then what it rests on. Shares are 0-1, differences candidate less baseline."""

    baseline: DiffRun
    candidate: DiffRun
    change: str
    sentence: str
    margin: float
    level: float
    rows: tuple[DiffRow, ...]
    warnings: tuple[str, ...]
    schema: str = SCHEMA

    @property
    def is_confirmed(self) -> bool:
        """Say whether a regression beyond the margin is shown."""
        return any(row.is_confirmed for row in self.rows)

    @property
    def has_broken(self) -> bool:
        """Say whether a task or a check always passed before and never does now."""
        return any(row.broken for row in self.rows)

    @property
    def is_inconclusive(self) -> bool:
        """Say whether some comparison decides nothing."""
        return any(row.change in {INCONCLUSIVE, NOT_COMPARED} for row in self.rows if row.side == "both")

    def to_json(self) -> dict[str, Any]:
        """Give plain JSON values, the verdict first."""
        values = asdict(self)
        return {"schema": values.pop("schema"), "verdict": values.pop("change"), **values}
