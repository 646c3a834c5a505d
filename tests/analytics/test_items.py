from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilleval.analytics.items import ADVICE, counted_findings, items, reliability, subject_values
from skilleval.analytics.outcomes import CONDITION_KEYS, trial_outcomes

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
SHEET = ("1111", "1110", "1100", "1000", "1111", "0000")


def values(*subjects: Sequence[float | None]) -> pl.LazyFrame:
    """Give the values of subjects on tasks that are numbered from t0 on."""
    keys: dict[str, Any] = dict.fromkeys(CONDITION_KEYS, "x") | {"model": None}
    rows = [
        keys
        | {
            "condition_id": f"c{number}",
            "task_id": f"t{task}",
            "n_graded": int(value is not None),
            "value": value,
        }
        for number, subject in enumerate(subjects)
        for task, value in enumerate(subject)
    ]
    return pl.DataFrame(rows, schema_overrides={"model": pl.String, "value": pl.Float64}).lazy()


def sheet() -> pl.LazyFrame:
    """Give the six subjects of the fact sheet."""
    return values(*([float(mark) for mark in subject] for subject in SHEET))


def only(frame: pl.LazyFrame) -> dict[str, Any]:
    """Give the only row."""
    return frame.collect().row(0, named=True)


def test_the_worked_values_of_the_sheet() -> None:
    """Rows 1111 1110 1100 1000 1111 0000: KR-20 .833333; the second item correlates with the rest by .746203."""
    row = only(reliability(sheet()))
    assert (row["alpha"], row["method"]) == (pytest.approx(0.833333, abs=5e-7), "KR-20")
    found = items(sheet()).collect()
    assert found["item_rest"][1] == pytest.approx(0.746203, abs=5e-7)
    assert found["pass_rate"].to_list() == [pytest.approx(n / 6) for n in (5, 4, 3, 2)]


@settings(max_examples=30, deadline=None)
@given(
    data=st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=4, max_size=4), min_size=3, max_size=7)
)
def test_alpha_and_item_rest_agree_with_numpy(data: list[list[float]]) -> None:
    """Cronbach's alpha and the corrected item-total correlation are those of their definitions; never NaN."""
    table = np.array(data)
    row, found = only(reliability(values(*data))), items(values(*data)).collect()
    totals = table.sum(axis=1)
    if np.ptp(totals) > 1e-9:
        expected = 4 / 3 * (1 - table.var(axis=0).sum() / totals.var())
        assert row["alpha"] == pytest.approx(expected, abs=1e-9)
    else:
        assert (row["alpha"], row["method"]) == (None, "not known: all subjects have the same total")
    for task in range(4):
        rest = totals - table[:, task]
        varies = np.ptp(rest) > 1e-9 and np.ptp(table[:, task]) > 1e-9
        correlation = float(np.corrcoef(table[:, task], rest)[0, 1]) if varies else None
        assert found["item_rest"][task] == pytest.approx(correlation, abs=1e-9)


def test_findings_say_what_to_do() -> None:
    """Dead, ungraded and contrary tasks are told apart, each with a sentence of advice; a good one has none."""
    good: list[float | None] = [0.0, 0.5, 1.0]
    contrary: list[float | None] = [1.0, 0.5, 0.0]
    columns: list[list[float | None]] = [[1.0] * 3, [0.0] * 3, [None] * 3, good, good, contrary]
    subjects = [[column[number] for column in columns] for number in range(3)]
    found = items(values(*subjects)).collect()
    findings = found["finding"].to_list()
    assert findings == ["all_pass", "all_fail", "ungraded", None, None, "negative"]
    assert found["advice"].to_list() == [ADVICE.get(finding) for finding in findings]
    assert counted_findings(findings) == {"ungraded": 1, "all_pass": 1, "all_fail": 1, "negative": 1}


def test_two_subjects_are_too_few() -> None:
    """Any two subjects correlate perfectly: below three nothing is said, and the reason is."""
    row = only(reliability(values([1.0, 0.0], [0.0, 0.0])))
    assert row["alpha"] is None
    assert row["method"] == "not known: 2 subjects have verdicts on all tasks, and those of three are needed"
    alone = only(reliability(values([1.0, 0.0])))
    assert alone["method"].startswith("not known: 1 subject has verdicts")
    assert items(values([1.0, 0.0], [0.0, 1.0])).collect()["item_rest"].null_count() == 2


def test_one_task_is_no_test() -> None:
    """Reliability is of several tasks together."""
    row = only(reliability(values([1.0], [0.0], [1.0])))
    assert row["method"] == "not known: fewer than two tasks have a verdict"


def test_a_subject_that_lacks_a_task_enters_no_correlation() -> None:
    """Subjects are compared on the same tasks; the pass rate still counts who was graded."""
    complete = [[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    found = items(values(*complete, [None, 1.0])).collect()
    alone = items(values(*complete)).collect()
    assert found["item_rest"].to_list() == alone["item_rest"].to_list()
    assert found["n_subjects"].to_list() == [3, 4]
    assert only(reliability(values(*complete, [None, 1.0])))["n_subjects"] == 3


def test_repeats_and_runs_are_no_subjects(grid: Grid) -> None:
    """The value of a subject is its mean over all repeats of all runs; what was not graded is not known."""
    first, second = grid([[1, 0], [None, None]]), grid([[1, 1], [None, "provider_error"]], run_id="q")
    scores = pl.concat([first[1], second[1].with_columns(run_id=pl.lit("q"))])
    found = subject_values(trial_outcomes(pl.concat([first[0], second[0]]), scores)).collect()
    assert found.select("task_id", "n_graded", "n_passed", "value").rows() == [
        ("t000", 4, 3, 0.75),
        ("t001", 0, 0, None),
    ]
