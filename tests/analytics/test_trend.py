from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from skilleval.analytics.trend import LINE_KEYS, METHOD_KEYS, numbered_lines, task_matrix


def points(*rows: dict[str, Any]) -> pl.LazyFrame:
    """Build points of one skill; a row says only what matters."""
    usual = dict.fromkeys((*LINE_KEYS, *METHOD_KEYS), "x") | {"model": None, "value": 0.5}
    made = [
        usual | {"run_id": f"r{number}", "started_at": f"2026-0{number + 1}"} | row
        for number, row in enumerate(rows)
    ]
    return pl.DataFrame(made, schema_overrides={"model": pl.String}).lazy()


def test_only_comparable_runs_share_a_line() -> None:
    """Another content of the benchmark, another scorer or other formulas begin a line; the newest line comes last."""
    rows = points({"formulas": "z"}, {}, {"benchmark_digest": "changed"}, {}, {"scorer_version": "2"})
    found = numbered_lines(rows).collect()
    assert found.select("line", "run_id").rows() == [
        (0, "r0"),
        (1, "r2"),
        (2, "r1"),
        (2, "r3"),
        (3, "r4"),
    ]


def test_of_several_conditions_in_a_run_the_lowest_counts() -> None:
    """A skill is as good as in the condition that suits it least; what is not known is not the lowest."""
    rows = points({"value": 0.9}, {"run_id": "r0", "value": 0.2}, {"run_id": "r0", "value": None})
    found = numbered_lines(rows).collect()
    assert found.select("run_id", "value").rows() == [("r0", 0.2)]


def test_a_matrix_has_a_row_a_run_and_knows_what_it_does_not_know() -> None:
    """Runs stand as asked for, tasks by name; a run or a value that is absent leaves NaN."""
    tasks = pl.DataFrame(
        [("b", "t2", 0.5), ("a", "t1", 1.0), ("b", "t1", None), ("z", "t1", 0.1)],
        schema=["run_id", "task_id", "value"],
        orient="row",
    )
    found = task_matrix(tasks, ["a", "b"])
    np.testing.assert_array_equal(found, [[1.0, np.nan], [np.nan, 0.5]])
