"""Which skills to take: a plain filter and a stable order, and for every skill left out the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOLERANCE = 1e-9
_DIGITS = 4


class SortKey(StrEnum):
    """What skills are ordered by, in the words of a strategy file."""

    COMPLETION_RATE = "completionRate"
    COMPOSITE_SCORE = "compositeScore"
    LATENCY = "latency"
    TOKEN_COST = "tokenCost"  # noqa: S105 - a price, not a password

    @property
    def best_is_low(self) -> bool:
        """True where less is better, so that the best come first in ascending order."""
        return self in {SortKey.LATENCY, SortKey.TOKEN_COST}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a skill must keep; every limit is inclusive, and null or empty asks for nothing."""

    min_completion_rate: float | None = None
    max_error_rate: float | None = None
    max_latency_p95_ms: float | None = None
    adapter_types: tuple[str, ...] = ()
    required_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionSpec:
    """Filter, order and number. `descending` null puts the best first; `top_k` null takes all."""

    filters: Filters
    sort_by: SortKey
    descending: bool | None = None
    top_k: int | None = None

    @property
    def is_descending(self) -> bool:
        """The order in force."""
        return not self.sort_by.best_is_low if self.descending is None else self.descending


_FIGURES: dict[SortKey, tuple[pl.Expr, ...]] = {
    SortKey.COMPLETION_RATE: (pl.col("completion_rate"),),
    SortKey.COMPOSITE_SCORE: (pl.col("composite"),),
    SortKey.LATENCY: (pl.col("p95_ms"),),
    # Per trial, because runs differ in length; tokens decide where no price is known.
    SortKey.TOKEN_COST: (
        # What a call costs, whoever paid for it.
        (pl.col("cost_usd") + pl.col("reused_cost_usd").fill_null(0.0)) / pl.col("n_cost"),
        pl.col("total_tokens") / pl.col("n_usage"),
    ),
}
_TIES = (
    (pl.col("completion_rate"), True),
    (pl.col("composite"), True),
    (pl.col("p95_ms"), False),
    (pl.col("skill_id"), False),
    (pl.col("skill_version"), False),
    (pl.col("skill_digest"), False),
)


def selection(candidates: pl.LazyFrame, *, spec: SelectionSpec) -> pl.LazyFrame:
    """Filter skills and order those that are left; nobody is dropped without a reason.

    Ties are broken by the higher completion rate, the higher composite score, the lower p95, then id, version and
    digest. A figure that is not known comes last in either order, and meets no limit.

    Grain: one row a candidate: those that meet the filters in their order, then the others in the same order.
    Columns: as given (the figures of a summary row, `tags`, and `absent`: why there are no figures), plus `rank` (null
        where a filter removed it), `reasons` (texts, empty where it is selected), `removed_by` (names of the filters),
        `selected`.
    """
    judged = candidates.with_columns(
        reasons=pl.concat_list(text for _, text in _rules(spec.filters)).list.drop_nulls(),
        removed_by=pl.concat_list(
            pl.when(text.is_not_null()).then(pl.lit(name)) for name, text in _rules(spec.filters)
        ).list.drop_nulls(),
    )
    fits = pl.col("reasons").list.len() == 0
    order = [(figure, spec.is_descending) for figure in _FIGURES[spec.sort_by]]
    keys = [(~fits, False), *order, *_TIES]
    ordered = judged.sort(
        [key for key, _ in keys], descending=[down for _, down in keys], nulls_last=True, maintain_order=True
    )
    ranked = ordered.with_columns(rank=pl.when(fits).then(pl.int_range(1, pl.len() + 1, dtype=pl.Int64)))
    return _first(ranked, spec.top_k).with_columns(selected=pl.col("reasons").list.len() == 0)


def _first(ranked: pl.LazyFrame, top_k: int | None) -> pl.LazyFrame:
    """Leave out what comes after the first `top_k`."""
    if top_k is None:
        return ranked
    late = pl.col("rank") > top_k
    reason = pl.format("rank {} is beyond the first {}", pl.col("rank"), pl.lit(top_k))
    return ranked.with_columns(
        reasons=pl.when(late).then(pl.concat_list(reason)).otherwise(pl.col("reasons")),
        removed_by=pl.when(late).then(pl.concat_list(pl.lit("topK"))).otherwise(pl.col("removed_by")),
    )


def _rules(filters: Filters) -> Iterator[tuple[str, pl.Expr]]:
    """Give each filter's name and its reason to leave a skill out, null where it has none."""
    yield "evaluated", pl.col("absent")
    known = pl.col("absent").is_null()
    for name, column, limit, is_least in (
        ("minCompletionRate", "completion_rate", filters.min_completion_rate, True),
        ("maxErrorRate", "error_rate", filters.max_error_rate, False),
        ("maxLatencyP95Ms", "p95_ms", filters.max_latency_p95_ms, False),
    ):
        if limit is not None:
            yield name, pl.when(known).then(_beyond(column, limit, is_least=is_least))
    if filters.adapter_types:
        reason = pl.format("adapter {} is not {}", "adapter", pl.lit(" or ".join(filters.adapter_types)))
        yield "adapterTypes", pl.when(~pl.col("adapter").is_in(filters.adapter_types)).then(reason)
    if filters.required_tags:
        yield "requiredTags", _lacking(filters.required_tags)


def _beyond(column: str, limit: float, *, is_least: bool) -> pl.Expr:
    value = pl.col(column)
    is_beyond = value < limit - _TOLERANCE if is_least else value > limit + _TOLERANCE
    said = f"{column} {{}} is {'below' if is_least else 'above'} {limit:g}"
    return (
        pl.when(value.is_null())
        .then(pl.lit(f"{column} is not known"))
        .when(is_beyond)
        .then(pl.format(said, value.round(_DIGITS)))
    )


def _lacking(tags: tuple[str, ...]) -> pl.Expr:
    own = pl.col("tags").list.eval(pl.element().str.to_lowercase())
    lacking = pl.concat_list(
        pl.when(~own.list.contains(tag.lower())).then(pl.lit(tag)) for tag in tags
    ).list.drop_nulls()
    return pl.when(lacking.list.len() > 0).then(
        pl.format(
            "lacks the tag{} {}",
            pl.when(lacking.list.len() > 1).then(pl.lit("s")).otherwise(pl.lit("")),
            lacking.list.join(", "),
        )
    )
