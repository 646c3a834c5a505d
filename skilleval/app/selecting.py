"""Selecting skills by stored figures: measurements become a ranking with reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from skilleval.analytics.criteria import COLUMNS
from skilleval.analytics.ranking import rank_distribution
from skilleval.analytics.selection import SelectionSpec, selection
from skilleval.app.history import (
    DEFAULT_PRESET,
    History,
    Measured,
    SkillKey,
    chosen_scorer,
    other_scorers,
    reference,
    skill_key,
)
from skilleval.domain.skills import Skill
from skilleval.errors import Problem, UsageError
from skilleval.report.columns import number
from skilleval.strict import nearest

_SCHEMA: dict[str, Any] = {
    "skill_id": pl.String,
    "skill_version": pl.String,
    "skill_digest": pl.String,
    "name": pl.String,
    "path": pl.String,
    "adapter": pl.String,
    "driven_by": pl.String,
    "scorer": pl.String,
    "tags": pl.List(pl.String),
    "run_id": pl.String,
    "benchmark_id": pl.String,
    "benchmark_version": pl.String,
    "absent": pl.String,
}
_FIGURES = (*COLUMNS, "ci_low", "ci_high", "cost_usd", "reused_cost_usd")
_COUNTS = ("n_trials", "n_graded", "n_cost", "total_tokens", "n_usage")

_LEVEL, _SEED, _RESAMPLES = 0.95, 0, 10_000
RANKS_METHOD = f"{_RESAMPLES:,} draws of the tasks that all were asked, seed {_SEED}, level {_LEVEL:g}"
"""How the chances of ranks were made: they are those of the order by completion rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Every candidate with its figures, rank and, where it is left out, the reasons; the selected ones first.

    All figures are on one state of the benchmark, by one scorer and one preset of formulas.
    """

    benchmark: str
    spec: SelectionSpec
    rows: tuple[Mapping[str, Any], ...]
    scorer: str = ""
    other_scorers: tuple[str, ...] = ()
    preset: str = DEFAULT_PRESET
    caveats: tuple[str, ...] = ()

    @property
    def selected(self) -> tuple[Mapping[str, Any], ...]:
        """The rows that were selected, the first one first."""
        return tuple(row for row in self.rows if row["selected"])

    def removed(self) -> dict[str, int]:
        """Count the skills that each filter left out; one skill may fall to several."""
        names = [name for row in self.rows for name in row["removed_by"]]
        return {name: names.count(name) for name in dict.fromkeys(names)}

    def facts(self) -> dict[str, Any]:
        """Give the ranking as JSON."""
        return {
            "benchmark": self.benchmark,
            "scorer": self.scorer,
            "other_scorers": list(self.other_scorers),
            "analysis": self.preset,
            "strategy": _strategy_facts(self.spec),
            "ranks_method": RANKS_METHOD,
            "caveats": list(self.caveats),
            "n_selected": len(self.selected),
            "removed": self.removed(),
            "skills": [dict(row) for row in self.rows],
        }


def _strategy_facts(spec: SelectionSpec) -> dict[str, Any]:
    """Give a strategy as JSON, in the words of its file."""
    limits = spec.filters.limits
    return {
        "sort_by": spec.sort_by.value,
        "order": "desc" if spec.is_descending else "asc",
        "top_k": spec.top_k,
        "filters": {
            "min_completion_rate": spec.filters.min_completion_rate,
            "max_error_rate": spec.filters.max_error_rate,
            "max_latency_p95_ms": spec.filters.max_latency_p95_ms,
            "adapter_types": list(spec.filters.adapter_types),
            "required_tags": list(spec.filters.required_tags),
        },
        "rank_by": None if spec.rank_by is None else spec.rank_by.name,
        "weights": {one.name: weight for one, weight in spec.weights},
        "limits": {one.criterion.name: {"min": one.at_least, "max": one.at_most} for one in limits},
        "pareto": [one.name for one in spec.pareto],
    }


def select(
    skills: Sequence[Skill],
    history: History,
    *,
    spec: SelectionSpec,
    benchmark: str | None = None,
    scorer: str | None = None,
) -> Ranking:
    """Rank skills by what their newest run on one benchmark says by one scorer; others are left out with the reason.

    Raises:
        UsageError: the skills were evaluated on several benchmarks and none is named, or on none of that name; or no
            scorer of that name judged them.
    """
    own = {skill_key(skill) for skill in skills}
    measured = [one for one in history.measured if one.key in own]
    name = benchmark or _only_benchmark(measured)
    _check_known(benchmark, history)
    on_it = [one for one in measured if one.benchmark_id == name]
    _check_scorer(scorer, on_it)
    chosen = chosen_scorer(on_it, scorer)
    like = reference(on_it, chosen)
    own_adapters = {skill_key(skill): skill.adapter for skill in skills}
    alike = [one for one in on_it if like and not _differences(one, like, own_adapters)]
    candidates = _candidates(skills, on_it, like, history).lazy()
    ranked = selection(candidates, spec=spec).drop("absent").collect()
    rows = _with_chances(ranked, _first_by_skill(alike))
    return Ranking(
        benchmark=f"{name}@{like.benchmark_version}" if like else name,
        spec=spec,
        rows=tuple(rows.iter_rows(named=True)),
        scorer=chosen if like else "",
        other_scorers=other_scorers(on_it, chosen),
        preset=like.preset if like else DEFAULT_PRESET,
        caveats=tuple(_caveats(_first_by_skill(alike).values())),
    )


def _with_chances(ranked: pl.DataFrame, measured: Mapping[SkillKey, Measured]) -> pl.DataFrame:
    """Say of those that meet the filters how sure their order by completion rate is.

    Grain: unchanged, in order.
    Columns: as given, then those of `rank_distribution` but `candidate`; null for those that a filter left out.
    """
    rows = ranked.with_row_index("candidate")
    keys = rows.filter(pl.col("rank").is_not_null())
    cells = [
        {"candidate": at, "task_id": cell.task_id, "n_graded": cell.n_graded, "n_passed": cell.n_passed}
        for at, *key in keys.select("candidate", "skill_id", "skill_version", "skill_digest").iter_rows()
        for cell in measured[key[0], key[1], key[2]].tasks
    ]
    schema = {
        "candidate": rows.schema["candidate"],
        "task_id": pl.String(),
        "n_graded": pl.Int64(),
        "n_passed": pl.Int64(),
    }
    tasks = pl.DataFrame(cells, schema=schema)
    chances = rank_distribution(tasks, level=_LEVEL, seed=_SEED, resamples=_RESAMPLES)
    return rows.join(chances, on="candidate", how="left", maintain_order="left").drop("candidate")


def _caveats(measured: Iterable[Measured]) -> Iterable[str]:
    """Say what limits the comparison of figures from different runs."""
    found = {one.concurrency for one in measured if one.concurrency}
    if len(found) > 1:
        told = ", ".join("–".join(str(n) for n in dict.fromkeys(one)) for one in sorted(found))
        yield f"the runs had different concurrency ({told}): their latencies cannot be compared"


def _only_benchmark(measured: Sequence[Measured]) -> str:
    names = sorted({one.benchmark_id for one in measured})
    if len(names) > 1:
        problem = Problem(where="--benchmark", expected=f"one of {', '.join(names)}", found="nothing")
        hint = "figures on different benchmarks cannot be compared; name one with --benchmark"
        raise UsageError("the skills were evaluated on several benchmarks", problems=(problem,), hint=hint)
    return names[0] if names else ""


def _check_known(benchmark: str | None, history: History) -> None:
    """Refuse a benchmark that no run names: it is misspelt, not merely out of date."""
    names = sorted({one.benchmark_id for one in history.measured})
    if benchmark is not None and names and benchmark not in names:
        expected, hint = f"one of {', '.join(names)}", nearest(benchmark, names)
        problem = Problem(where="--benchmark", expected=expected, found=benchmark, hint=hint)
        raise UsageError("no skill here was evaluated on this benchmark", problems=(problem,))


def _check_scorer(scorer: str | None, on_it: Sequence[Measured]) -> None:
    """Refuse a scorer that judged nothing here."""
    names = sorted({one.scorer for one in on_it})
    if scorer is not None and names and scorer not in names:
        expected, hint = f"one of {', '.join(names)}", nearest(scorer, names)
        problem = Problem(where="--scorer", expected=expected, found=scorer, hint=hint)
        raise UsageError("no skill here was judged by this scorer", problems=(problem,))


def _first_by_skill(measured: Iterable[Measured]) -> dict[SkillKey, Measured]:
    """Keep the first measurement of each skill; the newest come first."""
    kept: dict[SkillKey, Measured] = {}
    for one in measured:
        kept.setdefault(one.key, one)
    return kept


def _candidates(
    skills: Sequence[Skill], on_it: Sequence[Measured], like: Measured | None, history: History
) -> pl.DataFrame:
    """Lay out a row a skill, with figures that can be compared with those of `like`."""
    own = {skill_key(skill): skill.adapter for skill in skills}
    comparable = _first_by_skill(one for one in on_it if like and not _differences(one, like, own))
    # Of what cannot be compared, that is told which comes nearest.
    others = sorted(on_it, key=lambda one: len(_differences(one, like, own)) if like else 0)
    nearest_of = _first_by_skill(others)
    rows = []
    for skill in skills:
        key = skill_key(skill)
        found, other = comparable.get(key), nearest_of.get(key)
        why = _differences(other, like, own)[:1] if other and like else []
        absent = None if found else next(iter(why), None) or _absence(skill, history)
        rows.append({**_about(skill), **_figures(found), "absent": absent})
    schema = {**_SCHEMA, **dict.fromkeys(_FIGURES, pl.Float64), **dict.fromkeys(_COUNTS, pl.Int64)}
    return pl.DataFrame(rows, schema=schema)


def _differences(one: Measured, like: Measured, own: Mapping[SkillKey, str]) -> list[str]:
    """Say what keeps figures from being compared with those of another measurement, the gravest first."""
    state = f"{one.benchmark_id}@{one.benchmark_version}"
    driven, usual = _foreign_adapter(one, own), _foreign_adapter(like, own)
    told = {
        f"evaluated on another state of the benchmark ({state}) than in run {like.run_id}": (
            one.benchmark != like.benchmark
        ),
        f"judged by {one.scorer}, not by {like.scorer}": one.scorer != like.scorer,
        f"judged by {one.scorer} with other settings than in run {like.run_id}": (
            one.scorer == like.scorer and one.scorer_settings != like.scorer_settings
        ),
        f"its figures follow other analysis settings ({one.preset}) than those of run {like.run_id}": (
            one.analysis_settings != like.analysis_settings
        ),
        f"driven {_driven(driven)}, the others {_driven(usual)}": driven != usual,
    }
    return [text for text, differs in told.items() if differs]


def _foreign_adapter(one: Measured, own: Mapping[SkillKey, str]) -> str:
    """Name the adapter that drove a skill where it is not the skill's own."""
    return "" if one.adapter == own[one.key] else one.adapter


def _driven(adapter: str) -> str:
    return f"by the adapter {adapter}" if adapter else "as their own files say"


def _about(skill: Skill) -> dict[str, Any]:
    return {
        "skill_id": skill.id,
        "skill_version": skill.version,
        "skill_digest": skill.digest,
        "name": skill.name,
        "path": str(skill.source),
        "adapter": skill.adapter,
        "tags": list(skill.tags),
    }


def _figures(found: Measured | None) -> dict[str, Any]:
    if found is None:
        return {}
    counts = {name: number(found.figures, name) for name in _COUNTS}
    return {
        "run_id": found.run_id,
        "driven_by": found.adapter,
        "scorer": found.scorer,
        "benchmark_id": found.benchmark_id,
        "benchmark_version": found.benchmark_version,
        **{name: number(found.figures, name) for name in _FIGURES},
        **{name: None if value is None else int(value) for name, value in counts.items()},
    }


def _absence(skill: Skill, history: History) -> str:
    """Say why a skill has no figures on this benchmark at all."""
    others = [one for one in history.measured if one.key[0] == skill.id]
    if any(one.key == skill_key(skill) for one in others):
        return "no finished run evaluated it on this benchmark"
    if skill_key(skill) in history.replayed:
        return "no finished run called it: recorded attempts were replayed"
    if not others:
        return "no finished run evaluated it"
    if any(one.key[:2] == (skill.id, skill.version) for one in others):
        return "its files have changed since it was evaluated"
    return f"only version {others[0].key[1]} was evaluated"
