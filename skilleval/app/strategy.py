"""A strategy file becomes the settings of a selection.

The keys of eval-skills keep its spelling (`sortBy`); ours are spelled like the columns they name (`rank_by`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilleval.analytics.criteria import Criterion, Unit, criterion
from skilleval.analytics.selection import (
    USUAL_FRONT,
    Filters,
    Limit,
    SelectionSpec,
    SortKey,
    usual_criterion,
)
from skilleval.catalog.documents import key_path, read_document
from skilleval.catalog.rules import violations
from skilleval.config.compose.layer_files import parse_mapping
from skilleval.errors import ConfigError, Problem
from skilleval.strict import percent_hint

_ORDERS = ("sortBy", "rank_by", "weights")


def read_strategy(path: Path | None) -> SelectionSpec:
    """Read a strategy file: JSON where its name ends so, else YAML; no file asks for nothing and sorts by completion.

    Raises:
        SkillevalError: the file cannot be read, or a key or value in it is wrong.
    """
    values = {} if path is None else _strategy_values(path)
    where = str(path)
    order, rank_by = values.get("order"), values.get("rank_by")
    return SelectionSpec(
        filters=_filters(values, where),
        sort_by=SortKey(values.get("sortBy", SortKey.COMPLETION_RATE)),
        descending=None if order is None else order == "desc",
        top_k=int(values.get("topK", 0)) or None,
        rank_by=None if rank_by is None else criterion(rank_by, where=where, key="rank_by"),
        weights=tuple(
            (_named("weights", name, where), float(weight))
            for name, weight in values.get("weights", {}).items()
        ),
        pareto=_front(values.get("pareto", False), where),
    )


def _filters(values: Mapping[str, Any], where: str) -> Filters:
    filters = values.get("filters", {})
    return Filters(
        min_completion_rate=filters.get("minCompletionRate"),
        max_error_rate=filters.get("maxErrorRate"),
        max_latency_p95_ms=filters.get("maxLatencyP95Ms"),
        adapter_types=tuple(filters.get("adapterTypes", ())),
        required_tags=tuple(filters.get("requiredTags", ())),
        limits=tuple(
            _limit(_named("limits", name, where), ends, where)
            for name, ends in values.get("limits", {}).items()
        ),
    )


def _limit(of: Criterion, ends: Mapping[str, float], where: str) -> Limit:
    """Build a limit, and refuse one of a share that no skill could keep, or every one would."""
    problems = tuple(
        Problem(
            where=where,
            key=f"limits.{of.name}.{end}",
            expected="a share, 0-1",
            found=f"{value:g}",
            hint=percent_hint(value),
        )
        for end, value in ends.items()
        if of.unit is Unit.SHARE and not 0 <= value <= 1
    )
    if problems:
        raise ConfigError(f"{of.name} is a share", problems=problems)
    return Limit(criterion=of, at_least=ends.get("min"), at_most=ends.get("max"))


def _front(value: bool | list[str], where: str) -> tuple[Criterion, ...]:  # noqa: FBT001 - as the file says it
    if isinstance(value, bool):
        return tuple(usual_criterion(name) for name in USUAL_FRONT) if value else ()
    return tuple(criterion(name, where=where, key=f"pareto[{at}]") for at, name in enumerate(value))


def _named(part: str, name: str, where: str) -> Criterion:
    return criterion(name, where=where, key=f"{part}.{name}")


def with_options(spec: SelectionSpec, *, min_completion: float | None, top_k: int | None) -> SelectionSpec:
    """Let options of the command line win over a strategy; a `top_k` of 0 takes all."""
    if min_completion is not None:
        spec = replace(spec, filters=replace(spec.filters, min_completion_rate=min_completion))
    return spec if top_k is None else replace(spec, top_k=top_k or None)


def _strategy_values(path: Path) -> dict[str, Any]:
    values = read_document(path).value if path.suffix == ".json" else _yaml_values(path)
    problems = violations(values, name="strategy", where=str(path)) or (
        *_not_finite(values, path),
        *_several_orders(values, path),
    )
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


def _not_finite(values: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """Find NaN and infinity, which YAML can say and no comparison in a schema refuses."""
    numbers: dict[tuple[str, ...], Any] = {
        ("filters", name): value for name, value in values.get("filters", {}).items()
    }
    numbers |= {("weights", name): value for name, value in values.get("weights", {}).items()}
    for name, ends in values.get("limits", {}).items():
        numbers |= {("limits", name, end): value for end, value in ends.items()}
    for place, value in numbers.items():
        if isinstance(value, float) and not math.isfinite(value):
            yield Problem(where=str(path), key=key_path(place), expected="a finite number", found=str(value))


def _several_orders(values: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """Find a second order: only one could hold."""
    named = [name for name in _ORDERS if name in values]
    for name in named[1:]:
        expected = f"one of {', '.join(_ORDERS)}"
        yield Problem(where=str(path), key=name, expected=expected, found=" and ".join(named))
