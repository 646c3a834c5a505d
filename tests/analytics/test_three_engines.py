"""The counts and rates of the summary by three roads: Polars expressions, SQL, and loops in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from skilleval.analytics.spec import AnalysisSpec
from skilleval.analytics.summary import summary

Grid = Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]
Spec = Callable[..., AnalysisSpec]

COLUMNS = (
    "n_tasks",
    "n_trials",
    "n_graded",
    "n_passed",
    "n_timeout",
    "n_infrastructure",
    "n_ungraded",
    "completion_rate",
    "completion_rate_macro",
    "completion_low",
    "completion_high",
    "error_rate",
    "infrastructure_rate",
    "partial_score",
    "flip_rate",
)
SQL = """
with rows as (
  select skill_id, task_id, status,
    status in ('provider_error', 'sandbox_error', 'unsupported', 'blocked') as spoiled,
    case when status in ('timeout', 'skill_error') then false when status = 'completed' then passed end as ok,
    case when status in ('timeout', 'skill_error') then 0.0 when status = 'completed' then score end as score
  from trials join scores using (trial_id)
), tasks as (
  select skill_id, count(ok) as n, count(*) filter (where ok) as c from rows group by skill_id, task_id
), by_task as (
  select skill_id, avg(c / n) filter (where n > 0) as macro,
    avg(2.0 * c * (n - c) / (n * (n - 1))) filter (where n > 1) as flips
  from tasks group by skill_id
)
select skill_id, count(distinct task_id), count(*), count(ok), count(*) filter (where ok),
  count(*) filter (where status = 'timeout'), count(*) filter (where spoiled),
  count(*) filter (where status = 'completed' and ok is null),
  count(*) filter (where ok) / count(ok), any_value(macro), count(*) filter (where ok) / count(*),
  count(*) filter (where ok or ok is null) / count(*), avg((status <> 'completed')::int), avg(spoiled::int),
  avg(score) filter (where ok is not null), any_value(flips)
from rows join by_task using (skill_id) group by skill_id order by skill_id
"""


def by_sql(trials: pl.LazyFrame, scores: pl.LazyFrame) -> list[tuple[Any, ...]]:
    """Summarise by DuckDB."""
    with duckdb.connect() as database:
        for name, frame in (("trials", trials), ("scores", scores)):
            database.register(name, frame.collect().drop("ended_at", strict=False).to_arrow())
        return database.sql(SQL).fetchall()


def by_hand(cells: list[list[Any]]) -> tuple[float, ...]:
    """Summarise a table of tasks × repeats by loops: a number is a score, null is ungraded, a text a status."""
    broken, every = {"timeout", "skill_error"}, [cell for task in cells for cell in task]
    known = [[0.0 if cell in broken else cell for cell in task if _is_graded(cell)] for task in cells]
    graded = [value for task in known for value in task]
    n, passed, trials = len(graded), sum(value == 1 for value in graded), len(every)
    spoiled = sum(isinstance(cell, str) and cell not in broken for cell in every)
    lost, errors = sum(cell is None for cell in every), sum(isinstance(cell, str) for cell in every)
    rates = [sum(value == 1 for value in task) / len(task) for task in known if task]
    flips = [
        sum((a == 1) != (b == 1) for i, a in enumerate(task) for b in task[i + 1 :])
        / (len(task) * (len(task) - 1) / 2)
        for task in known
        if len(task) > 1
    ]
    counts = (len(cells), trials, n, passed, every.count("timeout"), spoiled, lost)
    return (
        *counts,
        passed / n,
        sum(rates) / len(rates),
        passed / trials,
        (passed + spoiled + lost) / trials,
        errors / trials,
        spoiled / trials,
        sum(graded) / n,
        sum(flips) / len(flips),
    )


def _is_graded(cell: object) -> bool:
    return cell is not None and (not isinstance(cell, str) or cell in {"timeout", "skill_error"})


@pytest.mark.parametrize("seed", range(3))
def test_polars_sql_and_plain_python_agree(grid: Grid, spec: Spec, seed: int) -> None:
    """On random trials of three skills the counts are equal and the rates differ by less than 1e-9."""
    rng = np.random.default_rng(seed)
    kinds: list[Any] = [1.0, 0.0, 0.5, 0.3, None, "timeout", "skill_error", "provider_error", "blocked"]
    tables = {
        name: [[kinds[i] for i in rng.integers(0, len(kinds), rng.integers(1, 6))] for _ in range(60)]
        for name in ("a", "b", "c")
    }
    frames = [grid(cells, skill_id=name, condition_id=name) for name, cells in tables.items()]
    trials, scores = (pl.concat(parts) for parts in zip(*frames, strict=True))
    found = summary(trials, scores, spec=spec()).sort("skill_id").select("skill_id", *COLUMNS).collect()
    assert found["skill_id"].to_list() == list(tables)
    for row, sql, cells in zip(found.iter_rows(), by_sql(trials, scores), tables.values(), strict=True):
        assert row == (row[0], *(pytest.approx(value, abs=1e-9) for value in sql[1:]))
        assert row[1:] == tuple(pytest.approx(value, abs=1e-9) for value in by_hand(cells))
