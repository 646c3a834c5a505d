from __future__ import annotations

import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.analytics.permutation import MAX_EXACT, sign_flip_p

WORKED = [0.1, 0.0, 0.1, 0.1, 0.0, 0.1, 0.0, 0.2, 0.0, 0.1]


def p_of(differences: list[float], seed: int = 0) -> float | None:
    """Give the p of one list of differences."""
    frame = pl.LazyFrame({"d": [differences]}, schema={"d": pl.List(pl.Float64())})
    found: float | None = frame.select(sign_flip_p(pl.col("d"), seed=seed)).collect().item()
    return found


def by_hand(differences: list[float]) -> float:
    """Try every pattern of signs, zeros too."""
    observed = abs(sum(differences)) - 1e-9
    patterns = list(itertools.product((-1, 1), repeat=len(differences)))
    extreme = [
        signs
        for signs in patterns
        if abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed
    ]
    return len(extreme) / len(patterns)


def test_the_exact_p_of_the_worked_differences() -> None:
    """Six differences of one sign and four of zero give 2 / 2^6."""
    assert p_of(WORKED) == 0.03125


@given(st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.25, 1.0]), min_size=1, max_size=8))
def test_the_exact_p_is_that_of_all_patterns(differences: list[float]) -> None:
    """Leaving zeros out and adding sums up step by step changes nothing."""
    assert p_of(differences) == pytest.approx(by_hand(differences))


def test_without_a_difference_nothing_is_shown() -> None:
    """All zero is p = 1; no difference at all has no p."""
    assert p_of([0.0, 0.0, 0.0]) == 1.0
    assert p_of([]) is None


def test_four_cases_cannot_be_significant() -> None:
    """The case is what is sampled: four wins of four are p = 1/8, two-sided."""
    assert p_of([1.0, 1.0, 1.0, 1.0]) == 0.125


def test_many_differences_are_drawn_by_the_seed() -> None:
    """Above the exact limit the p follows from the seed, is never 0, and does not depend on the order."""
    many = [0.3] * (MAX_EXACT + 1)
    assert p_of(many) == pytest.approx(1 / 10_001)
    mixed = [(-1) ** i * (0.1 + i / 100) for i in range(30)]
    assert p_of(mixed, seed=1) == p_of(mixed[::-1], seed=1)
    assert p_of(mixed, seed=1) != p_of(mixed, seed=2)
    assert p_of(mixed, seed=1) == pytest.approx(p_of(mixed, seed=2), abs=0.05)


def test_both_directions_of_a_comparison_have_one_p() -> None:
    """A drawn p does not depend on which side is the baseline."""
    mixed = [0.1 + i / 100 if i % 3 else -i / 50 - 0.01 for i in range(40)]
    assert p_of(mixed) == p_of([-difference for difference in mixed])
