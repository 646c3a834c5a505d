"""Rules of a gate: which rows they are about, what they compare, and what a missing figure means."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.analytics.gates import TOLERANCE, Bound, Rule, covered, threshold_checks
from skilleval.errors import ConfigError

ROWS = pl.LazyFrame(
    {
        "skill_id": ["alpha", "alpha", "beta"],
        "skill_version": ["1", "1", "2"],
        "condition_id": ["c1", "c1", "c2"],
        "scorer": ["exact", "judge", "exact"],
        "completion_rate": [0.9, 0.5, None],
        "ci_low": [0.7, 0.3, None],
        "ci_high": [1.0, 0.7, None],
        "ci_method": ["t", "t", "no interval: fewer than two tasks have a verdict"],
        "p95_ms": [100.0, 500.0, float("nan")],
        "n_tasks": [10, 10, 1],
    }
)


def verdicts(rule: Rule) -> dict[tuple[str, str], str]:
    """Give the verdict of each row a rule is about."""
    rows = threshold_checks(ROWS, rule).collect().to_dicts()
    return {(row["skill_id"], row["scorer"]): row["verdict"] for row in rows}


def test_a_threshold_is_held_against_every_row() -> None:
    """Without a limitation a rule asks of each condition and scorer; what is not known fails."""
    found = verdicts(Rule(metric="completion_rate", at_least=0.9))
    assert found == {
        ("alpha", "exact"): "passed",
        ("alpha", "judge"): "failed",
        ("beta", "exact"): "failed",
    }


def test_what_is_missing_is_skipped_where_the_rule_says_so() -> None:
    """`missing: skip` asks nothing of a row whose figure is not known; NaN is not known either."""
    rule = Rule(metric="p95_ms", at_most=500, skips_missing=True)
    assert verdicts(rule)["beta", "exact"] == "skipped"


def test_margins_are_positive_on_the_good_side() -> None:
    """A margin says how far a figure may still move, whichever side is good."""
    least = threshold_checks(ROWS, Rule(metric="completion_rate", at_least=0.6)).collect()["margin"]
    most = threshold_checks(ROWS, Rule(metric="p95_ms", at_most=300)).collect()["margin"]
    assert least.to_list() == pytest.approx([0.3, -0.1, None])
    assert most.to_list() == pytest.approx([200, -200, None])


def test_a_missing_figure_says_why() -> None:
    """The reason of the summary is told, where it has one."""
    low = threshold_checks(ROWS, Rule(metric="completion_rate", at_least=0.1, bound=Bound.LOW)).collect()
    plain = threshold_checks(ROWS, Rule(metric="p95_ms", at_most=1)).collect()
    assert low["reason"][2] == "no interval: fewer than two tasks have a verdict"
    assert plain["reason"].to_list() == [None, None, "p95_ms is not known"]


def test_a_bound_is_an_end_of_the_interval() -> None:
    """A rule on the low end passes only where the whole interval clears the bar."""
    assert (
        verdicts(Rule(metric="completion_rate", at_least=0.7, bound=Bound.LOW))["alpha", "exact"] == "passed"
    )
    assert (
        verdicts(Rule(metric="completion_rate", at_least=0.71, bound=Bound.LOW))["alpha", "exact"] == "failed"
    )
    assert (
        verdicts(Rule(metric="completion_rate", at_most=0.7, bound=Bound.HIGH))["alpha", "judge"] == "passed"
    )


@pytest.mark.parametrize(
    ("skill", "scorer", "n"),
    [
        ("alpha", "*", 2),
        ("a*", "ex?ct", 1),
        ("[ab]*", "*", 0),
        ("*a", "*", 3),
        ("alph", "*", 0),
        ("?eta", "*", 1),
    ],
)
def test_globs_know_stars_and_question_marks_alone(skill: str, scorer: str, n: int) -> None:
    """A glob fits the whole name; any other character stands for itself."""
    assert len(verdicts(Rule(metric="p95_ms", at_most=1, skill=skill, scorer=scorer))) == n


@given(
    parts=st.lists(st.integers(min_value=0, max_value=1000), min_size=1, max_size=40),
    order=st.randoms(use_true_random=False),
)
def test_no_verdict_depends_on_the_order_of_a_sum(parts: list[int], order: Any) -> None:
    """A figure that is the limit but for rounding keeps a rule, whichever side it is on."""
    terms = [part / 1000 for part in parts]
    limit = math.fsum(terms)
    order.shuffle(terms)
    rows = ROWS.head(1).with_columns(p95_ms=pl.lit(sum(terms)))
    for rule in (Rule(metric="p95_ms", at_most=limit), Rule(metric="p95_ms", at_least=limit)):
        assert threshold_checks(rows, rule).collect()["verdict"].to_list() == ["passed"]


def test_the_tolerance_hides_no_difference_that_counts() -> None:
    """What misses by more than the tolerance fails."""
    rows = ROWS.head(1).with_columns(completion_rate=pl.lit(0.7 - 10 * TOLERANCE))
    found = threshold_checks(rows, Rule(metric="completion_rate", at_least=0.7)).collect()
    assert found["verdict"].to_list() == ["failed"]


@pytest.mark.parametrize(
    ("rule", "key", "said"),
    [
        (Rule(metric="complation_rate", at_least=1), "metric", "did you mean completion_rate?"),
        (Rule(metric="skill_id", at_least=1), "metric", "known: "),
        (Rule(metric="p95_ms", at_most=1, bound=Bound.LOW), "bound", ""),
    ],
)
def test_a_rule_that_cannot_be_checked_is_refused(rule: Rule, key: str, said: str) -> None:
    """A metric that there is not, or that is no number, or that has no interval, is a mistake and not a failure."""
    with pytest.raises(ConfigError) as caught:
        threshold_checks(ROWS, rule)
    (problem,) = caught.value.problems
    assert problem.key == key
    assert problem.hint.startswith(said)


def test_tags_and_slices_choose_trials(trials_of: Callable[..., pl.LazyFrame]) -> None:
    """A tag is one of the task's own; a slice fits a glob to any text of a trial."""
    trials = trials_of(
        [
            {"task_id": "dates-1", "task_tags": ["dates", "hard"], "model": "m-small"},
            {"task_id": "dates-2", "task_tags": ["dates"], "model": None},
            {"task_id": "sums-1", "task_tags": [], "model": "m-large"},
        ]
    )

    def left(**limits: Any) -> list[str]:
        rule = Rule(metric="p95_ms", at_most=1, **limits)
        return covered(trials, rule).collect()["task_id"].to_list()

    assert left() == ["dates-1", "dates-2", "sums-1"]
    assert left(tag="hard") == ["dates-1"]
    assert left(slice={"task_id": "dates-*"}) == ["dates-1", "dates-2"]
    assert left(slice={"model": "m-*"}) == ["dates-1", "sums-1"]
    assert left(tag="dates", slice={"model": "m-*"}) == ["dates-1"]
    with pytest.raises(ConfigError, match=r"slice\.modell"):
        left(slice={"modell": "*"})
