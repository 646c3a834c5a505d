"""Small literal frames: a row says only what matters to its test, the rest is filled in by the contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from skilleval.analytics.spec import (
    AnalysisSpec,
    CompositeWeights,
    IntervalMethod,
    Preset,
    ScoringMethod,
)
from skilleval.analytics.summary import summary
from skilleval.results.schema import JUDGEMENTS, SCORES, TRIALS, Kind, Table, polars_schema

_CASES = Path(__file__).parents[1] / "data" / "cases.jsonl"
_NEUTRAL: dict[Kind, Any] = {
    Kind.TEXT: "-",
    Kind.JSON: "{}",
    Kind.INT: 0,
    Kind.FLOAT: 0.0,
    Kind.BOOL: True,
    Kind.TIME: datetime(2026, 11, 1, tzinfo=UTC),
    Kind.TEXTS: [],
}
_TRIAL = {
    "run_id": "r",
    "skill_id": "s",
    "mode": "direct",
    "task_weight": 1.0,
    "n_tries": 1,
    "status": "completed",
}
_SCORE = {"run_id": "r", "scorer": "exact", "check_id": "0", "weight": 1.0, "reason": "", "evidence": ""}


def _row(table: Table, given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = set(given) - set(table.names)
    assert not unknown, f"not in {table.name}: {unknown}"
    neutral = {c.name: None if c.nullable else _NEUTRAL[c.kind] for c in table.columns}
    return neutral | dict(given)


def _frame(table: Table, rows: Sequence[Mapping[str, Any]]) -> pl.LazyFrame:
    return pl.DataFrame([_row(table, row) for row in rows], schema=polars_schema(table)).lazy()


def _judged(score: Mapping[str, Any]) -> dict[str, Any]:
    passed = score.get("passed", None if score.get("score") is None else score["score"] == 1)
    value = None if passed is None else score.get("score", float(passed))
    verdict = {True: "passed", False: "failed", None: "ungraded"}[passed]
    return {"verdict": verdict} | dict(score) | {"passed": passed, "score": value}


def _trials(rows: Sequence[Mapping[str, Any]]) -> pl.LazyFrame:
    named = [
        _TRIAL | {"trial_id": f"{row.get('skill_id')}/{row['task_id']}/{row.get('repeat', 0)}"} | dict(row)
        for row in rows
    ]
    return _frame(TRIALS, named)


def _scores(rows: Sequence[Mapping[str, Any]]) -> pl.LazyFrame:
    return _frame(SCORES, [_SCORE | _judged(row) for row in rows])


def _cell(said: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read one cell of a grid: a score, null for ungraded, or a status that did not complete."""
    if not isinstance(said, str):
        return {}, {"score": said}
    broken = said in {"timeout", "skill_error"}
    return {"status": said}, {"passed": False if broken else None, "score": 0.0 if broken else None}


def _grid(tasks: Sequence[Sequence[object]], **columns: Any) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    trials, scores = [], []
    for task, repeats in enumerate(tasks):
        for repeat, said in enumerate(repeats):
            trial, score = _cell(said)
            name = f"{columns.get('skill_id', 's')}-{task}-{repeat}"
            trials.append({"trial_id": name, "task_id": f"t{task:03}", "repeat": repeat} | trial | columns)
            scores.append({"trial_id": name} | score)
    return _trials(trials), _scores(scores)


def _spec(**changes: Any) -> AnalysisSpec:
    weights = {"completion": 0.5, "partial": 0.2, "speed": 0.15, "reliability": 0.15} | changes.pop(
        "weights", {}
    )
    chosen: dict[str, Any] = {
        "preset": Preset.DEFAULT,
        "level": 0.95,
        "k": 1,
        "scoring_method": ScoringMethod.MEAN,
        "max_latency_ms": 1000.0,
        "seed": 0,
        "serial_latency": False,
        "reused_latency": False,
        "interval": IntervalMethod.AGRESTI_COULL_T,
        "family": None,
        "resamples": 1000,
    }
    return AnalysisSpec(**(chosen | changes), weights=CompositeWeights(**weights))


def _case(name: str) -> Any:
    lines = (json.loads(line) for line in _CASES.read_text(encoding="utf-8").splitlines())
    return next(case["input"] for case in lines if case["id"] == name)


@pytest.fixture(scope="session")
def trials_of() -> Callable[[Sequence[Mapping[str, Any]]], pl.LazyFrame]:
    """Build a trials frame from rows that name a task."""
    return _trials


@pytest.fixture(scope="session")
def scores_of() -> Callable[[Sequence[Mapping[str, Any]]], pl.LazyFrame]:
    """Build a scores frame; `passed` follows from `score` unless it is given."""
    return _scores


@pytest.fixture(scope="session")
def grid() -> Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]:
    """Build both frames of one condition from a table of tasks × repeats."""
    return _grid


@pytest.fixture(scope="session")
def spec() -> Callable[..., AnalysisSpec]:
    """Build a spec, changed where a test says so."""
    return _spec


@pytest.fixture(scope="session")
def summary_row() -> Callable[..., dict[str, Any]]:
    """Summarise a table of tasks × repeats of one condition to its only row, under the spec given or the usual one."""

    def only_row(
        tasks: Sequence[Sequence[object]], chosen: AnalysisSpec | None = None, **columns: Any
    ) -> dict[str, Any]:
        trials, scores = _grid(tasks, **columns)
        return summary(trials, scores, spec=chosen or _spec()).collect().row(0, named=True)

    return only_row


@pytest.fixture(scope="session")
def case() -> Callable[[str], Any]:
    """Read the input of one fault case."""
    return _case


def _arms(
    columns: Mapping[str, Mapping[str, Any]] | None = None, **modes: Sequence[Sequence[object]]
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Build both frames of one skill in several modes, each from a table of tasks × repeats."""
    trials: list[pl.LazyFrame] = []
    scores: list[pl.LazyFrame] = []
    for mode, tasks in modes.items():
        given = {"condition_id": mode} | dict((columns or {}).get(mode, {}))
        for found, frame in zip(_grid(tasks, mode=mode, **given), (trials, scores), strict=True):
            frame.append(found.with_columns(trial_id=pl.concat_str(pl.lit(f"{mode}/"), "trial_id")))
    return pl.concat(trials), pl.concat(scores)


@pytest.fixture(scope="session")
def arms() -> Callable[..., tuple[pl.LazyFrame, pl.LazyFrame]]:
    """Build both frames of one skill in several modes; the first argument gives columns of trials by mode."""
    return _arms


@pytest.fixture(scope="session")
def judgements_of() -> Callable[[Sequence[Mapping[str, Any]]], pl.LazyFrame]:
    """Build a frame of calls of judges."""
    return lambda rows: _frame(
        JUDGEMENTS, [{"run_id": "r", "check_id": "a1", "scorer": "exact", **row} for row in rows]
    )
