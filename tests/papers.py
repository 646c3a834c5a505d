"""Papers of literal reports, for the tests of what a paper kit consists of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports import MANIFEST, demo_report

from skilleval.report.document import Report
from skilleval.report.paper.document import Compared, Formulas, Group, Options, Paper, Source

VERSIONS: Mapping[str, str] = {"skilleval": "0.1.0", "python": "3.11.7", "polars": "2.1.0"}
FORMULAS = Formulas(
    level=0.95,
    interval="agresti_coull_t",
    preset="default",
    seed=0,
    k=1,
    scoring_method="mean",
    resamples=10_000,
)
LOST: dict[str, Any] = {
    "condition_id": "c-wrong",
    "scorer": "task",
    "n_tasks": 20,
    "n_compared": 2,
    "effect": -1.0,
    "ci_method": "no interval: the difference is the same on all 20 tasks",
    "p_value": 0.000002,
    "p_method": "sign flips, exact",
    "p_holm": 0.000004,
    "is_shown": True,
}
UNSURE: dict[str, Any] = LOST | {
    "condition_id": "c-flaky",
    "effect": -0.283,
    "low": -0.6,
    "high": 0.034,
    "ci_method": "paired t over 20 tasks, 19 df, level 0.95",
    "p_value": 0.08,
    "p_holm": 0.08,
    "is_shown": False,
}


def source(run_id: str = "20260731T120000Z-4f2a00", **manifest: Any) -> Source:
    """Give a run whose manifest says what is given, else what that of the demo says."""
    digests = {"manifest.json": "0" * 64}
    return Source(run_id=run_id, folder=f"data/{run_id}", manifest={**MANIFEST, **manifest}, digests=digests)


def group(report: Report | None = None, **changes: Any) -> Group:
    """Give a group of one run, with the wrong and the flaky skill held against the right one."""
    values: dict[str, Any] = {
        "benchmark": "coding-easy@1.1.0",
        "name": "coding-easy@1.1.0",
        "report": report or demo_report(),
        "sources": (source(),),
        "formulas": FORMULAS,
        "compared": (Compared(**UNSURE), Compared(**LOST)),
        "references": {"task": "c-calculator"},
        "against": "calculator",
    }
    return Group(**{**values, **changes})


def paper(*groups: Group, **options: Any) -> Paper:
    """Give a paper of some groups, else of one."""
    return Paper(options=Options(**options), groups=groups or (group(),), versions=VERSIONS)
