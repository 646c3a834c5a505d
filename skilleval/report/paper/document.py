"""What a paper kit is made from, as pure data: runs grouped by benchmark, their reports and what was compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skilleval.report.document import Report

SCHEMA = "skilleval.paper/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One run that a paper rests on: where its rows lie beside the paper, and what its manifest says."""

    run_id: str
    folder: str
    manifest: Mapping[str, Any]
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One condition held against the reference of its scorer, by completion over the tasks both know."""

    condition_id: str
    scorer: str
    n_tasks: int
    n_compared: int
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    ci_method: str = ""
    p_value: float | None = None
    p_method: str = ""
    p_holm: float | None = None
    is_shown: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Formulas:
    """The settings of the analysis that methods name."""

    level: float
    interval: str
    preset: str
    seed: int
    k: int
    scoring_method: str
    resamples: int
    family: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All runs on one state of a benchmark, summarised together.

    `references` gives the condition that each scorer's others are held against, empty where it is a run; `against` says
    in words what that is, and `is_chosen` that the rows themselves chose it, as the best.
    """

    benchmark: str
    name: str
    report: Report
    sources: tuple[Source, ...]
    formulas: Formulas
    compared: tuple[Compared, ...] = ()
    references: Mapping[str, str] = field(default_factory=dict)
    against: str = ""
    is_chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for; a paper is made again from its data and these."""

    title: str = ""
    baseline: str = ""
    scorer: str = ""
    linked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """All that the files of a paper kit are written from. `versions` are those of what wrote it."""

    options: Options
    groups: tuple[Group, ...]
    versions: Mapping[str, str]

    @property
    def title(self) -> str:
        """The title that was asked for, else one that names the benchmarks."""
        names = ", ".join(dict.fromkeys(group.benchmark for group in self.groups))
        return self.options.title or f"Evaluation of agent skills on {names}"

    @property
    def sources(self) -> tuple[Source, ...]:
        """All runs, in the order of the groups."""
        return tuple(source for group in self.groups for source in group.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """One number for the text of a paper: the macro that gives it, its value, and the row and column it comes from."""

    macro: str
    text: str
    value: float | None
    unit: str
    table: str
    row: str
    column: str
    run_ids: tuple[str, ...] = ()
