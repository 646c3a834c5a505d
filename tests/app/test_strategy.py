from __future__ import annotations

from pathlib import Path

import pytest

from skilleval.analytics.selection import Filters, SelectionSpec, SortKey
from skilleval.app.strategy import read_strategy, with_options
from skilleval.errors import ConfigError, SkillevalError

ALL = SelectionSpec(filters=Filters(), sort_by=SortKey.COMPLETION_RATE)


def strategy(folder: Path, text: str, name: str = "strategy.yaml") -> SelectionSpec:
    """Write a strategy and read it."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_strategy(path)


def test_our_own_keys_are_read(tmp_path: Path) -> None:
    """A bound to rank by, limits on any metric, and the front of criteria of one's own."""
    spec = strategy(
        tmp_path,
        "rank_by: completion_rate.low\n"
        "limits: {consistency: {min: 0.9}, usd_per_trial: {max: 0.02, min: 0.0}}\n"
        "pareto: [completion_rate, p95_ms]\n",
    )
    assert spec.rank_by is not None
    assert (spec.rank_by.column, spec.is_descending, spec.order_name) == (
        "ci_low",
        True,
        "completion_rate.low",
    )
    limits = [(one.criterion.name, one.at_least, one.at_most) for one in spec.filters.limits]
    assert limits == [("consistency", 0.9, None), ("usd_per_trial", 0.0, 0.02)]
    assert [(one.name, one.best_is_low) for one in spec.pareto] == [
        ("completion_rate", False),
        ("p95_ms", True),
    ]


def test_weights_order_by_merit_the_best_first(tmp_path: Path) -> None:
    """However many criteria are better when low: merit is better when high."""
    spec = strategy(tmp_path, '{"weights": {"completion_rate": 3, "p95_ms": 1}}', "strategy.json")
    assert [(one.name, weight) for one, weight in spec.weights] == [("completion_rate", 3), ("p95_ms", 1)]
    assert (spec.order_name, spec.is_descending) == ("merit", True)


@pytest.mark.parametrize(
    ("text", "names"), [("true", ["completion_rate", "p95_ms", "usd_per_trial"]), ("false", [])]
)
def test_the_usual_front_needs_no_list(tmp_path: Path, text: str, names: list[str]) -> None:
    """`true` is quality × latency × cost; `false` is as if nothing stood there."""
    assert [one.name for one in strategy(tmp_path, f"pareto: {text}\n").pareto] == names


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("rank_by: completionrate", "rank_by", "did you mean completion_rate?"),
        ("weights: {p95: 1}", "weights.p95", "did you mean p95_ms?"),
        ("weights: {p95_ms: 0}", "weights.p95_ms", ""),
        ("weights: {p95_ms: .inf}", "weights.p95_ms", ""),
        ("weights: {}", "weights", ""),
        ("limits: {p95_ms: {most: 3}}", "limits.p95_ms.most", "known: max, min"),
        ("limits: {p95_ms: {}}", "limits.p95_ms", ""),
        ("limits: {p95_ms: {max: .nan}}", "limits.p95_ms.max", ""),
        ("limits: {completion_rate: {min: 80}}", "limits.completion_rate.min", "80 % is 0.8"),
        ("limits: {error_rate: {max: -0.1}}", "limits.error_rate.max", ""),
        ("pareto: [p95_ms]", "pareto", ""),
        ("pareto: [p95_ms, speeds]", "pareto[1]", "did you mean speed?"),
        ("sortBy: latency\nrank_by: p95_ms", "rank_by", ""),
        ("rankBy: p95_ms", "rankBy", "did you mean rank_by?"),
    ],
)
def test_a_wrong_wish_is_refused_with_the_place(tmp_path: Path, text: str, key: str, hint: str) -> None:
    """Unknown metrics get the nearest right one, and two orders are one too many."""
    with pytest.raises(ConfigError) as caught:
        strategy(tmp_path, text)
    problem = caught.value.problems[0]
    assert (problem.where, problem.key, problem.hint) == (str(tmp_path / "strategy.yaml"), key, hint)


@pytest.mark.parametrize("name", ["strategy.yaml", "strategy.yml", "strategy.json"])
def test_a_strategy_is_read_from_yaml_or_json(tmp_path: Path, name: str) -> None:
    """Every key of the file takes effect; JSON is YAML too."""
    path = tmp_path / name
    path.write_text(
        '{"filters": {"minCompletionRate": 0.8, "maxErrorRate": 0.05, "maxLatencyP95Ms": 900, '
        '"adapterTypes": ["http"], "requiredTags": ["length"]}, "sortBy": "compositeScore", "order": "asc", "topK": 3}'
    )
    limits = Filters(
        min_completion_rate=0.8,
        max_error_rate=0.05,
        max_latency_p95_ms=900,
        adapter_types=("http",),
        required_tags=("length",),
    )
    assert read_strategy(path) == SelectionSpec(
        filters=limits, sort_by=SortKey.COMPOSITE_SCORE, descending=False, top_k=3
    )


@pytest.mark.parametrize("text", ["", "sortBy: completionRate\n", "topK: 0\n", "filters: {}\n"])
def test_what_a_strategy_leaves_out_asks_for_nothing(tmp_path: Path, text: str) -> None:
    """A file without filters is fine; 0 takes all."""
    path = tmp_path / "strategy.yaml"
    path.write_text(text)
    assert read_strategy(path) == read_strategy(None) == ALL


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("filter: {}", "filter", "did you mean filters?"),
        ("filters: {minCompletion: 0.5}", "filters.minCompletion", "did you mean minCompletionRate?"),
        ("filters: {minCompletionRate: 1.5}", "filters.minCompletionRate", ""),
        ("filters: {minCompletionRate: .nan}", "filters.minCompletionRate", ""),
        ("filters: {maxLatencyP95Ms: .inf}", "filters.maxLatencyP95Ms", ""),
        ("filters: {minCompletionRate: high}", "filters.minCompletionRate", ""),
        ("sortBy: latencies", "sortBy", "did you mean latency?"),
        ("topK: -1", "topK", ""),
        ("topK: 1.5", "topK", ""),
    ],
)
def test_es15_a_wrong_strategy_is_refused_with_the_place(
    tmp_path: Path, text: str, key: str, hint: str
) -> None:
    """Unknown keys get the nearest right one; numbers that compare with nothing are refused."""
    path = tmp_path / "strategy.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_strategy(path)
    (problem,) = caught.value.problems
    assert (problem.where, problem.key, problem.hint) == (str(path), key, hint)


@pytest.mark.parametrize(
    ("name", "text"), [("a.yaml", "- 1"), ("a.yaml", "a: ["), ("a.json", "{"), ("no.yaml", None)]
)
def test_what_is_no_strategy_is_refused(tmp_path: Path, name: str, text: str | None) -> None:
    """A list, broken YAML, broken JSON and no file at all."""
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(SkillevalError):
        read_strategy(tmp_path / name)


def test_options_win_over_the_strategy() -> None:
    """A threshold and a number on the command line take the place of those in the file."""
    spec = SelectionSpec(filters=Filters(min_completion_rate=0.9), sort_by=SortKey.LATENCY, top_k=3)
    assert with_options(spec, min_completion=None, top_k=None) == spec
    changed = with_options(spec, min_completion=0.0, top_k=0)
    assert (changed.filters.min_completion_rate, changed.top_k, changed.sort_by) == (
        0.0,
        None,
        SortKey.LATENCY,
    )
