"""Selecting skills by stored figures: a strategy file becomes settings, measurements become a ranking with reasons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from skilleval.analytics.selection import Filters, SelectionSpec, SortKey, selection
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
from skilleval.catalog.documents import key_path, read_document
from skilleval.catalog.rules import violations
from skilleval.config.compose.layer_files import parse_mapping
from skilleval.domain import Skill
from skilleval.errors import ConfigError, Problem, UsageError
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
_SHARES = (
    "completion_rate",
    "ci_low",
    "ci_high",
    "error_rate",
    "p95_ms",
    "composite",
    "cost_usd",
    "reused_cost_usd",
)
_COUNTS = ("n_trials", "n_graded", "n_cost", "total_tokens", "n_usage")


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
            "strategy": {
                "sort_by": self.spec.sort_by.value,
                "order": "desc" if self.spec.is_descending else "asc",
                "top_k": self.spec.top_k,
                "filters": {
                    "min_completion_rate": self.spec.filters.min_completion_rate,
                    "max_error_rate": self.spec.filters.max_error_rate,
                    "max_latency_p95_ms": self.spec.filters.max_latency_p95_ms,
                    "adapter_types": list(self.spec.filters.adapter_types),
                    "required_tags": list(self.spec.filters.required_tags),
                },
            },
            "n_selected": len(self.selected),
            "removed": self.removed(),
            "skills": [dict(row) for row in self.rows],
        }


def read_strategy(path: Path | None) -> SelectionSpec:
    """Read a strategy file: JSON where its name ends so, else YAML; no file asks for nothing and sorts by completion.

    Raises:
        SkillevalError: the file cannot be read, or a key or value in it is wrong.
    """
    values = {} if path is None else _strategy_values(path)
    filters = values.get("filters", {})
    order = values.get("order")
    return SelectionSpec(
        filters=Filters(
            min_completion_rate=filters.get("minCompletionRate"),
            max_error_rate=filters.get("maxErrorRate"),
            max_latency_p95_ms=filters.get("maxLatencyP95Ms"),
            adapter_types=tuple(filters.get("adapterTypes", ())),
            required_tags=tuple(filters.get("requiredTags", ())),
        ),
        sort_by=SortKey(values.get("sortBy", SortKey.COMPLETION_RATE)),
        descending=None if order is None else order == "desc",
        top_k=int(values.get("topK", 0)) or None,
    )


def with_options(spec: SelectionSpec, *, min_completion: float | None, top_k: int | None) -> SelectionSpec:
    """Let options of the command line win over a strategy; a `top_k` of 0 takes all."""
    if min_completion is not None:
        spec = replace(spec, filters=replace(spec.filters, min_completion_rate=min_completion))
    return spec if top_k is None else replace(spec, top_k=top_k or None)


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
    rows = selection(_candidates(skills, on_it, like, history).lazy(), spec=spec).drop("absent").collect()
    return Ranking(
        benchmark=f"{name}@{like.benchmark_version}" if like else name,
        spec=spec,
        rows=tuple(rows.iter_rows(named=True)),
        scorer=chosen if like else "",
        other_scorers=other_scorers(on_it, chosen),
        preset=like.preset if like else DEFAULT_PRESET,
    )


def _strategy_values(path: Path) -> dict[str, Any]:
    values = read_document(path).value if path.suffix == ".json" else _yaml_values(path)
    problems = violations(values, name="strategy", where=str(path)) or tuple(_not_finite(values, path))
    if problems:
        msg = f"{path} is no usable strategy"
        raise ConfigError(msg, problems=problems)
    return dict(values)


def _yaml_values(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else str(error)
        problem = Problem(where=str(path), expected="a strategy file in UTF-8", found=str(found))
        raise ConfigError("the strategy file cannot be read", problems=(problem,)) from None
    return parse_mapping(text, path) if text.strip() else {}


def _not_finite(values: Mapping[str, Any], path: Path) -> Iterable[Problem]:
    """Find NaN and infinity, which YAML can say and no comparison in a schema refuses."""
    for name, value in values.get("filters", {}).items():
        if isinstance(value, float) and not math.isfinite(value):
            key = key_path(("filters", name))
            yield Problem(where=str(path), key=key, expected="a finite number", found=str(value))


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
    schema = {**_SCHEMA, **dict.fromkeys(_SHARES, pl.Float64), **dict.fromkeys(_COUNTS, pl.Int64)}
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
        **{name: number(found.figures, name) for name in _SHARES},
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
