"""From the frames of analytics and the manifest of a run to a report: choosing, ordering, cutting; no metric."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skilleval.report.columns import metric_columns, number, row_names, tally, words
from skilleval.report.document import (
    Cause,
    Conclusion,
    FailedTrial,
    MatrixCell,
    Report,
    Row,
    RunFacts,
    TagSlice,
)
from skilleval.report.excerpt import Excerpt
from skilleval.report.manifest import optional_text, plain, provenance, run_facts, text, whole
from skilleval.report.text import one_line
from skilleval.report.uplift import ArmFrames, ArmParts, arm_parts, is_gated, uplift_summary
from skilleval.report.verdict import Gate, Interruption, conclusion

if TYPE_CHECKING:
    import polars as pl

MAX_FAILURES_PER_SKILL = 60
MAX_EXCERPT = 4000


def build_report(  # noqa: PLR0913 - one argument a source of the report
    *,
    manifest: Mapping[str, Any],
    summary: pl.DataFrame,
    matrix: pl.DataFrame,
    failures: pl.DataFrame,
    gate: Mapping[str, Any],
    slices: pl.DataFrame | None = None,
    reused: Mapping[str, int] | None = None,
    arms: ArmFrames | None = None,
) -> Report:
    """Put a report together; keys the manifest lacks are left empty, columns a frame lacks are not known."""
    compared = ArmParts() if arms is None else arm_parts(arms)
    rows = _best_first(_rows(summary if arms is None else _with_judge_errors(summary, arms)))
    manifest = plain(manifest)
    minimum = gate.get("min_completion")
    threshold = None if minimum is None else float(minimum)
    run = run_facts(manifest, rows)
    failed = _rows(failures)
    return Report(
        title=_title(run),
        run=run,
        verdict=_verdict(
            rows,
            compared,
            gate=None
            if threshold is None
            else Gate(threshold=threshold, decides=bool(gate.get("exit_on_fail"))),
            interruption=_interruption(run),
        ),
        threshold=threshold,
        columns=metric_columns(rows),
        summary=tuple(rows),
        matrix=tuple(_cell(row) for row in _rows(matrix)),
        failures=tuple(_failed_trial(row) for row in _chosen(failed)),
        n_failures=max(len(failed), *(tally(row, "n_failures") for row in failed[:1]), 0),
        provenance=provenance(manifest, rows, reused or {}),
        causes=_causes(failed),
        slices=() if slices is None else tuple(_slice(row) for row in _rows(slices)),
        uplift=compared.uplift,
        uplift_cases=compared.cases,
        assertions=compared.assertions,
        judge_spend=compared.judge_spend,
    )


def _verdict(
    rows: Sequence[Row], compared: ArmParts, *, gate: Gate | None, interruption: Interruption | None
) -> Conclusion:
    """Sum the run up: first what the skills add, then how they did; what a baseline fails is no fault of theirs."""
    own = [row for row in rows if is_gated(row, compared=bool(compared.uplift))]
    told = conclusion(own, row_names(own), gate=gate, interruption=interruption)
    if not compared.uplift:
        return told
    added = uplift_summary(compared.uplift)
    return Conclusion(state=told.state, sentence=f"{added}. {told.sentence}")


def _with_judge_errors(summary: pl.DataFrame, arms: ArmFrames) -> pl.DataFrame:
    """Add how many trials a judge could not judge, where a judge was asked at all."""
    if arms.errors.is_empty() and arms.spend.is_empty():
        return summary
    keys = [key for key in arms.errors.columns if key != "n_judge_errors"]
    joined = summary.join(arms.errors, on=keys, how="left", nulls_equal=True)
    return joined.with_columns(joined["n_judge_errors"].fill_null(0))


def _interruption(run: RunFacts) -> Interruption | None:
    if not run.interrupted:
        return None
    return Interruption(n_trials=run.n_trials, n_planned=run.n_planned, n_not_judged=run.n_not_judged)


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [plain(row) for row in frame.to_dicts()]


def _best_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Order by completion, then partial credit, then name; what is not known comes last."""

    def place(row: Row) -> tuple[float, float, str, str]:
        known = [number(row, key) for key in ("completion_rate", "partial_score")]
        first, second = (math.inf if value is None else -value for value in known)
        return first, second, words(row, "skill_id"), words(row, "scorer")

    return sorted(rows, key=place)


def _title(run: RunFacts) -> str:
    what = run.benchmark_id or run.experiment or run.run_id
    return one_line(f"Skill evaluation: {what}" if what else "Skill evaluation", limit=120)


def _cell(row: Mapping[str, Any]) -> MatrixCell:
    return MatrixCell(
        skill_id=text(row, "skill_id"),
        skill_version=text(row, "skill_version"),
        condition_id=text(row, "condition_id"),
        scorer=text(row, "scorer"),
        task_id=text(row, "task_id"),
        n=tally(row, "n"),
        n_graded=tally(row, "n_graded"),
        n_passed=tally(row, "n_passed"),
        rate=number(row, "rate"),
        is_flaky=bool(row.get("is_flaky")),
        outcomes=text(row, "outcomes"),
    )


def _chosen(failed: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Keep some trials of every skill: the first failure of each task before any second one."""
    trials: Counter[Any] = Counter()
    ranked = []
    for row in failed:
        task = (_skill_of(row), row.get("task_id"))
        ranked.append((trials[task], row))
        trials[task] += 1
    kept: Counter[Any] = Counter()
    chosen = set()
    for index in sorted(range(len(ranked)), key=lambda index: ranked[index][0]):
        skill = _skill_of(failed[index])
        if kept[skill] < MAX_FAILURES_PER_SKILL:
            kept[skill] += 1
            chosen.add(index)
    return [row for index, row in enumerate(failed) if index in chosen]


def _skill_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in ("skill_id", "skill_version", "condition_id", "scorer"))


def _causes(failed: Sequence[Mapping[str, Any]]) -> tuple[Cause, ...]:
    """Take the causes of each condition × scorer once; every one of its failed trials names the same."""
    named = {(text(row, "condition_id"), text(row, "scorer")): row.get("causes") or () for row in failed}
    return tuple(
        Cause(
            condition_id=condition_id,
            scorer=scorer,
            kind=text(cause, "kind"),
            text=text(cause, "text"),
            n=tally(cause, "n"),
        )
        for (condition_id, scorer), found in named.items()
        for cause in found
    )


def _slice(row: Mapping[str, Any]) -> TagSlice:
    return TagSlice(
        condition_id=text(row, "condition_id"),
        scorer=text(row, "scorer"),
        tag=text(row, "tag"),
        n_tasks=tally(row, "n_tasks"),
        n_graded=tally(row, "n_graded"),
        n_passed=tally(row, "n_passed"),
        completion_rate=number(row, "completion_rate"),
        ci_low=number(row, "ci_low"),
        ci_high=number(row, "ci_high"),
    )


def _failed_trial(row: Mapping[str, Any]) -> FailedTrial:
    return FailedTrial(
        skill_id=text(row, "skill_id"),
        skill_version=text(row, "skill_version"),
        condition_id=text(row, "condition_id"),
        scorer=text(row, "scorer"),
        task_id=text(row, "task_id"),
        repeat=whole(row.get("repeat")) or 0,
        status=text(row, "status"),
        verdict=text(row, "verdict"),
        failure_kind=optional_text(row, "failure_kind"),
        message=_cut(optional_text(row, "message")),
        reason=_cut(optional_text(row, "reason")),
        evidence=_excerpt(row, "evidence"),
        input=_excerpt(row, "input"),
        expected=_excerpt(row, "expected"),
        output=_excerpt(row, "output"),
        stdout=_excerpt(row, "stdout"),
        stderr=_excerpt(row, "stderr"),
        latency_ms=number(row, "latency_ms"),
    )


def _excerpt(row: Mapping[str, Any], key: str) -> Excerpt | None:
    found = optional_text(row, key)
    return None if found is None else Excerpt(text=found[:MAX_EXCERPT], length=len(found))


def _cut(sentence: str | None) -> str | None:
    if sentence is None or len(sentence) <= MAX_EXCERPT:
        return sentence
    return sentence[: MAX_EXCERPT - 1] + "…"
