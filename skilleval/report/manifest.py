"""What a report takes from the manifest of a run; a manifest that lacks something leaves it empty."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from skilleval.report.columns import TRIALS_OF, interval_methods, metric_columns
from skilleval.report.document import Method, Provenance, Row, RunFacts, SkillSource


def plain(value: Any) -> Any:
    """Turn a value into plain JSON: times as UTC text, no NaN, no lone surrogates, sets and tuples as lists."""
    # What most values are comes first: there may be many thousands.
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, str):
        if isinstance(value, Mapping):
            return {plain(str(key)): plain(item) for key, item in value.items()}
        if isinstance(value, (set, frozenset)):
            return sorted((plain(item) for item in value), key=str)
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
    said = _utc(value) if isinstance(value, datetime) else str(value)
    return said.encode("utf-8", "backslashreplace").decode("utf-8")


def _utc(moment: datetime) -> str:
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat(timespec="seconds").replace("+00:00", "Z")


def run_facts(manifest: Mapping[str, Any], rows: Sequence[Row]) -> RunFacts:
    """Say what was run and when; counts the manifest lacks are taken from the summary rows."""
    benchmark = _mapping(manifest, "benchmark")
    repeats = _mapping(manifest, "runner").get("repeats")
    settings = _mapping(_mapping(manifest, "config"), "runner")
    n_trials, n_planned = _n_trials(manifest, rows), whole(manifest.get("n_planned"))
    # A killed run had no time to say that it was cut short.
    cut_short = n_trials is not None and n_planned is not None and n_trials < n_planned
    return RunFacts(
        run_id=text(manifest, "run_id"),
        experiment=text(manifest, "experiment"),
        started_at=optional_text(manifest, "started_at"),
        ended_at=optional_text(manifest, "ended_at"),
        benchmark_id=text(benchmark, "id"),
        benchmark_version=text(benchmark, "version"),
        n_tasks=whole(benchmark.get("n_tasks")) or _most(rows, "n_tasks"),
        n_repeats=whole(repeats) or _most(rows, "n_repeats"),
        n_trials=n_trials,
        n_planned=n_planned,
        n_not_judged=whole(_mapping(manifest, "counts").get("not_judged")),
        interrupted=bool(manifest.get("interrupted")) or cut_short,
        latency=text(settings, "latency"),
        concurrency=_concurrency(manifest),
    )


def _concurrency(manifest: Mapping[str, Any]) -> tuple[int, ...]:
    """Give the lowest and the highest concurrency that trials had; what was asked for may be that of none of them."""
    found = _list(_mapping(manifest, "observed"), "concurrency")
    return tuple(value for value in found if whole(value) is not None)


def _n_trials(manifest: Mapping[str, Any], rows: Sequence[Row]) -> int | None:
    """Count the trials that were done, judging them included; several scorers judge the same ones."""
    counts = _mapping(manifest, "counts")
    stored = whole(counts.get("trials"))
    known = {
        tuple(row.get(key) for key in TRIALS_OF): n
        for row in rows
        if (n := whole(row.get("n_trials"))) is not None
    }
    if stored is not None:
        return stored - (whole(counts.get("not_judged")) or 0)
    return sum(known.values()) if known else None


def _most(rows: Sequence[Row], key: str) -> int | None:
    known = [whole(row.get(key)) for row in rows]
    return max((value for value in known if value is not None), default=None)


def whole(value: Any) -> int | None:
    """Give a whole number, null for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def provenance(
    manifest: Mapping[str, Any], rows: Sequence[Row], reused: Mapping[str, int] | None = None
) -> Provenance:
    """Gather what another person needs to run the same again; `reused` counts attempts by the run that made them."""
    sandbox = _mapping(manifest, "sandbox")
    warnings = [*_list(manifest, "warnings"), *_list(sandbox, "warnings")]
    return Provenance(
        command=_command(manifest.get("command")),
        config=_mapping(manifest, "config"),
        overrides=_texts(_list(manifest, "overrides")),
        versions=_mapping(manifest, "versions"),
        platform=_mapping(manifest, "platform"),
        git=_mapping(manifest, "git"),
        skills=tuple(
            _skill_source(skill) for skill in _list(manifest, "skills") if isinstance(skill, Mapping)
        ),
        benchmark=_mapping(manifest, "benchmark"),
        seeds=_mapping(manifest, "seeds"),
        counts=_mapping(manifest, "counts"),
        sandbox=text(sandbox, "name"),
        guarantees=_texts(_list(sandbox, "guarantees")),
        methods=_methods(rows),
        warnings=tuple(dict.fromkeys(_texts(warnings))),
        tables=_mapping(manifest, "tables"),
        reused=dict(reused or {}),
        isolation=_texts(_list(_mapping(manifest, "observed"), "isolation")),
    )


def _methods(rows: Sequence[Row]) -> tuple[Method, ...]:
    columns = metric_columns(rows)
    named = [
        Method(name=f"interval of {column.label}", text=way)
        for column in columns
        for way in interval_methods(column, rows)
    ]
    return (*named, *(Method(name=column.label, text=column.doc) for column in columns))


def _skill_source(skill: Mapping[str, Any]) -> SkillSource:
    keys: tuple[str, ...] = ("id", "version", "digest", "path")
    return SkillSource(**{key: text(skill, key) for key in keys})


def _command(command: Any) -> str:
    return shlex.join(map(str, command)) if isinstance(command, list) else str(command or "")


def _mapping(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Give a part of the manifest as a mapping; a single value keeps the name of the part."""
    value = values.get(key)
    if isinstance(value, Mapping):
        return value
    return {} if value is None else {key: value}


def _list(values: Mapping[str, Any], key: str) -> list[Any]:
    value = values.get(key)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def text(values: Mapping[str, Any], key: str) -> str:
    """Give a text, empty where there is none."""
    return optional_text(values, key) or ""


def optional_text(values: Mapping[str, Any], key: str) -> str | None:
    """Give a text, null where there is none."""
    value = values.get(key)
    return None if value is None else str(value)
