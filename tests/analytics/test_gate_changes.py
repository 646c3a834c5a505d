"""How much worse a metric became, and whether that may be chance."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.gate_changes import Rows, changes
from skilleval.analytics.gates import Rule, regression_checks
from skilleval.analytics.spec import AnalysisSpec
from skilleval.errors import ConfigError

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Spec = Callable[..., AnalysisSpec]

# Fact sheet, row 4: mean difference 0.07, exact p of the sign flips 0.03125.
A = [0.9, 0.8, 1, 0.6, 0.7, 1, 0.5, 0.9, 0.8, 0.4]
B = [0.8, 0.8, 0.9, 0.5, 0.7, 0.9, 0.5, 0.7, 0.8, 0.3]


def rows(grid: Grid, tasks: Any, **columns: Any) -> Rows:
    """Give the rows of one run."""
    trials, scores = grid(tasks, **columns)
    return Rows(trials=trials, scores=scores)


def check(before: Rows, after: Rows, rule: Rule, spec: AnalysisSpec) -> dict[str, Any]:
    """Give the only check of a rule."""
    found: dict[str, Any] = (
        regression_checks(changes(before, after, rule, spec=spec), rule).collect().row(0, named=True)
    )
    return found


def scored(grid: Grid, values: list[float]) -> Rows:
    """Give a run whose tasks have these scores."""
    return rows(grid, [[value] for value in values])


def test_the_change_is_the_mean_of_the_tasks(grid: Grid, spec: Spec) -> None:
    """The worked value of the fact sheet: 0.76 became 0.69, so 0.07 worse."""
    rule = Rule(metric="partial_score", is_regression=True, at_most=0.05)
    found = check(scored(grid, A), scored(grid, B), rule, spec())
    assert found["value"] == pytest.approx(0.07)
    assert found["before"] == pytest.approx(0.76)
    assert found["margin"] == pytest.approx(-0.02)
    assert (found["verdict"], found["n_tasks"], found["p_value"]) == ("failed", 10, None)


@pytest.mark.parametrize(
    ("significance", "verdict", "reason"),
    [
        (0.05, "failed", None),
        (0.03, "passed", "beyond the limit, but too few tasks changed to show it at 0.03"),
    ],
)
def test_a_significance_rules_chance_out(
    grid: Grid, spec: Spec, significance: float, verdict: str, reason: str | None
) -> None:
    """The exact p of the fact sheet, 0.03125, decides."""
    rule = Rule(metric="partial_score", is_regression=True, at_most=0.0, significance=significance)
    found = check(scored(grid, A), scored(grid, B), rule, spec())
    assert found["p_value"] == pytest.approx(0.03125)
    assert (found["verdict"], found["reason"]) == (verdict, reason)


def test_the_test_asks_about_what_lies_beyond_the_limit(grid: Grid, spec: Spec) -> None:
    """The limit is taken off each task; here against all patterns of signs, one by one."""
    rule = Rule(metric="partial_score", is_regression=True, at_most=0.02, significance=0.05)
    found = check(scored(grid, A), scored(grid, B), rule, spec())
    beyond = [one - other - 0.02 for one, other in zip(A, B, strict=True)]
    patterns = list(itertools.product((1, -1), repeat=len(beyond)))
    sums = [abs(sum(s * d for s, d in zip(signs, beyond, strict=True))) for signs in patterns]
    expected = sum(total >= abs(sum(beyond)) - 1e-9 for total in sums) / len(patterns)
    assert found["p_value"] == pytest.approx(expected)


def test_few_tasks_cannot_show_anything(grid: Grid, spec: Spec) -> None:
    """Three tasks that all broke have p = 0.25 at best, and the check says that this is why it passes."""
    rule = Rule(metric="completion_rate", is_regression=True, at_most=0.0, significance=0.05)
    found = check(rows(grid, [[1]] * 3), rows(grid, [[0]] * 3), rule, spec())
    assert (found["verdict"], found["p_value"]) == ("passed", 0.25)
    assert found["reason"] == "beyond the limit, but too few tasks changed to show it at 0.05"


def test_gains_beside_losses_may_be_chance(grid: Grid, spec: Spec) -> None:
    """Five tasks broke and three were mended: worse, but no proof of anything."""
    rule = Rule(metric="completion_rate", is_regression=True, at_most=0.0, significance=0.05)
    before, after = rows(grid, [[1]] * 5 + [[0]] * 3), rows(grid, [[0]] * 5 + [[1]] * 3)
    found = check(before, after, rule, spec())
    assert (found["verdict"], found["value"]) == ("passed", 0.25)
    assert found["reason"] == "beyond the limit, but that could be chance"


def test_only_shared_tasks_are_compared(grid: Grid, spec: Spec) -> None:
    """A task that one side lacks, or that has no verdict there, changes nothing."""
    rule = Rule(metric="completion_rate", is_regression=True, at_most=0.0)
    before, after = rows(grid, [[1], [1], [1], [None]]), rows(grid, [[1], [None], [1], [0], [0]])
    found = check(before, after, rule, spec())
    assert (found["value"], found["n_tasks"], found["verdict"]) == (0.0, 2, "passed")


def test_less_latency_is_better(grid: Grid, spec: Spec) -> None:
    """Of a latency more is worse; a relative limit is a share of the baseline."""
    fast = rows(grid, [[1]] * 4, latency_ms=100.0, isolation="trial")
    slow = rows(grid, [[1]] * 4, latency_ms=140.0, isolation="trial")
    for metric in ("p95_ms", "latency_ms"):
        rule = Rule(metric=metric, is_regression=True, at_most=0.3, relative=True)
        found = check(fast, slow, rule, spec())
        assert found["value"] == pytest.approx(0.4)
        assert (found["before"], found["after"]) == pytest.approx((100.0, 140.0))
        assert found["verdict"] == "failed"
        assert check(slow, fast, rule, spec())["verdict"] == "passed"


def test_a_share_of_nothing_is_not_known(grid: Grid, spec: Spec) -> None:
    """A baseline of 0 has no share: no worse than it passes, worse fails."""
    rule = Rule(metric="error_rate", is_regression=True, at_most=0.5, relative=True)
    calm, broken = rows(grid, [[1]] * 3), rows(grid, [["timeout"], [1], [1]])
    assert check(calm, calm, rule, spec())["verdict"] == "passed"
    found = check(calm, broken, rule, spec())
    assert (found["verdict"], found["value"]) == ("failed", None)
    assert found["reason"] == "the baseline is 0: there is no share of it"


def test_new_and_removed_skills_are_skipped(grid: Grid, spec: Spec) -> None:
    """What one side lacks cannot have become worse."""
    rule = Rule(metric="completion_rate", is_regression=True, at_most=0.0)
    before, after = rows(grid, [[1]], skill_id="old"), rows(grid, [[1]], skill_id="young")
    found = regression_checks(changes(before, after, rule, spec=spec()), rule).collect().to_dicts()
    told = {row["skill_id"]: (row["verdict"], row["reason"]) for row in found}
    assert told == {"old": ("skipped", "in the baseline only"), "young": ("skipped", "not in the baseline")}


def test_a_run_never_regresses_against_itself(grid: Grid, spec: Spec) -> None:
    """Nothing changed, whichever the metric."""
    run = rows(grid, [[1, 0], [0, 0], ["timeout", 1]], latency_ms=5.0)
    for metric in ("completion_rate", "partial_score", "error_rate", "p50_ms", "consistency", "composite"):
        rule = Rule(metric=metric, is_regression=True, at_most=0.0)
        found = check(run, run, rule, spec())
        assert (metric, found["value"], found["verdict"]) == (metric, 0.0, "passed")


@pytest.mark.parametrize(
    ("metric", "significance", "key"), [("n_tasks", None, "regression"), ("p95_ms", 0.05, "significance")]
)
def test_a_rule_without_an_answer_is_refused(
    grid: Grid, spec: Spec, metric: str, significance: float | None, key: str
) -> None:
    """A count of tasks cannot get worse, and a percentile has no test by task."""
    run = rows(grid, [[1]])
    rule = Rule(metric=metric, is_regression=True, at_most=0.0, significance=significance)
    with pytest.raises(ConfigError) as caught:
        changes(run, run, rule, spec=spec())
    assert caught.value.problems[0].key == key


def test_a_rule_pairs_conditions_as_a_comparison_does(grid: Grid, spec: Spec) -> None:
    """Another model is compared where it is the only one of both sides, and is new where there is a choice."""
    small, large = (rows(grid, [[1, 1]] * 4, model=name, condition_id=name) for name in ("small", "large"))
    rule = Rule(metric="completion_rate", is_regression=True, at_most=0.0)
    assert changes(small, large, rule, spec=spec()).collect()["side"].to_list() == ["both"]
    both = Rows(
        trials=pl.concat([small.trials, large.trials]), scores=pl.concat([small.scores, large.scores])
    )
    assert sorted(changes(small, both, rule, spec=spec()).collect()["side"]) == ["both", "new"]
