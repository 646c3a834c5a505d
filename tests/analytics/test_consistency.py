from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.consistency import repeat_rate_mean, repeat_rate_sd
from skilleval.analytics.grains import summarise_outcomes
from skilleval.analytics.metric import summarise
from skilleval.analytics.outcomes import trial_outcomes

SummaryRow = Callable[..., dict[str, Any]]
Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]

FOUR_BY_THREE = [[1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]]


def test_four_tasks_by_three_repeats(summary_row: SummaryRow) -> None:
    """Rates 0.75, 0.5, 0.5 give consistency 0.882149; two of four tasks flip, on average by 1/3."""
    row = summary_row(FOUR_BY_THREE)
    assert row["consistency"] == pytest.approx(0.882149, abs=5e-7)
    assert row["flip_rate"] == pytest.approx(1 / 3)
    assert row["n_flaky_tasks"] == 2


def test_three_passes_of_five_flip_at_0_6(summary_row: SummaryRow) -> None:
    """For n = 5 and c = 3 the flip rate is 0.6."""
    assert summary_row([[1, 1, 1, 0, 0]])["flip_rate"] == pytest.approx(0.6)


def test_es12_tasks_that_flip_in_step_are_seen_by_the_flip_rate(summary_row: SummaryRow) -> None:
    """Two tasks that alternate keep every repeat at one half, and still both are flaky."""
    row = summary_row([[1, 0, 1, 0], [0, 1, 0, 1]])
    assert row["consistency"] == 1.0
    assert (row["n_flaky_tasks"], row["flip_rate"]) == (2, pytest.approx(2 / 3))


def test_one_repeat_says_nothing_of_stability(summary_row: SummaryRow) -> None:
    """Below two repeats every measure of stability is null, not perfect."""
    row = summary_row([[1], [0]])
    measures = ("consistency", "repeat_rate_sd_ddof0", "repeat_rate_sd_ddof1", "n_flaky_tasks", "flip_rate")
    assert [row[name] for name in measures] == [None] * 5


def test_a_repeat_without_a_verdict_is_no_repeat(summary_row: SummaryRow) -> None:
    """Where only one repeat was graded there is no spread between repeats."""
    row = summary_row([[1, "provider_error"], [0, "provider_error"]])
    assert (row["n_repeats"], row["consistency"], row["flip_rate"]) == (2, None, None)


def test_stable_tasks_do_not_flip(summary_row: SummaryRow) -> None:
    """All repeats alike give flip rate 0, no flaky task and consistency 1."""
    row = summary_row([[1, 1], [0, 0]])
    assert (row["flip_rate"], row["n_flaky_tasks"], row["consistency"]) == (0.0, 0, 1.0)


def test_the_same_repeat_of_two_runs_is_two_repeats(grid: Grid) -> None:
    """Runs read together add repeats instead of melting into one."""
    first, second = grid([[1], [1]]), grid([[0], [1]], run_id="q")
    scores = pl.concat([first[1], second[1].with_columns(run_id=pl.lit("q"))])
    outcomes = trial_outcomes(pl.concat([first[0], second[0]]), scores)
    metrics = [repeat_rate_mean(), repeat_rate_sd(0)]
    found = summarise_outcomes(outcomes, by=["scorer"], metrics=metrics).collect()
    assert found.row(0) == ("exact", pytest.approx(0.75), pytest.approx(0.25))


def test_c40_a_spread_names_its_ddof(case: Callable[[str], Any]) -> None:
    """Four rates have mean 0.051175 and SD 0.018019 (ddof 0) or 0.020807 (ddof 1), each in its own column."""
    rates = case("C40")["per_run_rates"]
    rows = pl.LazyFrame({"repeat_passed": rates}).with_columns(
        repeat_graded=pl.lit(1.0), is_first_of_repeat=pl.lit(value=True), skill_id=pl.lit("s")
    )
    metrics = [repeat_rate_mean(), repeat_rate_sd(0), repeat_rate_sd(1)]
    found = summarise(rows, by=["skill_id"], metrics=metrics).collect().row(0, named=True)
    assert found["repeat_rate_mean"] == pytest.approx(0.051175, abs=5e-7)
    assert found["repeat_rate_sd_ddof0"] == pytest.approx(0.018019, abs=5e-7)
    assert found["repeat_rate_sd_ddof1"] == pytest.approx(0.020807, abs=5e-7)
