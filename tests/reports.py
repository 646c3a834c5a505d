"""Literal frames and manifests as analytics and the results store give them, for the tests of figures and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from cases import case_input

from skilleval.report.build import build_report
from skilleval.report.document import Report

HOSTILE: str = case_input("C47")["output"]

SUMMARY_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(
        ("benchmark_id", "benchmark_version", "condition_id", "skill_id", "skill_version", "skill_digest"),
        pl.String(),
    ),
    **dict.fromkeys(("adapter", "model", "sandbox", "mode", "scorer"), pl.String()),
    **dict.fromkeys(
        (
            "n_tasks",
            "n_trials",
            "n_repeats",
            "n_graded",
            "n_passed",
            "n_failed",
            "n_timeout",
            "n_skill_error",
        ),
        pl.Int64(),
    ),
    **dict.fromkeys(("n_infrastructure", "n_ungraded", "n_reused"), pl.Int64()),
    **dict.fromkeys(
        (
            "completion_rate",
            "completion_rate_macro",
            "completion_low",
            "completion_high",
            "ci_low",
            "ci_high",
        ),
        pl.Float64(),
    ),
    "ci_method": pl.String(),
    **dict.fromkeys(("partial_score", "error_rate", "infrastructure_rate", "consistency"), pl.Float64()),
    "n_flaky_tasks": pl.Int64(),
    **dict.fromkeys(("flip_rate", "p50_ms", "p95_ms", "p99_ms"), pl.Float64()),
    **dict.fromkeys(("p10_ms", "p25_ms", "p75_ms", "p90_ms", "min_ms", "max_ms"), pl.Float64()),
    **dict.fromkeys(("n_latency", "n_censored"), pl.Int64()),
    "composite": pl.Float64(),
    **dict.fromkeys(("n_tries", "input_tokens", "output_tokens", "total_tokens"), pl.Int64()),
    **dict.fromkeys(("cost_usd", "reused_cost_usd", "spawn_p50_ms"), pl.Float64()),
}
MATRIX_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("skill_id", "skill_version", "condition_id", "scorer", "task_id"), pl.String()),
    **dict.fromkeys(("n", "n_graded", "n_passed"), pl.Int64()),
    "rate": pl.Float64(),
    "is_flaky": pl.Boolean(),
    "outcomes": pl.String(),
}
FAILURES_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("skill_id", "skill_version", "condition_id", "scorer", "task_id"), pl.String()),
    "repeat": pl.Int64(),
    **dict.fromkeys(("status", "verdict", "failure_kind", "message", "reason", "evidence"), pl.String()),
    **dict.fromkeys(("input", "expected", "output", "stdout", "stderr"), pl.String()),
    "latency_ms": pl.Float64(),
    "causes": pl.List(pl.Struct({"kind": pl.String(), "text": pl.String(), "n": pl.Int64()})),
}
SLICES_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("condition_id", "scorer", "tag"), pl.String()),
    **dict.fromkeys(("n_tasks", "n_graded", "n_passed"), pl.Int64()),
    **dict.fromkeys(("completion_rate", "ci_low", "ci_high"), pl.Float64()),
}
METHOD = "Agresti-Coull on n_eff, t with n_graded_tasks - 1 df, clusters = tasks, level 0.95"

CALCULATOR: dict[str, Any] = {
    "benchmark_id": "coding-easy",
    "benchmark_version": "1.1.0",
    "condition_id": "c-calculator",
    "skill_id": "calculator",
    "skill_version": "1.0.0",
    "skill_digest": "1f" * 32,
    "adapter": "subprocess",
    "sandbox": "none",
    "mode": "direct",
    "scorer": "task",
    "n_tasks": 20,
    "n_trials": 60,
    "n_repeats": 3,
    "n_graded": 60,
    "n_passed": 60,
    "n_failed": 0,
    "n_timeout": 0,
    "n_skill_error": 0,
    "n_infrastructure": 0,
    "n_ungraded": 0,
    "completion_rate": 1.0,
    "completion_rate_macro": 1.0,
    "completion_low": 1.0,
    "completion_high": 1.0,
    "ci_low": 0.788948,
    "ci_high": 1.0,
    "ci_method": METHOD,
    "partial_score": 1.0,
    "error_rate": 0.0,
    "infrastructure_rate": 0.0,
    "consistency": 1.0,
    "n_flaky_tasks": 0,
    "flip_rate": 0.0,
    "p50_ms": 21.3,
    "p95_ms": 34.8,
    "p99_ms": 41.0,
    "n_latency": 60,
    "n_censored": 0,
    "composite": 0.9997,
    "n_tries": 60,
}
FLAKY: dict[str, Any] = CALCULATOR | {
    "condition_id": "c-flaky",
    "skill_id": "flaky-calculator",
    "skill_digest": "2e" * 32,
    "n_passed": 43,
    "n_failed": 16,
    "n_timeout": 1,
    "completion_rate": 43 / 60,
    "completion_rate_macro": 43 / 60,
    "completion_low": 43 / 60,
    "completion_high": 43 / 60,
    "ci_low": 0.5923,
    "ci_high": 0.8184,
    "partial_score": 43 / 60,
    "error_rate": 1 / 60,
    "consistency": 0.9057,
    "n_flaky_tasks": 14,
    "flip_rate": 0.4667,
    "p95_ms": 10000.0,
    "n_censored": 1,
    "composite": 0.6512,
}
WRONG: dict[str, Any] = CALCULATOR | {
    "condition_id": "c-wrong",
    "skill_id": "wrong-calculator",
    "skill_digest": "3d" * 32,
    "n_passed": 0,
    "n_failed": 60,
    "completion_rate": 0.0,
    "completion_rate_macro": 0.0,
    "completion_low": 0.0,
    "completion_high": 0.0,
    "ci_low": 0.0,
    "ci_high": 0.211052,
    "partial_score": 0.0,
    "composite": 0.0,
}

MANIFEST: dict[str, Any] = {
    "run_id": "20260731T120000-4f2a",
    "experiment": "demo",
    "sweep_id": None,
    "command": ["skilleval", "eval", "--benchmark", "coding-easy", "--runs", "3"],
    "config": {"runner": {"repeats": 3, "seed": 0}, "scorers": {"task": {"kind": "task"}}},
    "overrides": ["runner.repeats=3"],
    "versions": {"skilleval": "0.1.0", "python": "3.11.7", "polars": "2.1.0"},
    "platform": {"system": "Linux", "machine": "x86_64", "cpus": 2},
    "git": {"commit": "3f91a90c", "dirty": False},
    "skills": [
        {"id": "calculator", "version": "1.0.0", "digest": "1f" * 32, "path": "examples/skills/calculator"},
        {"id": "flaky-calculator", "version": "1.0.0", "digest": "2e" * 32, "path": "examples/skills/flaky"},
        {"id": "wrong-calculator", "version": "1.0.0", "digest": "3d" * 32, "path": "examples/skills/wrong"},
    ],
    "benchmark": {
        "id": "coding-easy",
        "version": "1.1.0",
        "name": "Coding, easy",
        "digest": "9a" * 32,
        "n_tasks": 20,
    },
    "seeds": {"runner": 0},
    "counts": {"completed": 179, "timeout": 1},
    "started_at": "2026-07-31T12:00:00Z",
    "ended_at": "2026-07-31T12:00:09Z",
    "interrupted": False,
    "sandbox": {
        "name": "none",
        "guarantees": [],
        "warnings": ["sandbox none: skills run with your rights; use it for code you trust"],
    },
    "warnings": [],
    "runner": {"repeats": 3, "concurrency": 2},
}
GATE: dict[str, Any] = {"min_completion": 0.7, "exit_on_fail": False}


def summary_frame(*rows: Mapping[str, Any]) -> pl.DataFrame:
    """Give a summary frame; columns a row lacks are null."""
    return _frame(rows, SUMMARY_SCHEMA)


def matrix_frame(*rows: Mapping[str, Any]) -> pl.DataFrame:
    """Give a task matrix."""
    return _frame(rows, MATRIX_SCHEMA)


def failures_frame(*rows: Mapping[str, Any]) -> pl.DataFrame:
    """Give a frame of failed trials."""
    return _frame(rows, FAILURES_SCHEMA)


def _frame(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{key: row.get(key) for key in schema} for row in rows], schema=schema)


def cell(row: Mapping[str, Any], task_id: str, n_passed: int, *, n: int = 3) -> dict[str, Any]:
    """Give one cell of the task matrix in which every trial was graded."""
    return {
        **{key: row[key] for key in ("skill_id", "skill_version", "condition_id", "scorer")},
        "task_id": task_id,
        "n": n,
        "n_graded": n,
        "n_passed": n_passed,
        "rate": n_passed / n,
        "is_flaky": 0 < n_passed < n,
    }


def failure(row: Mapping[str, Any], task_id: str, repeat: int = 0, **texts: Any) -> dict[str, Any]:
    """Give one failed trial of a skill."""
    return {
        **{key: row[key] for key in ("skill_id", "skill_version", "condition_id", "scorer")},
        "task_id": task_id,
        "repeat": repeat,
        "status": "completed",
        "verdict": "failed",
        "reason": "expected 4, found 5",
        "input": '{"expression": "2 + 2"}',
        "expected": '{"value": 4}',
        "output": '{"result": 5}',
        "latency_ms": 21.5,
        **texts,
    }


def slice_of(
    row: Mapping[str, Any], tag: str, n_passed: int, *, n_tasks: int = 2, **more: Any
) -> dict[str, Any]:
    """Give how the tasks of a tag went for a row, each with three graded trials."""
    return {
        **{key: row[key] for key in ("condition_id", "scorer")},
        "tag": tag,
        "n_tasks": n_tasks,
        "n_graded": 3 * n_tasks,
        "n_passed": n_passed,
        "completion_rate": n_passed / (3 * n_tasks),
        **more,
    }


def report_of(*rows: Mapping[str, Any], **changes: Any) -> Report:
    """Build a report of summary rows; `matrix`, `failures`, `slices`, `manifest`, `gate`, `reused` may be given."""
    return build_report(
        manifest=changes.get("manifest", MANIFEST),
        summary=summary_frame(*rows),
        matrix=matrix_frame(*changes.get("matrix", ())),
        failures=failures_frame(*changes.get("failures", ())),
        gate=changes.get("gate", GATE),
        slices=_frame(changes["slices"], SLICES_SCHEMA) if "slices" in changes else None,
        reused=changes.get("reused"),
    )


def demo_report() -> Report:
    """Build the report of three skills on four tasks, one of them hostile in what it says."""
    tasks = ("sum-1", "sum-2", "reverse-1", "palindrome-1")
    matrix = [cell(CALCULATOR, task, 3) for task in tasks]
    matrix += [cell(FLAKY, task, n) for task, n in zip(tasks, (1, 2, 3, 3), strict=True)]
    matrix += [cell(WRONG, task, 0) for task in tasks]
    wrong = {"causes": [{"kind": "failed", "text": "expected 4, found 5", "n": 60}]}
    flaky = {
        "causes": [
            {"kind": "timeout", "text": HOSTILE, "n": 1},
            {"kind": "failed", "text": "expected 4, found 5", "n": 16},
        ]
    }
    failures = [failure(WRONG, task, repeat, **wrong) for task in tasks for repeat in range(3)]
    failures += [failure(FLAKY, "sum-1", 0, **flaky), failure(FLAKY, "sum-2", 1, **flaky)]
    late = {"status": "timeout", "failure_kind": "timeout", "output": None, "message": HOSTILE}
    failures.append(failure(FLAKY, "sum-1", 2, **late, **flaky))
    slices = [
        slice_of(CALCULATOR, "sums", 6, ci_low=0.2, ci_high=1.0),
        slice_of(FLAKY, "sums", 3, ci_low=0.1, ci_high=0.9),
        slice_of(WRONG, "texts", 0, n_tasks=1),
    ]
    return report_of(CALCULATOR, FLAKY, WRONG, matrix=matrix, failures=failures, slices=slices)
