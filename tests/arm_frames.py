"""Literal frames of the comparison of arms, as analytics gives them, for the tests of reports and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from reports import CALCULATOR, MANIFEST, failures_frame, matrix_frame, summary_frame

from skilleval.report.build import build_report
from skilleval.report.document import Report
from skilleval.report.uplift import ArmFrames

KEYS: dict[str, Any] = {
    "benchmark_id": "evals",
    "benchmark_version": "1",
    "skill_id": "csv-totals",
    "adapter": "chat",
    "model": "small",
    "sandbox": "none",
    "scorer": "evals",
}
PAIR = KEYS | {"baseline": "without_skill"}

UPLIFT: dict[str, Any] = PAIR | {
    "skill_version": "1.2.0",
    "baseline_version": "1.2.0",
    "n_cases": 12,
    "n_left_out": 0,
    "n_left_out_errors": 0,
    "n_left_out_ungraded": 0,
    "n_not_tried": 0,
    "n_wins": 10,
    "n_ties": 2,
    "n_losses": 0,
    "n_repeats": 3,
    "n_errors_candidate": 0,
    "n_errors_baseline": 0,
    "n_broken_candidate": 0,
    "n_broken_baseline": 0,
    "score_candidate": 0.9,
    "score_baseline": 0.48,
    "uplift": 0.42,
    "uplift_low": 0.21,
    "uplift_high": 0.63,
    "ci_method": "paired t over 12 cases, 11 df, level 0.95",
    "p_value": 0.002,
    "p_method": "sign flips, exact",
    "gain": 0.42 / 0.52,
    "passed_candidate": 0.8,
    "passed_baseline": 0.3,
    "passed_uplift": 0.5,
    "uplift_discriminating": 0.5,
    "n_checks": 30,
    "n_always_pass": 0,
    "tokens_candidate": 2230.0,
    "tokens_baseline": 300.0,
    "tokens_difference": 1930.0,
    "tokens_ratio": 7.43,
    "seconds_candidate": 3.0,
    "seconds_baseline": 1.2,
    "seconds_difference": 1.8,
    "seconds_ratio": 2.5,
    "usd_candidate": 0.0035,
    "usd_baseline": 0.0004,
    "usd_difference": 0.0031,
    "usd_ratio": 8.75,
    "finding": "helps",
}
CASE: dict[str, Any] = PAIR | {
    "task_id": "csv-totals/1",
    "n_candidate": 3,
    "n_baseline": 3,
    "score_candidate": 1.0,
    "score_baseline": 0.5,
    "difference": 0.5,
    "outcome": "better",
    "left_out": None,
    "is_flaky_candidate": False,
    "is_flaky_baseline": True,
}
ASSERTION: dict[str, Any] = PAIR | {
    "task_id": "csv-totals/1",
    "check_id": "a1",
    "check": "Names the total",
    "signal": "only_with",
    "advice": "passes only with the skill: this is the value of the skill, keep it",
    "n_candidate": 3,
    "n_baseline": 3,
    "rate_candidate": 1.0,
    "rate_baseline": 0.0,
}
REMARK: dict[str, Any] = KEYS | {"n_judge_errors": 0, "n_evidence_not_found": 0, "is_self_judged": False}
SPEND: dict[str, Any] = {
    "model": "judge-1",
    "scorer": "evals",
    "n_calls": 72,
    "n_failed": 1,
    "n_usage": 71,
    "n_cost": 71,
    "input_tokens": 61000,
    "output_tokens": 5200,
    "total_tokens": 66200,
    "cached_tokens": None,
    "cost_usd": 0.25,
    "latency_ms": 43200.0,
}
WITH: dict[str, Any] = CALCULATOR | {
    "condition_id": "c-with",
    "skill_id": "csv-totals",
    "skill_version": "1.2.0",
    "adapter": "chat",
    "model": "small",
    "mode": "with_skill",
    "scorer": "evals",
}
WITHOUT: dict[str, Any] = WITH | {
    "condition_id": "c-without",
    "mode": "without_skill",
    "n_passed": 0,
    "n_failed": 60,
    "completion_rate": 0.0,
    "completion_rate_macro": 0.0,
    "completion_low": 0.0,
    "completion_high": 0.0,
    "ci_low": 0.0,
    "ci_high": 0.2,
}

_ERRORS = ("benchmark_id", "benchmark_version", "condition_id", "skill_id", "skill_version", "skill_digest")
_ERROR_KEYS = (*_ERRORS, "adapter", "model", "sandbox", "mode", "scorer")


def arm_frames(**rows: Sequence[Mapping[str, Any]]) -> ArmFrames:
    """Give the frames with these rows: `uplift`, `cases`, `assertions`, `remarks`, `spend`, `errors`."""
    kinds = {
        "uplift": UPLIFT,
        "cases": CASE,
        "assertions": ASSERTION,
        "remarks": REMARK,
        "spend": SPEND,
        "errors": {key: WITH[key] for key in _ERROR_KEYS} | {"n_judge_errors": 1},
    }
    schemas = {name: pl.DataFrame([_typed(kind)]).schema for name, kind in kinds.items()}
    return ArmFrames(
        **{name: pl.DataFrame(rows.get(name, []), schema=schema) for name, schema in schemas.items()}
    )


def _typed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Give a value for every null, so that its column has a type."""
    texts = {"left_out": ""}
    return {key: texts.get(key, 0) if value is None else value for key, value in row.items()}


def arm_report(*, gate: Mapping[str, Any] | None = None, **rows: Sequence[Mapping[str, Any]]) -> Report:
    """Build the report of a skill in both arms; by default of one comparison, case and assertion."""
    usual: dict[str, Sequence[Mapping[str, Any]]] = {
        "uplift": [UPLIFT],
        "cases": [CASE],
        "assertions": [ASSERTION],
        "spend": [SPEND],
    }
    return build_report(
        manifest=MANIFEST,
        summary=summary_frame(WITH, WITHOUT),
        matrix=matrix_frame(),
        failures=failures_frame(),
        gate=gate or {},
        arms=arm_frames(**(usual | rows)),
    )
