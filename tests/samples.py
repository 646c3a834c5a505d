"""Small frozen values that many tests need."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Benchmark, Evaluator, Task
from skilleval.domain.trials import Condition, Trial
from skilleval.plan import PlannedSkill, PlanOptions, build_trials
from skilleval.scorers.base import MISSING, Finding, Scorer, ScoringRecord

DONE = Reply(status=Status.COMPLETED, output='{"result":3}', latency_ms=1.0)


def skill(skill_id: str = "adder", version: str = "1.0.0", **changes: Any) -> Skill:
    """Give a skill that is never run."""
    values: dict[str, Any] = {
        "id": skill_id,
        "version": version,
        "name": skill_id,
        "adapter": "replay",
        "entrypoint": "none",
        "folder": Path("skills") / skill_id,
        "source": Path("skills") / skill_id / "skill.json",
        "digest": "0" * 64,
    }
    return Skill(**(values | changes))


def planned(one: Skill | None = None, **changes: Any) -> PlannedSkill:
    """Give a skill with a condition."""
    one = one or skill()
    values: dict[str, Any] = {
        "skill_id": one.id,
        "skill_version": one.version,
        "skill_digest": one.digest,
        "adapter": one.adapter,
        "sandbox": "none",
    }
    return PlannedSkill(skill=one, condition=Condition(**(values | changes)))


def task(task_id: str = "t1", *, value: Any = 3, **changes: Any) -> Task:
    """Give a task that expects a value."""
    values: dict[str, Any] = {"id": task_id, "input": {"a": 1, "b": 2}, "expected": {"value": value}}
    return Task(**(values | changes))


def benchmark(*tasks: Task, **changes: Any) -> Benchmark:
    """Give a benchmark of these tasks."""
    values: dict[str, Any] = {
        "id": "sums",
        "version": "1.0.0",
        "name": "Sums",
        "tasks": tasks or (task(),),
        "source": Path("benchmarks/sums/benchmark.json"),
        "digest": "1" * 64,
    }
    return Benchmark(**(values | changes))


def trials(
    *tasks: Task, skills: tuple[PlannedSkill, ...] = (), repeats: int = 1, seed: int = 0
) -> tuple[Trial, ...]:
    """Give the trials of some tasks."""
    options = PlanOptions(repeats=repeats, seed=seed, timeout_ms=1000.0)
    return build_trials(skills or (planned(),), benchmark(*tasks), options)


def judged(scorer: Scorer, seen: ScoringRecord) -> tuple[Finding, ...]:
    """Let a scorer judge one record."""
    return asyncio.run(scorer.findings(seen))


def record(
    output: Any = MISSING,
    *,
    expected: Mapping[str, Any] | None = None,
    evaluator: Evaluator | None = None,
) -> ScoringRecord:
    """Give what a scorer sees of a completed attempt."""
    return ScoringRecord(task_id="t1", input={}, expected=expected or {}, evaluator=evaluator, output=output)
