"""Imported trials as lines of a journal, which the store makes into tables as it does with our own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from skilleval.domain.hashes import canonical_json, content_hash
from skilleval.domain.scores import Verdict
from skilleval.results.excerpts import shorten
from skilleval.results.importers.base import ImportedCheck, ImportedRun, ImportedTrial
from skilleval.results.importers.node import unusable
from skilleval.results.redaction import Redactor
from skilleval.results.rows import stamp


def check_distinct(run: ImportedRun) -> None:
    """Check that no two attempts claim to be the same repeat of a task under the same condition.

    Raises:
        ResultsError: two do; says where both stand.
    """
    seen: dict[str, ImportedTrial] = {}
    for trial in run.trials:
        before = seen.setdefault(_trial_id(run, trial), trial)
        if before is not trial:
            what = f"task {trial.task_id}, repeat {trial.repeat} of {trial.skill_id} once"
            hint = "results of two skills with one id, or of two runs, cannot be told apart"
            raise unusable(trial.where, "", what, f"again at {before.where}", hint)


def lines(run: ImportedRun, *, run_id: str, redactor: Redactor) -> Iterator[dict[str, Any]]:
    """Give the line of each trial, redacted and cut as our own are."""
    for trial in run.trials:
        line = redactor.line(
            {
                "trial": _trial(run, trial, run_id),
                "tries": [_try(trial)],
                "scores": [_score(check) for check in trial.checks],
                "judgements": [],
            }
        )
        for row in (*line["tries"], *line["scores"]):
            shorten(row)
        yield line


def _trial_id(run: ImportedRun, trial: ImportedTrial) -> str:
    return content_hash(trial.condition_id, run.benchmark.id, trial.task_id, trial.repeat)


def _trial(run: ImportedRun, trial: ImportedTrial, run_id: str) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "trial_id": _trial_id(run, trial),
        "condition_id": trial.condition_id,
        "skill_id": trial.skill_id,
        "skill_version": trial.skill_version or "",
        "skill_digest": trial.skill_digest or "",
        "adapter": trial.adapter,
        "model": trial.model,
        "sandbox": trial.sandbox,
        "isolation": "trial",
        "mode": trial.mode.value,
        "benchmark_id": run.benchmark.id,
        "benchmark_version": run.benchmark.version or "",
        "task_id": trial.task_id,
        "task_tags": list(trial.task_tags),
        "task_weight": trial.task_weight,
        "repeat": trial.repeat,
        "input": None if trial.input is None else canonical_json(dict(trial.input)),
        "expected": None if trial.expected is None else canonical_json(dict(trial.expected)),
        "timeout_ms": trial.timeout_ms,
        "ended_at": stamp(trial.ended_at),
        "n_tries": 1,
    }


def _try(trial: ImportedTrial) -> dict[str, Any]:
    output = trial.output
    return {
        "try_index": 0,
        "status": trial.status.value,
        "failure_kind": trial.failure_kind,
        "message": trial.message,
        "output": output,
        "output_bytes": None if output is None else len(output.encode("utf-8", "replace")),
        "latency_ms": trial.latency_ms,
        **asdict(trial.usage),
        "request": trial.request,
        "tool_calls": trial.tool_calls,
        "response_model": trial.response_model,
        "notes": list(trial.notes),
        "started_at": stamp(trial.started_at),
        "backoff_ms": 0.0,
    }


def _score(check: ImportedCheck) -> dict[str, Any]:
    is_graded = check.verdict is not Verdict.UNGRADED
    return {
        **asdict(check),
        "scorer_version": "",
        "verdict": check.verdict.value,
        "passed": check.verdict is Verdict.PASSED if is_graded else None,
    }
