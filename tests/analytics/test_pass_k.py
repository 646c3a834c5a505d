from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilleval.analytics.pass_k import pass_at_k, pass_hat_k
from skilleval.analytics.spec import AnalysisSpec

SummaryRow = Callable[..., dict[str, Any]]
Spec = Callable[..., AnalysisSpec]


def _both(n: int, c: int, k: int) -> tuple[float | None, float | None]:
    counts = pl.DataFrame({"n": [n], "c": [c]})
    found = counts.select(
        at=pass_at_k(pl.col("n"), pl.col("c"), k=k), hat=pass_hat_k(pl.col("n"), pl.col("c"), k=k)
    )
    return found["at"][0], found["hat"][0]


@pytest.mark.parametrize(("k", "at", "hat"), [(1, 0.6, 0.6), (2, 0.9, 0.3), (3, 1.0, 0.1), (5, 1.0, 0.0)])
def test_three_passes_in_five_tries(k: int, at: float, hat: float) -> None:
    """The unbiased estimates for n = 5, c = 3 have known values."""
    assert _both(5, 3, k) == pytest.approx((at, hat))


def test_more_tries_than_were_made_are_null() -> None:
    """For k > n there is no estimate: neither an exception nor a clamp."""
    assert _both(5, 5, 6) == (None, None)


@given(st.data())
def test_the_estimates_are_ratios_of_binomials(data: st.DataObject) -> None:
    """pass@k is 1 - C(n-c, k)/C(n, k) and pass^k is C(c, k)/C(n, k)."""
    n = data.draw(st.integers(1, 30))
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert _both(n, c, k) == pytest.approx((1 - comb(n - c, k) / comb(n, k), comb(c, k) / comb(n, k)))


@pytest.mark.parametrize(
    ("k", "expected"), [(1, (5 / 12, 5 / 12)), (2, (0.5, 1 / 3)), (4, (2 / 3, 1 / 3)), (8, None)]
)
def test_c41_pass_at_k_and_pass_hat_k_keep_their_names(
    summary_row: SummaryRow,
    spec: Spec,
    case: Callable[[str], Any],
    k: int,
    expected: tuple[float, float] | None,
) -> None:
    """Means over tasks for n = 4 and c = 4, 1, 0 have known values, null with a reason where k > n."""
    said = case("C41")
    assert k in said["k"]
    row = summary_row([[1] * c + [0] * (said["n"] - c) for c in said["c"]], spec(k=k))
    found = (row["k"], row["pass_at_k"], row["pass_hat_k"], row["pass_k_reason"])
    if expected is None:
        assert found == (8, None, None, "k = 8 is more than the graded trials of a task (4)")
    else:
        assert found == (k, pytest.approx(expected[0]), pytest.approx(expected[1]), None)


def test_one_task_with_too_few_trials_makes_the_mean_null(summary_row: SummaryRow, spec: Spec) -> None:
    """A mean over only those tasks that have enough trials would be of another benchmark."""
    row = summary_row([[1, 1], [1, "provider_error"]], spec(k=2))
    expected = {
        "pass_at_k": None,
        "pass_hat_k": None,
        "pass_k_reason": "k = 2 is more than the graded trials of a task (1)",
    }
    assert {key: row[key] for key in expected} == expected


def test_many_tries_can_be_asked_for(summary_row: SummaryRow, spec: Spec) -> None:
    """A large k is planned at once and is as exact as a small one."""
    row = summary_row([[1] + [0] * 299], spec(k=150))
    assert row["pass_at_k"] == pytest.approx(0.5)
