from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skilleval.analytics.effects import MEASURES, effects
from skilleval.analytics.regression import condition_pairs
from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.task_pairs import task_pairs
from skilleval.analytics.task_results import task_results

Frames = tuple[pl.LazyFrame, pl.LazyFrame]
Grid = Callable[..., Frames]
Spec = Callable[..., AnalysisSpec]

HIGH = [9, 8, 10, 6, 7, 10, 5, 9, 8, 4]
LOW = [8, 8, 9, 5, 7, 9, 5, 7, 8, 3]


def tenths(passes: Sequence[int]) -> list[list[int]]:
    """Give ten repeats a task of which so many passed: rates as the fact sheet has them."""
    return [[1] * n + [0] * (10 - n) for n in passes]


def rows(
    before: Frames, after: Frames, spec: AnalysisSpec, margin: float = 0.02
) -> dict[str, dict[str, Any]]:
    """Compare two runs of one skill; give the row of each metric."""
    sides = [task_results(*frames, spec=spec) for frames in (before, after)]
    tasks = task_pairs(condition_pairs(*sides), *sides)
    found = effects(tasks, margin=margin, level=spec.level, seed=0).collect().to_dicts()
    return {row["metric"]: row for row in found}


def test_the_worked_pairs(grid: Grid, spec: Spec) -> None:
    """0.07 [0.021717, 0.118283], p 0.03125; reversed it is a regression, confirmed beyond a margin of 0.02."""
    better = rows(grid(tenths(LOW)), grid(tenths(HIGH)), spec())["completion_rate"]
    assert better["effect"] == pytest.approx(0.07)
    assert [better["low"], better["high"]] == pytest.approx([0.021717, 0.118283], abs=1e-6)
    assert (better["p_value"], better["p_method"]) == (0.03125, "sign flips, exact")
    assert (better["n_better"], better["n_same"], better["n_worse"]) == (6, 4, 0)
    assert (better["change"], better["is_confirmed"]) == ("improved", False)
    worse = rows(grid(tenths(HIGH)), grid(tenths(LOW)), spec())["completion_rate"]
    assert [worse["low"], worse["high"]] == pytest.approx([-0.118283, -0.021717], abs=1e-6)
    assert (worse["change"], worse["is_confirmed"]) == ("regressed", True)
    within = rows(grid(tenths(HIGH)), grid(tenths(LOW)), spec(), margin=0.05)["completion_rate"]
    assert (within["change"], within["is_confirmed"]) == ("regressed", False)


def test_scipy_agrees_on_the_interval(grid: Grid, spec: Spec) -> None:
    """The interval is that of SciPy's paired t test."""
    row = rows(grid(tenths(LOW)), grid(tenths(HIGH)), spec())["completion_rate"]
    expected = stats.ttest_rel(np.array(HIGH) / 10, np.array(LOW) / 10).confidence_interval(0.95)
    assert [row["low"], row["high"]] == pytest.approx([expected.low, expected.high])


def test_effect_sizes_are_the_worked_ones(grid: Grid, spec: Spec) -> None:
    """From 0.55 to 0.70: Cohen's h 0.311349, and a third of what was left is gained."""
    before = [[1]] * 11 + [[0]] * 9
    after = [[1]] * 14 + [[0]] * 6
    row = rows(grid(before), grid(after), spec())["completion_rate"]
    assert row["cohens_h"] == pytest.approx(0.311349, abs=1e-6)
    assert row["gain"] == pytest.approx(1 / 3)


def test_one_repeat_has_mcnemar_and_several_have_not(grid: Grid, spec: Spec) -> None:
    """Nine tasks fixed and two broken, each tried once, give the worked 0.06543; with repeats there is no such p."""
    before = [[1]] * 2 + [[0]] * 9 + [[1]] * 4
    after = [[0]] * 2 + [[1]] * 9 + [[1]] * 4
    row = rows(grid(before), grid(after), spec())["completion_rate"]
    assert row["mcnemar_exact"] == pytest.approx(0.06543, abs=1e-6)
    assert row["odds_ratio"] == 4.5
    twice = rows(grid([one * 2 for one in before]), grid([one * 2 for one in after]), spec())
    assert twice["completion_rate"]["mcnemar_exact"] is None


def test_a_run_and_itself_do_not_differ(grid: Grid, spec: Spec) -> None:
    """No task moved: unchanged, p 1, no interval; about 39 more tasks would rule out 5 pp."""
    frames = grid([[1, 0], [1, 1]] * 10, latency_ms=20.0)
    found = rows(frames, frames, spec(), margin=0.05)
    row = found["completion_rate"]
    assert (row["change"], row["effect"], row["p_value"], row["low"]) == ("unchanged", 0.0, 1.0, None)
    assert row["n_more"] == 39
    assert found["latency_ms"]["effect"] == 1.0
    assert set(found) == {"completion_rate", "latency_ms"}


def test_many_tasks_that_stay_are_equivalent(grid: Grid, spec: Spec) -> None:
    """Of 60 tasks none moved: no more than 5 % can; of 59 with one that moved that is not shown."""
    still = [[1]] * 60
    assert rows(grid(still), grid(still), spec(), margin=0.05)["completion_rate"]["change"] == "equivalent"
    moved = [[0], *still[1:]]
    row = rows(grid(still), grid(moved), spec(), margin=0.05)["completion_rate"]
    assert (row["change"], row["n_worse"]) == ("inconclusive", 1)


def test_small_changes_of_many_tasks_are_equivalent_by_t(grid: Grid, spec: Spec) -> None:
    """Ten tasks move by a tenth, half of them up and half down: within ±10 pp, by two one-sided t tests."""
    before, after = [5] * 20, [6, 4] * 5 + [5] * 10
    row = rows(grid(tenths(before)), grid(tenths(after)), spec(), margin=0.1)["completion_rate"]
    assert row["equivalence_p"] == pytest.approx(
        float(stats.t.sf(0.1 / (np.std([0.1, -0.1] * 5 + [0] * 10, ddof=1) / np.sqrt(20)), 19))
    )
    assert row["change"] == "equivalent"


def test_c46_lower_latency_is_better(grid: Grid, spec: Spec) -> None:
    """Latency halved on every task is improved, ×0.5; doubled, it regressed; no margin of rates confirms that."""
    tasks = [[1]] * 8
    slow, fast = grid(tasks, latency_ms=900.0), grid(tasks, latency_ms=450.0)
    found = rows(slow, fast, spec())["latency_ms"]
    assert (found["better"], found["effect"], found["change"]) == ("lower", pytest.approx(0.5), "improved")
    assert (found["before"], found["after"], found["n_better"]) == (pytest.approx(900), pytest.approx(450), 8)
    assert rows(fast, slow, spec())["latency_ms"]["change"] == "regressed"


def test_more_errors_are_worse(grid: Grid, spec: Spec) -> None:
    """An error rate that rose regressed, although its difference is positive."""
    found = rows(grid([[1]] * 8), grid([["skill_error"]] * 8), spec())["error_rate"]
    assert (found["effect"], found["change"], found["n_worse"]) == (1.0, "regressed", 8)


def test_ratios_are_geometric_means_of_task_ratios(trials_of: Any, scores_of: Any, spec: Spec) -> None:
    """One task twice as slow and one twice as fast are ×1; a price of 0 has no ratio."""

    def run(latencies: Sequence[float], cost: float) -> Frames:
        trials = [
            {"skill_id": "s", "task_id": f"t{i}", "latency_ms": ms, "cost_usd": cost, "total_tokens": 10}
            for i, ms in enumerate(latencies)
        ]
        return trials_of(trials), scores_of(
            [{"trial_id": f"s/t{i}/0", "score": 1} for i in range(len(trials))]
        )

    found = rows(run([100, 200], 0.0), run([200, 100], 0.5), spec())
    assert found["latency_ms"]["effect"] == pytest.approx(1.0)
    assert found["tokens"]["effect"] == 1.0
    assert "cost_usd" not in found


def test_partial_scores_have_a_row_where_they_say_more(grid: Grid, spec: Spec) -> None:
    """Scores of 0.5 that fail differ from the completion rate; scores that are verdicts do not."""
    assert "partial_score" in rows(grid([[0.5]] * 3), grid([[0.6]] * 3), spec())
    assert "partial_score" not in rows(grid([[1.0]] * 3), grid([[0.0]] * 3), spec())


def test_p_values_are_adjusted_over_all_quality_rows(grid: Grid, spec: Spec) -> None:
    """Two metrics of answers count as two tests, latency as one of another family."""
    before = grid([[0.5]] * 8, latency_ms=10.0)
    after = grid([[1.0]] * 8, latency_ms=20.0)
    found = rows(before, after, spec())
    assert found["completion_rate"]["p_holm"] == pytest.approx(2 * found["completion_rate"]["p_value"])
    assert found["latency_ms"]["p_holm"] == found["latency_ms"]["p_value"] == pytest.approx(2 / 2**8)


def test_unequal_consistency_is_marked_where_p_is_small(grid: Grid, spec: Spec) -> None:
    """Repeats that always agree against repeats that do not: a small p may come by chance."""
    before, after = [[1, 1, 1, 1]] * 8, [[1, 0, 1, 0]] * 8
    assert rows(grid(before), grid(after), spec())["completion_rate"]["is_unequal"]
    assert not rows(grid(before), grid([[0, 0, 0, 0]] * 8), spec())["completion_rate"]["is_unequal"]


def test_infrastructure_is_nobodys_failure(grid: Grid, spec: Spec) -> None:
    """A task that the provider spoiled is left out, and counts as no loss."""
    found = rows(grid([[1], [1]]), grid([[1], ["provider_error"]]), spec())["completion_rate"]
    assert (found["n_tasks"], found["n_worse"]) == (1, 0)


RATES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=9)


@settings(max_examples=8, deadline=None)
@given(RATES)
def test_the_roles_exchanged_change_every_sign(grid: Grid, spec: Spec, pairs: list[tuple[int, int]]) -> None:
    """What regressed one way improved the other way; p and widths stay."""
    one, other = (grid(tenths(side)) for side in zip(*pairs, strict=True))
    there = rows(one, other, spec())["completion_rate"]
    back = rows(other, one, spec())["completion_rate"]
    assert back["effect"] == pytest.approx(-there["effect"])
    assert back["p_value"] == pytest.approx(there["p_value"])
    assert (back["n_better"], back["n_worse"]) == (there["n_worse"], there["n_better"])
    mirrored = {"regressed": "improved", "improved": "regressed"}
    assert back["change"] == mirrored.get(there["change"], there["change"])
    if there["low"] is not None:
        assert [back["low"], back["high"]] == pytest.approx([-there["high"], -there["low"]])


def test_every_measure_says_which_way_is_better() -> None:
    """No metric is left to guess."""
    assert {measure.name: measure.better for measure in MEASURES} == {
        "completion_rate": "higher",
        "partial_score": "higher",
        "error_rate": "lower",
        "latency_ms": "lower",
        "tokens": "lower",
        "cost_usd": "lower",
    }


def test_drawn_p_values_are_the_same_in_both_directions(grid: Grid, spec: Spec) -> None:
    """More tasks moved than can be tried in full: with the roles exchanged every p is still the same."""
    one = grid([[(3 * i) % 11 / 10] for i in range(40)])
    other = grid([[(7 * i + 2) % 11 / 10] for i in range(40)])
    there, back = (rows(*sides, spec())["partial_score"] for sides in ((one, other), (other, one)))
    assert there["p_method"] == "sign flips, 10,000 seeded draws"
    assert (there["p_value"], there["p_holm"]) == (back["p_value"], back["p_holm"])


def test_two_tasks_could_not_have_found_anything(grid: Grid, spec: Spec) -> None:
    """A difference of shares never exceeds 1: where only a larger one would be found, the smallest one is not known."""
    row = rows(grid([[1], [0]]), grid([[0], [0]]), spec())["completion_rate"]
    assert row["detectable"] is None
    many = rows(grid([[1]] * 8 + [[0]] * 8), grid([[0]] * 16), spec())["completion_rate"]
    assert many["detectable"] == pytest.approx(0.361683, abs=1e-6)


def test_bounds_of_ratios_are_numbers_however_wide(grid: Grid, spec: Spec) -> None:
    """Where one of two tasks took longer by many powers of ten, the bounds are still positive and finite."""
    before, after = (
        (trials.with_columns(latency_ms=pl.Series([slow, 1.0])), scores)
        for slow, (trials, scores) in ((1e-9, grid([[1], [1]])), (1e60, grid([[1], [1]])))
    )
    row = rows(before, after, spec())["latency_ms"]
    assert 0 < row["low"] < row["effect"] < row["high"] < float("inf")
