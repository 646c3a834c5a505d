"""What a skill is asked: tasks and the benchmarks they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilleval.domain.files import TaskFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """The scorer a task names for itself, with the options it gives."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One problem of a benchmark.

    `expected` holds the keys of `expectedOutput` but `type` (e.g. `value`, `keywords`). `evaluator` is null where
    the task names none. `skill_id` names the one skill that is asked; null: all are. `folder` is where relative paths
    of the task start; null: where its benchmark stands.
    """

    id: str
    input: Mapping[str, Any]
    expected: Mapping[str, Any]
    description: str = ""
    evaluator: Evaluator | None = None
    timeout_ms: float | None = None
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    skill_id: str | None = None
    files: tuple[TaskFile, ...] = ()
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A named, versioned collection of tasks; `digest` is the SHA-256 of its file."""

    id: str
    version: str
    name: str
    tasks: tuple[Task, ...]
    source: Path
    digest: str
    domain: str = "general"
    scoring_method: str = "mean"
    k: int = 1
    max_latency_ms: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
