from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.weightstats import ttost_paired

from skilleval.analytics.equivalence import (
    detectable,
    few_moved_p,
    tasks_for,
    tasks_that_decide,
    tost_p,
)


def value(expr: pl.Expr) -> Any:
    """Evaluate an expression of literals."""
    return pl.select(expr).item()


def lit(number: float | None) -> pl.Expr:
    """Give a number as an expression."""
    return pl.lit(number, dtype=pl.Float64)


def test_the_worked_sizes() -> None:
    """200 tasks with sd 0.45 find 0.089146; a change of 0.05 needs 635.76 tasks."""
    assert value(detectable(lit(0.45), lit(200), level=0.95)) == pytest.approx(0.089146, abs=1e-6)
    assert value(tasks_for(lit(0.45), lit(0.05), level=0.95)) == pytest.approx(635.76, abs=5e-3)
    assert value(detectable(lit(0.0), lit(200), level=0.95)) is None


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-0.2, 0.2), min_size=3, max_size=20).filter(lambda d: np.std(d) > 1e-3))
def test_statsmodels_agrees(differences: list[float]) -> None:
    """Two one-sided tests equal those of statsmodels."""
    d = np.asarray(differences)
    se = d.std(ddof=1) / np.sqrt(len(d))
    found = value(tost_p(lit(d.mean()), lit(se), lit(len(d) - 1), lit(0.05)))
    assert found == pytest.approx(float(ttost_paired(d, np.zeros(len(d)), -0.05, 0.05)[0]), abs=1e-12)


def test_no_interval_gives_no_t_test() -> None:
    """Without a standard error nothing is claimed."""
    assert value(tost_p(lit(0.0), lit(None), lit(9), lit(0.05))) is None


def test_tasks_that_do_not_move_are_counted() -> None:
    """None of 59 that moved rules out that 5 % do; none of 58 does not: 0.95^59 is below 0.05."""
    assert value(few_moved_p(lit(0), lit(59), lit(0.05))) == pytest.approx(0.95**59)
    assert 0.95**59 <= 0.05 < value(few_moved_p(lit(0), lit(58), lit(0.05)))


def decided(**given_: float) -> int:
    """Say how many tasks decide."""
    names = ("mean", "sd", "n", "n_moved", "margin")
    found: int = value(
        tasks_that_decide(
            **{name: lit(given_[name]) for name in names},
            level=given_.get("level", 0.95),
            n_compared=lit(given_.get("n_compared", 1)),
        )
    )
    return found


def test_the_nearer_decision_counts() -> None:
    """No difference is decided by showing that it is within the margin, a large one by telling it from zero."""
    still = decided(mean=0.0, sd=0.45, n=100, n_moved=40, margin=0.05)
    assert still == 636
    assert decided(mean=0.05, sd=0.45, n=100, n_moved=40, margin=0.05) == 636
    assert decided(mean=-0.1, sd=0.45, n=100, n_moved=40, margin=0.05) == 159
    assert decided(mean=0.025, sd=0.45, n=100, n_moved=40, margin=0.05) == 2544


def test_where_nothing_moves_the_margin_alone_says_how_many() -> None:
    """59 tasks that do not move leave no room for 5 %."""
    assert decided(mean=0.0, sd=0.0, n=20, n_moved=0, margin=0.05) == 59


def test_few_that_moved_are_too_few_for_signs() -> None:
    """Two of 41 moved: six have to, so 123 tasks are needed at least."""
    assert decided(mean=-0.05, sd=0.0, n=41, n_moved=2, margin=0.05) == 123


def test_a_stricter_level_asks_for_more_signs() -> None:
    """At level 0.99 all six of six that moved have p = 0.03125: eight are needed, for 2 / 2^8 is below 0.01."""
    assert decided(mean=-1.0, sd=0.0, n=6, n_moved=6, margin=0.05) == 6
    assert decided(mean=-1.0, sd=0.0, n=6, n_moved=6, margin=0.05, level=0.99) == 8


def test_many_comparisons_ask_for_more_tasks() -> None:
    """Beside nine others a change is told from zero by a tenth of the level, but lies within the margin as before."""
    assert decided(mean=-1.0, sd=0.0, n=6, n_moved=6, margin=0.05, n_compared=10) == 9
    alone = decided(mean=-0.1, sd=0.45, n=100, n_moved=40, margin=0.05)
    quantiles = norm.ppf(1 - 0.05 / 20) + norm.ppf(0.8)
    among = decided(mean=-0.1, sd=0.45, n=100, n_moved=40, margin=0.05, n_compared=10)
    assert (alone, among) == (159, math.ceil((quantiles * 0.45 / 0.1) ** 2))
    assert decided(mean=0.0, sd=0.45, n=100, n_moved=40, margin=0.05, n_compared=10) == 636
