"""The manifest of a run: all that is needed to understand its rows and to run it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from skilleval.app.egress import destinations
from skilleval.app.models import model_facts
from skilleval.app.parts import sandbox_facts
from skilleval.app.prepare import Prepared
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Benchmark
from skilleval.provenance import git_state, machine, versions
from skilleval.results.schema import SCHEMA_VERSION
from skilleval.sandboxes.proxy import Passing


def first_manifest(
    prepared: Prepared, *, run_id: str, started_at: datetime, command: str, plan_digest: str | None
) -> dict[str, Any]:
    """Describe a run that is about to start; without a digest of its plan nothing can go on with it."""
    composed, settings = prepared.composed, prepared.settings
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run_id,
        "sweep_id": composed.sweep.sweep_id if composed.sweep else None,
        "experiment": settings.experiment_name,
        "command": command,
        "folder": str(Path.cwd()),
        **_settings(prepared),
        "versions": versions(),
        "platform": machine(),
        "git": git_state(Path.cwd()),
        "skills": [_skill(skill) for skill in prepared.skills],
        "benchmark": _benchmark(prepared.benchmark),
        "scorers": {
            name: {
                "kind": scorer.info.kind,
                "version": scorer.info.version,
                "options": dict(scorer.info.options),
            }
            for name, scorer in prepared.scorers.items()
        },
        "seeds": {"runner": settings.runner.seed},
        "n_planned": len(prepared.trials),
        "plan_digest": plan_digest,
        "plan": None if prepared.plan is None else prepared.plan.facts(),
        "started_at": _utc(started_at),
        "resumes": [],
        **_UNFINISHED,
    }


_UNFINISHED = {"ended_at": None, "interrupted": False, "stopped_by": None, "counts": None, "exit_code": None}


def _settings(prepared: Prepared) -> dict[str, Any]:
    """Describe what may differ between a run and its continuation, without making it another run."""
    composed, runner, sandbox = prepared.composed, prepared.settings.runner, prepared.sandbox
    return {
        "config": dict(composed.values),
        "overrides": list(composed.overrides),
        "choices": dict(composed.choices),
        "runner": {"repeats": runner.repeats, "concurrency": runner.concurrency},
        "models": model_facts(prepared.settings, prepared.models),
        "sandbox": {
            "name": sandbox.name,
            "mechanism": getattr(sandbox, "mechanism", None),
            "guarantees": sorted(sandbox.guarantees),
            "warnings": list(sandbox.warnings),
            "facts": sandbox_facts(sandbox),
            "egress": [],
        },
        "privacy": {
            "redact": list(prepared.settings.privacy.redact),
            "egress": [asdict(one) for one in destinations(prepared)],
            "n_redacted": None,
        },
        "warnings": list(prepared.warnings),
        "notices": list(prepared.notices),
    }


def resumed_manifest(
    prepared: Prepared,
    before: Mapping[str, Any],
    *,
    left: Mapping[str, Any],
    started_at: datetime,
    command: str,
) -> dict[str, Any]:
    """Describe a run that is about to be gone on with.

    Each continuation is noted: when the run had stopped (null: it was killed), what was left, and who asked for it.
    """
    resume = {
        "stopped_at": before.get("ended_at"),
        "started_at": _utc(started_at),
        "ended_at": None,
        "command": command,
        "versions": versions(),
        **left,
    }
    return {
        **before,
        **_settings(prepared),
        **_UNFINISHED,
        "schema_version": SCHEMA_VERSION,
        "resumes": [*before.get("resumes", ()), resume],
    }


def finished_manifest(  # noqa: PLR0913 - keywords: each is a fact of its own
    prepared: Prepared,
    first: Mapping[str, Any],
    *,
    before: Mapping[str, Any] | None,
    statuses: Mapping[str, int],
    n_judge_errors: int,
    n_not_judged: int,
    loads: Sequence[int],
    ended_at: datetime | None,
    interrupted: bool,
    stopped_by: str | None = None,
) -> dict[str, Any]:
    """Complete the manifest of a run that has ended; `before` is the one that a continuation found.

    `loads` are the lowest and the highest concurrency that any trial had, which may be those of earlier sessions.
    `stopped_by` says what ended the run early where nobody did.
    """
    ended = None if ended_at is None else _utc(ended_at)
    return {
        **first,
        "ended_at": ended,
        "interrupted": interrupted,
        "stopped_by": stopped_by,
        "warnings": [*first["warnings"], *([f"stopped early: {stopped_by}"] if stopped_by else [])],
        "runner": {**first["runner"], **_concurrency(loads)},
        "privacy": {**first["privacy"], "n_redacted": _n_redacted(prepared, before)},
        "sandbox": {**first["sandbox"], "egress": _egress(prepared)},
        "counts": {
            "trials": sum(statuses.values()),
            "by_status": dict(statuses),
            "judge_errors": n_judge_errors,
            "not_judged": n_not_judged,
        },
        "resumes": [*first["resumes"][:-1], *({**one, "ended_at": ended} for one in first["resumes"][-1:])],
    }


def n_done(counts: Mapping[str, Any]) -> int:
    """Count the trials that are done, by the counts of a manifest: those that only await their judge are not."""
    return int(counts["trials"]) - int(counts.get("not_judged") or 0)


def _concurrency(loads: Sequence[int]) -> dict[str, int]:
    return {"concurrency": loads[-1], "lowest_concurrency": loads[0]} if loads else {}


def _egress(prepared: Prepared) -> list[dict[str, Any]]:
    """List what programs in the sandbox asked of its way out, let through or not; a name may hold a key."""
    sandbox = prepared.sandbox
    passages = sandbox.passages if isinstance(sandbox, Passing) else ()
    return [{**asdict(one), "target": prepared.redactor.unhidden(str(one.target))} for one in passages]


def _n_redacted(prepared: Prepared, before: Mapping[str, Any] | None) -> int | None:
    """Count the redacted places; null where a former part of the run was killed before it could count."""
    now = prepared.redactor.n_redacted
    if before is None or not prepared.settings.privacy.redact:
        return now
    then = before["privacy"]["n_redacted"]
    return None if then is None else int(then) + now


def _skill(skill: Skill) -> dict[str, Any]:
    return {
        "id": skill.id,
        "version": skill.version,
        "name": skill.name,
        "adapter": skill.adapter,
        "digest": skill.digest,
        "path": str(skill.folder),
    }


def _benchmark(benchmark: Benchmark) -> dict[str, Any]:
    return {
        "id": benchmark.id,
        "version": benchmark.version,
        "name": benchmark.name,
        "domain": benchmark.domain,
        "digest": benchmark.digest,
        "path": str(benchmark.source),
        "n_tasks": len(benchmark.tasks),
        "scoring_method": benchmark.scoring_method,
        "k": benchmark.k,
        "max_latency_ms": benchmark.max_latency_ms,
    }


def _utc(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
