"""The report as JUnit XML, as continuous integration shows tests: a case a skill × task × scorer, and one a rule.

A task that did not pass every graded trial is a failure, one that the infrastructure spoiled an error, one without a
verdict is skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from skilleval.report.columns import row_names, tally, words
from skilleval.report.document import FailedTrial, MatrixCell, Report, Row
from skilleval.report.gates import GateCheck, title_text, why_text
from skilleval.report.junit_xml import CaseResult, document, suite
from skilleval.report.text import one_line

_COMPLETED = "completed"
_SKILL_FAULTS = ("timeout", "skill_error")
_MAX_TEXT = 2000
_SHOWN = ("input", "expected", "output", "stdout", "stderr")
_PROPERTIES = ("condition_id", "skill_version", "adapter", "model", "sandbox", "mode", "scorer")
_FIGURES = (
    "n_tasks",
    "n_repeats",
    "completion_rate",
    "ci_low",
    "ci_high",
    "error_rate",
    "p95_ms",
    "composite",
)

_Key = tuple[str, str, str]


def render(report: Report) -> str:
    """Write the XML document."""
    return document(_suites(report))


def _suites(report: Report) -> Iterator[str]:
    trials: dict[_Key, list[FailedTrial]] = {}
    for trial in report.failures:
        trials.setdefault((trial.condition_id, trial.scorer, trial.task_id), []).append(trial)
    for name, row in zip(row_names(report.summary), report.summary, strict=True):
        place = (words(row, "condition_id"), words(row, "scorer"))
        cells = [cell for cell in report.matrix if (cell.condition_id, cell.scorer) == place]
        results = [_result(cell, row, trials.get((*place, cell.task_id), [])) for cell in cells]
        yield _suite(report, name, results, _row_properties(row))
    if report.gates:
        yield _suite(report, "gate", [_gate_result(check) for check in report.gates], {})


def _result(cell: MatrixCell, row: Row, trials: Sequence[FailedTrial]) -> CaseResult:
    """Judge one task: what the skill got wrong counts before what others spoiled."""
    text = "\n\n".join(_told(trial) for trial in trials)
    n_failed = cell.n_graded - cell.n_passed
    if n_failed:
        flaky = " (flaky)" if cell.is_flaky else ""
        causes = _causes([trial for trial in trials if _is_own_fault(trial)])
        return CaseResult(
            cell.task_id, "failure", f"passed {cell.n_passed} of {cell.n_graded}{flaky}{causes}", text
        )
    n_open = cell.n - cell.n_graded
    if not n_open:
        return CaseResult(cell.task_id)
    is_spoiled = [trial for trial in trials if trial.status not in {_COMPLETED, *_SKILL_FAULTS}]
    # Beyond the failures that a report keeps, the counts of the row tell what may have happened.
    if is_spoiled or (not trials and tally(row, "n_infrastructure")):
        said = f"{n_open} of {cell.n} trials lost to the infrastructure{_causes(is_spoiled)}"
        return CaseResult(cell.task_id, "error", said, text)
    return CaseResult(cell.task_id, "skipped", f"{n_open} of {cell.n} trials ungraded{_causes(trials)}")


def _is_own_fault(trial: FailedTrial) -> bool:
    return trial.verdict == "failed" or trial.status in _SKILL_FAULTS


def _causes(trials: Sequence[FailedTrial]) -> str:
    """Give the commonest reason."""
    reasons = Counter(one_line(reason) for trial in trials if (reason := _reason(trial)))
    return f": {reasons.most_common(1)[0][0]}" if reasons else ""


def _reason(trial: FailedTrial) -> str:
    told = [trial.failure_kind, trial.message, trial.reason]
    return "; ".join(part for part in told if part)


def _told(trial: FailedTrial) -> str:
    lines = [f"repeat {trial.repeat}: {trial.status}, {trial.verdict}: {_reason(trial)}"]
    for name in _SHOWN:
        excerpt = getattr(trial, name)
        if excerpt is not None and excerpt.text:
            lines.append(f"{name}: {excerpt.text[:_MAX_TEXT]}")
    return "\n".join(lines)


def _gate_result(check: GateCheck) -> CaseResult:
    kind = {"failed": "failure", "skipped": "skipped"}.get(check.verdict, "")
    return CaseResult(title_text(check), kind, why_text(check) if kind else "")


def _row_properties(row: Row) -> dict[str, str]:
    texts = {key: words(row, key) for key in _PROPERTIES}
    return {**texts, **{key: words(row, key) for key in _FIGURES}}


def _suite(report: Report, name: str, results: Sequence[CaseResult], properties: Mapping[str, str]) -> str:
    about = {
        "run_id": report.run.run_id,
        "benchmark": f"{report.run.benchmark_id}@{report.run.benchmark_version}",
        "verdict": f"{report.verdict.state.value}: {report.verdict.sentence}",
        **properties,
    }
    return suite(name, results, started_at=report.run.started_at, properties=about)
