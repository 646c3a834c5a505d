"""What the rules of a gate said of a run, in words: one line a check, and one sentence for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skilleval.report.numbers import DASH, counted, duration, money, p_text, rate
from skilleval.report.text import one_line

if TYPE_CHECKING:
    from skilleval.report.document import Report

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
SHAPES = {PASSED: "✓", FAILED: "✕", SKIPPED: "–"}
HEADINGS = ("rule", "skill", "found", "margin", "verdict")

_NAMED = 2
_WHOLE_TOKENS = "_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """One rule held against one row of the summary.

    `margin` is how far the figure lies on the good side of `limit`, negative where it fails. For a regression `value`
    is how much worse the metric became, from `before` to `after`, and `baseline` is the run it is compared with.
    """

    rule: int
    metric: str
    is_regression: bool
    direction: str
    limit: float
    verdict: str
    scope: str = ""
    bound: str = "point"
    relative: bool = False
    significance: float | None = None
    baseline: str = ""
    skill_id: str = ""
    skill_version: str = ""
    condition_id: str = ""
    scorer: str = ""
    value: float | None = None
    before: float | None = None
    after: float | None = None
    margin: float | None = None
    p_value: float | None = None
    n_tasks: int | None = None
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether the gate is closed by it."""
        return self.verdict == FAILED


def rule_text(check: GateCheck) -> str:
    """Write a rule: `completion_rate ≥ 0.9`, `regression of p95_ms ≤ 50 %`."""
    sign = "≥" if check.direction == "at_least" else "≤"
    of_end = f"{check.bound} end of " if check.bound != "point" else ""
    what = f"regression of {check.metric}" if check.is_regression else f"{of_end}{check.metric}"
    limit = _shown(check, check.limit)
    proof = f", significance {check.significance:g}" if check.significance is not None else ""
    where = f" ({one_line(check.scope)})" if check.scope else ""
    return f"{what} {sign} {limit}{proof}{where}"


def whom(check: GateCheck) -> str:
    """Name what a check is about: the skill with its version, and the scorer."""
    parts = [f"{check.skill_id} {check.skill_version}".strip(), check.scorer]
    return one_line(" · ".join(part for part in parts if part)) or DASH


def title_text(check: GateCheck) -> str:
    """Name a check: the rule, and what it was held against."""
    named = whom(check)
    return rule_text(check) if named == DASH else f"{rule_text(check)} for {named}"


def found_text(check: GateCheck) -> str:
    """Write what was found: the figure, or how a regression came about."""
    if not check.is_regression:
        return _shown(check, check.value)
    if check.value is None:
        return DASH
    p_value = p_text(check.p_value)
    sides = f"{_plain(check.metric, check.before)} → {_plain(check.metric, check.after)}"
    tasks = counted(check.n_tasks, "task") if check.n_tasks is not None else ""
    told = ", ".join(part for part in (sides, tasks, p_value) if part)
    return f"{_worse(check)} ({told})"


def margin_text(check: GateCheck) -> str:
    """Write by how much a rule is kept or broken."""
    if check.margin is None:
        return DASH
    size = _shown(check, abs(check.margin))
    return (
        f"{size} to spare" if check.margin >= 0 else f"{size} beyond" if _is_most(check) else f"{size} short"
    )


def why_text(check: GateCheck) -> str:
    """Write in a few words what led to the verdict: figure and margin, and the reason where there is one."""
    figures = "" if check.value is None else f"{found_text(check)}, {margin_text(check)}"
    return one_line(": ".join(part for part in (figures, check.reason) if part))


def verdict_text(check: GateCheck) -> str:
    """Write the verdict, with its reason where there is one."""
    said = f"{SHAPES.get(check.verdict, '')} {check.verdict}"
    return f"{said}: {one_line(check.reason)}" if check.reason else said


def cells(check: GateCheck) -> list[str]:
    """Give the cells of a check under `HEADINGS`."""
    return [rule_text(check), whom(check), found_text(check), margin_text(check), verdict_text(check)]


def failed_first(checks: Sequence[GateCheck]) -> list[GateCheck]:
    """Order checks: what failed, what could not be checked, what passed; each in the order of the rules."""
    order = (FAILED, SKIPPED, PASSED)
    return sorted(checks, key=lambda check: (order.index(check.verdict), check.rule))


def gate_sentence(checks: Sequence[GateCheck]) -> str:
    """Sum the checks up, what failed first; empty where there are none."""
    if not checks:
        return ""
    failed = [check for check in checks if check.failed]
    n_skipped = sum(check.verdict == SKIPPED for check in checks)
    skipped = f", {n_skipped} could not be checked" if n_skipped else ""
    if not failed:
        n_passed = len(checks) - n_skipped
        return f"{n_passed} of {counted(len(checks), 'check')} of the gate passed{skipped}"
    told = "; ".join(_failure(check) for check in failed[:_NAMED])
    more = f"; {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    return f"{len(failed)} of {counted(len(checks), 'check')} of the gate failed{skipped}: {told}{more}"


def _failure(check: GateCheck) -> str:
    return f"{title_text(check)}: {why_text(check)}"


def with_gate(report: Report, checks: Sequence[GateCheck], *, decides: bool = False) -> Report:
    """Add what the rules said to a report, and say it before the rest of its verdict.

    A failed check fails the report; with `decides` the checks alone are its verdict, as they are the exit code.
    """
    if not checks:
        return report
    verdict, states = report.verdict, type(report.verdict.state)
    state = verdict.state
    if any(check.failed for check in checks):
        state = states.FAILED
    elif decides:
        state = states.PASSED if any(check.verdict == PASSED for check in checks) else states.INCONCLUSIVE
    sentence = f"{gate_sentence(checks)}. {verdict.sentence}"
    return replace(report, gates=tuple(checks), verdict=replace(verdict, state=state, sentence=sentence))


def _worse(check: GateCheck) -> str:
    """Say how much worse, or better, a metric became."""
    assert check.value is not None
    size = _shown(check, abs(check.value))
    if not float(check.value):
        return "no change"
    return f"{size} {'worse' if check.value > 0 else 'better'}"


def _is_most(check: GateCheck) -> bool:
    return check.direction == "at_most"


def _shown(check: GateCheck, value: float | None) -> str:
    """Write a figure of a check in its unit: a share of the baseline, or the unit of the metric."""
    if check.relative:
        return DASH if value is None else f"{rate(100 * value)} %"
    return _plain(check.metric, value)


def _plain(metric: str, value: float | None) -> str:
    if metric.endswith("_ms"):
        return duration(value)
    if metric.endswith("_usd"):
        return money(value) if value is None else f"{money(value)} USD"
    return rate(value)
