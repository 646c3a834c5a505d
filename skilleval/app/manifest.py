"""The manifest of a run: all that is needed to understand its rows and to run it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from skilleval.app.egress import destinations
from skilleval.app.prepare import Prepared
from skilleval.domain import Benchmark, Skill
from skilleval.provenance import git_state, machine, versions
from skilleval.results.schema import SCHEMA_VERSION


def first_manifest(prepared: Prepared, *, run_id: str, started_at: datetime, command: str) -> dict[str, Any]:
    """Describe a run that is about to start."""
    composed, settings = prepared.composed, prepared.settings
    sandbox = prepared.sandbox
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run_id,
        "sweep_id": composed.sweep.sweep_id if composed.sweep else None,
        "experiment": settings.experiment_name,
        "command": command,
        "config": dict(composed.values),
        "overrides": list(composed.overrides),
        "choices": dict(composed.choices),
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
        "runner": {"repeats": settings.runner.repeats, "concurrency": settings.runner.concurrency},
        "sandbox": {
            "name": sandbox.name,
            "guarantees": sorted(sandbox.guarantees),
            "warnings": list(sandbox.warnings),
        },
        "privacy": {
            "redact": list(settings.privacy.redact),
            "egress": [asdict(one) for one in destinations(prepared)],
            "n_redacted": None,
        },
        "warnings": list(prepared.warnings),
        "notices": list(prepared.notices),
        "n_planned": len(prepared.trials),
        "started_at": _utc(started_at),
        "ended_at": None,
        "interrupted": False,
        "counts": None,
        "exit_code": None,
    }


def finished_manifest(
    prepared: Prepared,
    first: Mapping[str, Any],
    *,
    statuses: Mapping[str, int],
    ended_at: datetime,
    interrupted: bool,
) -> dict[str, Any]:
    """Complete the manifest of a run that has ended."""
    return {
        **first,
        "ended_at": _utc(ended_at),
        "interrupted": interrupted,
        "privacy": {**first["privacy"], "n_redacted": prepared.redactor.n_redacted},
        "counts": {"trials": sum(statuses.values()), "by_status": dict(statuses)},
    }


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
        "digest": benchmark.digest,
        "path": str(benchmark.source),
        "n_tasks": len(benchmark.tasks),
        "scoring_method": benchmark.scoring_method,
        "k": benchmark.k,
        "max_latency_ms": benchmark.max_latency_ms,
    }


def _utc(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
