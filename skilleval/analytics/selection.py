"""Which skills to take: filters, a front of several criteria, a stable order; for every skill left out the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import polars as pl

from skilleval.analytics.criteria import Criterion, Unit, criterion
from skilleval.analytics.pareto import pareto_front

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
class Limit:
    """What any one criterion must keep; inclusive, and null asks for nothing."""

    criterion: Criterion
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a skill must keep; every limit is inclusive, and null or empty asks for nothing."""

    min_completion_rate: float | None = None
    max_error_rate: float | None = None
    max_latency_p95_ms: float | None = None
    adapter_types: tuple[str, ...] = ()
    required_tags: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionSpec:
    """Filter, order and number. `descending` null puts the best first; `top_k` null takes all.

    `rank_by` orders by one criterion instead of `sort_by`, `weights` by a blend of several. `pareto` takes only what no
    other skill beats in all of its criteria; without it the usual ones mark that front, and nobody is left out.
    """

    filters: Filters
    sort_by: SortKey
    descending: bool | None = None
    top_k: int | None = None
    rank_by: Criterion | None = None
    weights: tuple[tuple[Criterion, float], ...] = ()
    pareto: tuple[Criterion, ...] = ()

    @property
    def is_descending(self) -> bool:
        """The order in force."""
        if self.descending is not None:
            return self.descending
        if self.weights:
            return True
        return not (self.sort_by if self.rank_by is None else self.rank_by).best_is_low

    @property
    def order_name(self) -> str:
        """What skills are ordered by, in a word."""
        if self.weights:
            return "merit"
        return self.sort_by.value if self.rank_by is None else self.rank_by.name


_FIGURES: dict[SortKey, tuple[str, ...]] = {
    SortKey.COMPLETION_RATE: ("completion_rate",),
    SortKey.COMPOSITE_SCORE: ("composite",),
    SortKey.LATENCY: ("p95_ms",),
    # Tokens decide where no price is known.
    SortKey.TOKEN_COST: ("usd_per_trial", "tokens_per_trial"),
}
USUAL_FRONT = ("completion_rate", "p95_ms", "usd_per_trial")
"""Quality × latency × cost: the front that is marked where a strategy names none."""

_TIES = (
    (pl.col("completion_rate"), True),
    (pl.col("composite"), True),
    (pl.col("p95_ms"), False),
    (pl.col("skill_id"), False),
    (pl.col("skill_version"), False),
    (pl.col("skill_digest"), False),
)
_FITS = pl.col("reasons").list.len() == 0


def selection(candidates: pl.LazyFrame, *, spec: SelectionSpec) -> pl.LazyFrame:
    """Filter skills and order those that are left; nobody is dropped without a reason.

    Where the figure of the order is the same, the higher completion rate, the higher composite score, the lower p95,
    then id, version and digest decide who stands above; `place` is shared all the same. A figure that is not known
    comes last in either order, and meets no limit.

    Grain: one row a candidate: those that meet the filters in their order, then the others in the same order.
    Columns: as given (the figures of a summary row, `tags`, and `absent`: why there are no figures), plus `rank` (null
        where a filter removed it), `place` (the rank of the first of those with the same figure), `is_tied`, `merit`
        (the blend that `weights` ask for; null without), `on_front` (no skill that meets the filters beats it in all
        criteria of the front; null where one is not known, or a filter removed it), `dominated_by` (ids of those that
        do), `reasons` (texts, empty where it is selected), `removed_by` (names of the filters), `selected`.
    """
    rules = list(_rules(spec.filters))
    judged = candidates.with_columns(
        reasons=pl.concat_list(text for _, text in rules).list.drop_nulls(),
        removed_by=pl.concat_list(
            pl.when(text.is_not_null()).then(pl.lit(name)) for name, text in rules
        ).list.drop_nulls(),
    )
    ranked = _ranked(_with_front(judged, spec).with_columns(merit=_merit(spec)), spec)
    return _first(ranked, spec.top_k).with_columns(selected=_FITS)


def _with_front(judged: pl.LazyFrame, spec: SelectionSpec) -> pl.LazyFrame:
    """Mark the front among those that meet the filters, and leave out what is beaten where that is asked for."""
    chosen = spec.pareto or tuple(usual_criterion(name) for name in USUAL_FRONT)
    columns = {f"_front_{at}": one for at, one in enumerate(chosen)}
    is_named = bool(spec.pareto) and {one.name for one in spec.pareto} != set(USUAL_FRONT)
    values = {name: _comparable(one.value, is_asked=is_named) for name, one in columns.items()}
    rows = judged.with_row_index("_candidate").with_columns(
        pl.when(_FITS).then(value).alias(name) for name, value in values.items()
    )
    marked = pareto_front(
        rows,
        criteria={name: one.best_is_low for name, one in columns.items()},
        key="_candidate",
        name="skill_id",
    )
    if spec.pareto:
        unknown = pl.concat_list(
            pl.when(pl.col(name).is_null()).then(pl.lit(f"{one.name} is not known"))
            for name, one in columns.items()
        ).list.drop_nulls()
        beaten = pl.format(
            "beaten by {}: nowhere better, somewhere worse", pl.col("dominated_by").list.join(", ")
        )
        is_out = _FITS & ~pl.col("on_front").fill_null(value=False)
        why = pl.when(pl.col("on_front").is_null()).then(unknown).otherwise(pl.concat_list(beaten))
        marked = marked.with_columns(
            reasons=pl.when(is_out).then(why).otherwise(pl.col("reasons")),
            removed_by=pl.when(is_out).then(pl.concat_list(pl.lit("pareto"))).otherwise(pl.col("removed_by")),
        )
    return marked.drop("_candidate", *columns)


def _comparable(value: pl.Expr, *, is_asked: bool) -> pl.Expr:
    """Let a criterion that nobody knows decide nothing, unless somebody asked for it by name."""
    return value if is_asked else pl.when(value.filter(_FITS).is_null().all()).then(0.0).otherwise(value)


def usual_criterion(name: str) -> Criterion:
    """Give a criterion of ours by its name."""
    return criterion(name, where="selection", key="criterion")


def _merit(spec: SelectionSpec) -> pl.Expr:
    """Blend criteria by their weights into a number from 0 to 1.

    A share counts as it is, or as what it lacks to 1 where less is better. Of an amount the best one is the measure:
    who takes twice as much has half of it.
    """
    if not spec.weights:
        return pl.lit(None, dtype=pl.Float64)
    total = sum(weight for _, weight in spec.weights)
    parts = [weight * _credit(one) for one, weight in spec.weights]
    return pl.when(_FITS).then(pl.sum_horizontal(parts, ignore_nulls=False) / total)


def _credit(one: Criterion) -> pl.Expr:
    if one.unit is Unit.SHARE:
        return 1 - one.value if one.best_is_low else one.value
    return (
        pl.when(one.value > 0).then(one.value.filter(_FITS).min() / one.value).when(one.value == 0).then(1.0)
    )


def _ranked(judged: pl.LazyFrame, spec: SelectionSpec) -> pl.LazyFrame:
    """Put rows in order; those whose figures are the same share a place."""
    figures = _figures(spec)
    keys = [(~_FITS, False), *((figure, spec.is_descending) for figure in figures), *_TIES]
    ordered = judged.sort(
        [key for key, _ in keys], descending=[down for _, down in keys], nulls_last=True, maintain_order=True
    )
    ranked = ordered.with_columns(rank=pl.when(_FITS).then(pl.int_range(1, pl.len() + 1, dtype=pl.Int64)))
    same = pl.all_horizontal(_is_same(figure, figure.shift(1)) for figure in figures)
    grouped = ranked.with_columns(_group=(~same.fill_null(value=False)).cum_sum())
    place = pl.col("rank").min().over("_group", "rank_is_known")
    return (
        grouped.with_columns(rank_is_known=pl.col("rank").is_not_null())
        .with_columns(
            place=place,
            is_tied=pl.when(pl.col("rank_is_known")).then(pl.len().over("_group", "rank_is_known") > 1),
        )
        .drop("_group", "rank_is_known")
    )


def _figures(spec: SelectionSpec) -> tuple[pl.Expr, ...]:
    if spec.weights:
        return (pl.col("merit"),)
    if spec.rank_by is not None:
        return (spec.rank_by.value,)
    return tuple(usual_criterion(name).value for name in _FIGURES[spec.sort_by])


def _is_same(one: pl.Expr, other: pl.Expr) -> pl.Expr:
    """Compare two figures with a slack; two that are not known are the same."""
    slack = _TOLERANCE * pl.max_horizontal(one.abs(), pl.lit(1.0))
    return ((one - other).abs() <= slack).fill_null(one.is_null() & other.is_null())


def _first(ranked: pl.LazyFrame, top_k: int | None) -> pl.LazyFrame:
    """Leave out what comes after the first `top_k`, and say where nothing but the name decided that."""
    if top_k is None:
        return ranked
    late = pl.col("rank") > top_k
    tie = (
        pl.when(pl.col("place") <= top_k)
        .then(pl.lit(", though level with the last of them"))
        .otherwise(pl.lit(""))
    )
    reason = pl.format("rank {} is beyond the first {}{}", pl.col("rank"), pl.lit(top_k), tie)
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
            yield name, pl.when(known).then(_beyond(column, pl.col(column), limit, is_least=is_least))
    for one in filters.limits:
        for bound, is_least in ((one.at_least, True), (one.at_most, False)):
            if bound is not None:
                told = _beyond(one.criterion.name, one.criterion.value, bound, is_least=is_least)
                yield f"limits.{one.criterion.name}", pl.when(known).then(told)
    if filters.adapter_types:
        reason = pl.format("adapter {} is not {}", "adapter", pl.lit(" or ".join(filters.adapter_types)))
        yield "adapterTypes", pl.when(~pl.col("adapter").is_in(filters.adapter_types)).then(reason)
    if filters.required_tags:
        yield "requiredTags", _lacking(filters.required_tags)


def _beyond(column: str, value: pl.Expr, limit: float, *, is_least: bool) -> pl.Expr:
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
