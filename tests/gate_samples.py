"""Literal checks of a gate for tests of reports: failed, passed, a regression, and one that could not be checked."""

from __future__ import annotations

from dataclasses import replace

from skilleval.report.gates import GateCheck

SHORT = GateCheck(
    rule=0,
    metric="completion_rate",
    is_regression=False,
    direction="at_least",
    limit=0.9,
    verdict="failed",
    skill_id="calculator",
    skill_version="1.0.0",
    scorer="task",
    value=0.65,
    after=0.65,
    margin=-0.25,
)
QUICK = replace(
    SHORT,
    rule=1,
    metric="p95_ms",
    direction="at_most",
    limit=500.0,
    value=120.0,
    margin=380.0,
    verdict="passed",
)
WORSE = replace(
    SHORT,
    rule=2,
    is_regression=True,
    direction="at_most",
    limit=0.02,
    significance=0.05,
    baseline="r-1",
    value=0.07,
    before=0.76,
    after=0.69,
    margin=-0.05,
    p_value=0.03125,
    n_tasks=10,
)
UNKNOWN = replace(
    WORSE,
    rule=3,
    verdict="skipped",
    value=None,
    margin=None,
    skill_id="",
    skill_version="",
    scorer="",
    reason="no baseline",
)
