"""Literal comparisons as analytics gives them, for the tests of their documents and writers."""

from __future__ import annotations

from typing import Any

from skilleval.report.diff_document import Diff, DiffRow, DiffRun

METRIC: dict[str, Any] = {
    "metric": "completion_rate",
    "kind": "difference",
    "better": "higher",
    "unit": "share",
    "family": "quality",
    "n_tasks": 41,
    "before": 0.9,
    "after": 0.817,
    "effect": -0.083,
    "low": -0.141,
    "high": -0.025,
    "ci_method": "paired t over 41 tasks, 40 df, level 0.95",
    "p_value": 0.004,
    "p_method": "sign flips, exact",
    "p_holm": 0.004,
    "p_bh": 0.004,
    "n_better": 0,
    "n_same": 38,
    "n_worse": 3,
    "equivalence_p": 0.9,
    "margin": 0.02,
    "detectable": 0.08,
    "n_more": None,
    "cohens_h": -0.24,
    "gain": -0.83,
    "mcnemar_exact": None,
    "mcnemar_mid_p": None,
    "odds_ratio": None,
    "flip_rate_before": None,
    "flip_rate_after": None,
    "is_unequal": False,
    "change": "regressed",
    "is_confirmed": True,
}
FLIP: dict[str, Any] = {
    "task_id": "dates-07",
    "check_id": None,
    "check": None,
    "flip": "broken",
    "n_passed_before": 3,
    "n_passed_after": 0,
    "n_graded_before": 3,
    "n_graded_after": 3,
    "why": "2026-02-30 accepted",
}
BESIDE: dict[str, Any] = {
    "metric": "composite",
    "before": 0.412,
    "after": 0.874,
    "delta": 0.462,
    "better": "higher",
    "outcome": "better",
}


def row_of(**changes: Any) -> DiffRow:
    """Give a row of one skill, regressed unless a test says otherwise."""
    usual: dict[str, Any] = {
        "skill_id": "s",
        "scorer": "exact",
        "mode": "direct",
        "benchmark_id": "b",
        "side": "both",
        "name": "s 1.0.0",
        "baseline": {},
        "candidate": {},
        "change": "regressed",
        "is_confirmed": True,
        "sentence": "regressed: −8.3 pp",
        "metrics": (METRIC,),
        "beside": (BESIDE,),
        "flips": (FLIP,),
        "left_out": {},
    }
    return DiffRow(**(usual | changes))


def diff_of(*rows: DiffRow, **changes: Any) -> Diff:
    """Give a comparison of rows."""
    main, branch = (
        DiffRun(label=label, run_id=label, started_at=None, benchmark="b@1") for label in ("main", "branch")
    )
    usual: dict[str, Any] = {
        "baseline": main,
        "candidate": branch,
        "change": "regressed",
        "sentence": "regressed: −8.3 pp",
        "margin": 0.05,
        "level": 0.95,
        "warnings": (),
    }
    return Diff(rows=rows, **(usual | changes))
