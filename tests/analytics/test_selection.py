from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.criteria import COLUMNS, Criterion, criterion
from skilleval.analytics.selection import USUAL_FRONT, Filters, Limit, SelectionSpec, SortKey, selection
from skilleval.errors import ConfigError

_SCHEMA: dict[str, Any] = {
    "skill_id": pl.String,
    "skill_version": pl.String,
    "skill_digest": pl.String,
    "adapter": pl.String,
    "tags": pl.List(pl.String),
    "absent": pl.String,
    "completion_rate": pl.Float64,
    "error_rate": pl.Float64,
    "composite": pl.Float64,
    "p95_ms": pl.Float64,
    "cost_usd": pl.Float64,
    "reused_cost_usd": pl.Float64,
    "n_cost": pl.Int64,
    "total_tokens": pl.Int64,
    "n_usage": pl.Int64,
    "ci_low": pl.Float64,
    "p50_ms": pl.Float64,
}
_NEUTRAL: dict[str, Any] = {
    "skill_version": "1.0.0",
    "skill_digest": "d",
    "adapter": "subprocess",
    "tags": [],
    "completion_rate": 0.5,
    "error_rate": 0.0,
    "composite": 0.5,
    "p95_ms": 10.0,
}


def chosen(rows: Sequence[Any], filters: Filters | None = None, **changes: Any) -> pl.DataFrame:
    """Select among rows that say only what matters, their ids being a, b, c and so on."""
    named = [{**_NEUTRAL, "skill_id": chr(97 + index), **row} for index, row in enumerate(rows)]
    frame = pl.DataFrame(named, schema=_SCHEMA)
    spec: dict[str, Any] = {"sort_by": SortKey.COMPLETION_RATE, **changes}
    return selection(frame.lazy(), spec=SelectionSpec(filters=filters or Filters(), **spec)).collect()


def order(frame: pl.DataFrame) -> str:
    """Give the ids of the selected skills in their order."""
    return "".join(frame.filter("selected")["skill_id"])


@pytest.mark.parametrize(
    ("filters", "rows", "kept"),
    [
        (Filters(min_completion_rate=0.7), [0.7, 0.7 - 1e-12, 0.699, 0.71], "dab"),
        (Filters(min_completion_rate=0.3), [0.1 + 0.2, 0.3], "ab"),
        (Filters(min_completion_rate=0.0), [None, 0.0], "b"),
        (Filters(), [None, 0.0], "ba"),
    ],
)
def test_the_completion_limit_is_inclusive_and_what_is_unknown_does_not_reach_it(
    filters: Filters, rows: list[float | None], kept: str
) -> None:
    """A rate at the limit is in, whatever binary fractions make of it; an unknown one is out."""
    assert order(chosen([{"completion_rate": rate} for rate in rows], filters)) == kept


def test_error_rate_and_latency_are_limits_from_above_and_inclusive() -> None:
    """At the limit is in, above it is out, unknown is out."""
    rows = [{"error_rate": 0.05}, {"error_rate": 0.051}, {"error_rate": None}]
    assert order(chosen(rows, Filters(max_error_rate=0.05))) == "a"
    slow = [{"p95_ms": 100.0}, {"p95_ms": 100.1}, {"p95_ms": None}]
    assert order(chosen(slow, Filters(max_latency_p95_ms=100))) == "a"


def test_adapters_are_any_of_and_tags_are_all_of_whatever_their_case() -> None:
    """One of the named adapters is enough; every named tag is needed."""
    rows = [{"adapter": "http"}, {"adapter": "mcp"}, {"adapter": "subprocess"}]
    assert order(chosen(rows, Filters(adapter_types=("http", "mcp")))) == "ab"
    tagged = [{"tags": ["Math", "fast"]}, {"tags": ["math"]}, {"tags": []}]
    frame = chosen(tagged, Filters(required_tags=("MATH", "Fast")))
    assert order(frame) == "a"
    assert frame["reasons"].to_list()[1:] == [["lacks the tag Fast"], ["lacks the tags MATH, Fast"]]


def test_every_filter_that_a_skill_falls_to_is_named() -> None:
    """Nobody is dropped without all the reasons."""
    rows = [{"completion_rate": 0.2, "error_rate": 0.9, "adapter": "http"}, {"absent": "never evaluated"}]
    limits = Filters(min_completion_rate=0.7, max_error_rate=0.1, adapter_types=("mcp",))
    frame = chosen(rows, limits)
    assert frame.filter(skill_id="a").row(0, named=True)["reasons"] == [
        "completion_rate 0.2 is below 0.7",
        "error_rate 0.9 is above 0.1",
        "adapter http is not mcp",
    ]
    assert frame.filter(skill_id="b").row(0, named=True)["removed_by"] == ["evaluated", "adapterTypes"]


@pytest.mark.parametrize(
    ("key", "descending", "expected"),
    [
        (SortKey.COMPLETION_RATE, None, "bac"),
        (SortKey.COMPLETION_RATE, False, "cab"),
        (SortKey.COMPOSITE_SCORE, None, "cab"),
        (SortKey.LATENCY, None, "abc"),
        (SortKey.LATENCY, True, "cba"),
    ],
)
def test_the_best_come_first_unless_an_order_is_asked_for(
    key: SortKey, descending: bool | None, expected: str
) -> None:
    """High rates and scores are good, low latencies are good, and an explicit order is what it says."""
    rows = [
        {"completion_rate": 0.8, "composite": 0.2, "p95_ms": 1.0},
        {"completion_rate": 0.9, "composite": 0.1, "p95_ms": 2.0},
        {"completion_rate": 0.7, "composite": 0.3, "p95_ms": 3.0},
    ]
    assert order(chosen(rows, sort_by=key, descending=descending)) == expected


@pytest.mark.parametrize("descending", [True, False])
def test_a_figure_that_is_not_known_comes_last_in_either_order(descending: bool) -> None:
    """Null is neither the best nor the worst value."""
    rows = [{"p95_ms": None, "completion_rate": 1.0}, {"p95_ms": 5.0}]
    assert order(chosen(rows, sort_by=SortKey.LATENCY, descending=descending)) == "ba"


def test_cost_is_per_trial_and_tokens_decide_where_no_price_is_known() -> None:
    """A longer run is no dearer; free is better than dear; nothing known comes last."""
    rows = [
        {"cost_usd": 1.0, "n_cost": 10},
        {"cost_usd": 0.5, "n_cost": 1},
        {},
        {"total_tokens": 900, "n_usage": 3},
        {"total_tokens": 200, "n_usage": 1},
        {"cost_usd": 0.0, "reused_cost_usd": 2.0, "n_cost": 10},
    ]
    assert order(chosen(rows, sort_by=SortKey.TOKEN_COST)) == "afbedc"


def test_ties_are_broken_by_completion_composite_latency_and_then_by_name() -> None:
    """Equal figures give one documented order, whatever the order of the rows."""
    rows = [
        {"p95_ms": 1.0, "completion_rate": 0.5, "composite": 0.9},
        {"p95_ms": 1.0, "completion_rate": 0.6, "composite": 0.1},
        {"p95_ms": 1.0, "completion_rate": 0.6, "composite": 0.2},
        {"p95_ms": 1.0, "completion_rate": 0.6, "composite": 0.2, "skill_version": "0.9.0", "skill_id": "c"},
    ]
    frame = chosen(rows, sort_by=SortKey.LATENCY)
    assert frame.select("skill_id", "skill_version").rows() == [
        ("c", "0.9.0"),
        ("c", "1.0.0"),
        ("b", "1.0.0"),
        ("a", "1.0.0"),
    ]
    assert chosen(rows[::-1], sort_by=SortKey.COMPLETION_RATE)["completion_rate"].to_list() == [
        0.6,
        0.6,
        0.6,
        0.5,
    ]


def test_what_comes_after_the_first_k_keeps_its_rank_and_a_reason() -> None:
    """top_k cuts after filtering; the ranks of the others are still told."""
    frame = chosen(
        [{"completion_rate": rate} for rate in (0.1, 0.9, 0.8)], Filters(min_completion_rate=0.5), top_k=1
    )
    assert order(frame) == "b"
    assert frame.select("skill_id", "rank", "removed_by").rows() == [
        ("b", 1, []),
        ("c", 2, ["topK"]),
        ("a", None, ["minCompletionRate"]),
    ]
    assert frame["reasons"][1].to_list() == ["rank 2 is beyond the first 1"]


def named(name: str) -> Criterion:
    """Give a criterion of a strategy."""
    return criterion(name, where="strategy.yaml", key="rank_by")


def test_a_bound_ranks_the_surer_skill_above_the_luckier_one() -> None:
    """Two of two is no better than 95 of 100 where the lower end of the interval decides."""
    rows = [{"completion_rate": 1.0, "ci_low": 0.2}, {"completion_rate": 0.95, "ci_low": 0.89}]
    assert order(chosen(rows)) == "ab"
    assert order(chosen(rows, rank_by=named("completion_rate.low"))) == "ba"


@pytest.mark.parametrize(
    ("name", "expected"), [("usd_per_trial", "ba"), ("completion_rate", "ab"), ("error_rate", "ba")]
)
def test_any_metric_orders_by_its_better_direction(name: str, expected: str) -> None:
    """Less cost and fewer errors are better, more completion is; an explicit order still wins."""
    rows = [
        {"cost_usd": 2.0, "n_cost": 1, "completion_rate": 0.9, "error_rate": 0.2},
        {"cost_usd": 1.0, "n_cost": 1, "completion_rate": 0.8, "error_rate": 0.1},
    ]
    assert order(chosen(rows, rank_by=named(name))) == expected
    spec = SelectionSpec(filters=Filters(), sort_by=SortKey.COMPLETION_RATE, rank_by=named(name))
    assert order(chosen(rows, rank_by=named(name), descending=not spec.is_descending)) == expected[::-1]


def test_equal_figures_share_a_place_and_are_marked() -> None:
    """Names decide who stands above, but the place says that nothing else does."""
    rows = [{"completion_rate": rate} for rate in (0.1 + 0.2, 0.3, 0.2, 0.9)]
    frame = chosen(rows)
    assert frame.select("skill_id", "rank", "place", "is_tied").rows() == [
        ("d", 1, 1, False),
        ("a", 2, 2, True),
        ("b", 3, 2, True),
        ("c", 4, 4, False),
    ]
    cut = chosen(rows, top_k=2)
    assert cut["reasons"].to_list() == [
        [],
        [],
        ["rank 3 is beyond the first 2, though level with the last of them"],
        ["rank 4 is beyond the first 2"],
    ]


def test_a_filtered_skill_shares_no_place() -> None:
    """Ties are among those that meet the filters."""
    frame = chosen([{"error_rate": 0.0}, {"error_rate": 1.0}], Filters(max_error_rate=0.5))
    assert frame.select("skill_id", "place", "is_tied").rows() == [("a", 1, False), ("b", None, None)]


def test_weights_blend_shares_as_they_are_and_amounts_by_ratio() -> None:
    """Twice the time of the fastest has half the credit; an error rate counts as what it lacks to 1."""
    rows = [
        {"completion_rate": 1.0, "p95_ms": 20.0, "error_rate": 0.0},
        {"completion_rate": 0.8, "p95_ms": 10.0, "error_rate": 0.2},
        {"completion_rate": 1.0, "p95_ms": None},
        {"completion_rate": 0.1, "p95_ms": 1.0},
    ]
    weights = ((named("completion_rate"), 2.0), (named("p95_ms"), 2.0), (named("error_rate"), 1.0))
    frame = chosen(rows, Filters(min_completion_rate=0.5), weights=weights)
    assert order(frame) == "bac"
    merits = dict(frame.select("skill_id", "merit").iter_rows())
    assert merits == {
        "a": pytest.approx((2 + 1 + 1) / 5),
        "b": pytest.approx((1.6 + 2 + 0.8) / 5),
        "c": None,
        "d": None,
    }


@pytest.mark.parametrize(
    ("limit", "kept", "reason"),
    [
        ({"at_least": 0.5}, "a", "p50_ms 0.1 is below 0.5"),
        ({"at_most": 0.5}, "b", "p50_ms 1.0 is above 0.5"),
        ({"at_least": 0.1, "at_most": 0.1}, "b", "p50_ms 1.0 is above 0.1"),
    ],
)
def test_any_metric_can_be_limited_from_either_side(limit: dict[str, float], kept: str, reason: str) -> None:
    """Limits are inclusive; the reason names the figure, and an unknown one meets none."""
    filters = Filters(limits=(Limit(criterion=named("p50_ms"), **limit),))
    frame = chosen([{"p50_ms": 1.0}, {"p50_ms": 0.1}, {"p50_ms": None}], filters)
    assert order(frame) == kept
    told = dict(frame.select("skill_id", "reasons").iter_rows())
    assert told["c"] == ["p50_ms is not known"] * len(limit)
    assert told["b" if kept == "a" else "a"] == [reason]
    assert "limits.p50_ms" in frame.filter(skill_id="c")["removed_by"].item().to_list()


def test_the_front_of_quality_latency_and_cost_is_marked_and_leaves_nobody_out() -> None:
    """What nobody knows decides nothing: without any price, two criteria make the front."""
    rows = [
        {"completion_rate": 0.9, "p95_ms": 50.0},
        {"completion_rate": 0.8, "p95_ms": 10.0},
        {"p95_ms": 60.0},
    ]
    frame = chosen(rows)
    assert order(frame) == "abc"
    assert frame.select("skill_id", "on_front", "dominated_by").rows() == [
        ("a", True, []),
        ("b", True, []),
        ("c", False, ["a", "b"]),
    ]


def test_only_the_front_is_taken_where_that_is_asked_for() -> None:
    """Who is beaten is told by whom; a criterion that is not known is a reason too; the filtered beat nobody."""
    rows = [
        {"completion_rate": 0.9, "p95_ms": 50.0},
        {"completion_rate": 0.8, "p95_ms": 60.0},
        {"completion_rate": 1.0, "p95_ms": None},
        {"completion_rate": 1.0, "p95_ms": 1.0, "error_rate": 1.0},
    ]
    frame = chosen(rows, Filters(max_error_rate=0.5), pareto=(named("completion_rate"), named("p95_ms")))
    assert order(frame) == "a"
    told = dict(frame.select("skill_id", "reasons").iter_rows())
    assert told["b"] == ["beaten by a: nowhere better, somewhere worse"]
    assert told["c"] == ["p95_ms is not known"]
    removed = dict(frame.select("skill_id", "removed_by").iter_rows())
    assert removed == {"a": [], "b": ["pareto"], "c": ["pareto"], "d": ["maxErrorRate"]}


def test_the_usual_front_needs_no_cost_that_nobody_knows() -> None:
    """`pareto: true` names no criterion, so one without any figure decides nothing; by name it is a reason."""
    rows = [{"completion_rate": 0.9, "p95_ms": 50.0}, {"completion_rate": 0.8, "p95_ms": 60.0}]
    usual = tuple(named(name) for name in USUAL_FRONT)
    assert order(chosen(rows, pareto=usual)) == "a"
    assert order(chosen(rows, pareto=(named("completion_rate"), named("usd_per_trial")))) == ""


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("completion_rat", "did you mean completion_rate?"),
        ("completion_rate.lower", "completion_rate has no such bound here"),
        ("p95_ms.low", "p95_ms has no such bound here"),
    ],
)
def test_what_is_no_criterion_is_refused(name: str, hint: str) -> None:
    """The nearest one is named."""
    with pytest.raises(ConfigError) as caught:
        named(name)
    assert caught.value.problems[0].hint == hint


def test_every_criterion_is_a_column_of_the_summary_or_made_of_one(
    summary_row: Callable[..., dict[str, Any]],
) -> None:
    """A metric that is renamed cannot be forgotten here."""
    row = summary_row([[1.0, 0.0], [1.0, 1.0]])
    assert set(COLUMNS) <= set(row)
