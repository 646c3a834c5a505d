"""The plan: skills × tasks × repeats, counted and hashed before anything runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skilleval.domain.hashes import content_hash, short_hash
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Benchmark, Task
from skilleval.domain.trials import Condition, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSkill:
    """A skill and the condition under which it is going to be driven."""

    skill: Skill
    condition: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """How often each task is repeated, from which seed, and the limit for tasks without one of their own."""

    repeats: int
    seed: int
    timeout_ms: float


def trial_seed(run_seed: int, benchmark_id: str, task_id: str, repeat: int) -> int:
    """Derive the seed of a trial (31 bits).

    It depends on task and repeat, not on the skill: every skill meets the same seeds, so comparisons are paired,
    and no two repeats share one, so consistency is not faked.
    """
    text = f"{run_seed}\0{benchmark_id}\0{task_id}\0{repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1


def build_trials(
    planned: Sequence[PlannedSkill], benchmark: Benchmark, options: PlanOptions
) -> tuple[Trial, ...]:
    """Lay out every trial: repeat by repeat, task by task, so that an interrupted run is balanced over skills."""
    cells = [_Cell.of(one, benchmark, task, options) for one, task in _cells(planned, benchmark)]
    return tuple(cell.trial(repeat, options.seed) for repeat in range(options.repeats) for cell in cells)


def n_cells(planned: Sequence[PlannedSkill], benchmark: Benchmark) -> int:
    """Count the tasks of all conditions, each asked of the skills that it is for."""
    return sum(1 for _ in _cells(planned, benchmark))


def _cells(planned: Sequence[PlannedSkill], benchmark: Benchmark) -> Iterator[tuple[PlannedSkill, Task]]:
    for task in benchmark.tasks:
        for one in planned:
            if task.skill_id in {None, one.skill.id}:
                yield one, task


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """One task under one condition: all that its repeats share."""

    planned: PlannedSkill
    condition_id: str
    benchmark: Benchmark
    task: Task
    timeout_ms: float
    trial_hash: str
    call_hash: str

    @classmethod
    def of(cls, planned: PlannedSkill, benchmark: Benchmark, task: Task, options: PlanOptions) -> _Cell:
        timeout_ms = _limit(task, planned.skill, options)
        condition_id = planned.condition.condition_id
        files = [[file.name, file.digest] for file in task.files]
        call = (dict(task.input), float(timeout_ms), *([files] if files else []))
        return cls(
            planned=planned,
            condition_id=condition_id,
            benchmark=benchmark,
            task=task,
            timeout_ms=float(timeout_ms),
            trial_hash=content_hash(condition_id, benchmark.id, task.id, *call),
            call_hash=content_hash(condition_id, *call),
        )

    def trial(self, repeat: int, run_seed: int) -> Trial:
        seed = trial_seed(run_seed, self.benchmark.id, self.task.id, repeat)
        return Trial(
            trial_id=short_hash(f"{self.trial_hash}:{repeat}:{seed}"),
            condition_id=self.condition_id,
            condition=self.planned.condition,
            skill=self.planned.skill,
            benchmark=self.benchmark,
            task=self.task,
            repeat=repeat,
            seed=seed,
            timeout_ms=self.timeout_ms,
            call_key=short_hash(f"{self.call_hash}:{repeat}:{seed}"),
        )


def _limit(task: Task, skill: Skill, options: PlanOptions) -> float:
    """Give the limit of a trial: the task's own, else the one in the skill's `adapter.config.json`, else the run's."""
    if task.timeout_ms is not None:
        return task.timeout_ms
    return float(skill.adapter_options.get("timeout_ms", options.timeout_ms))


def longest_duration_s(trials: Iterable[Trial], *, concurrency: int, retries: int) -> float:
    """Bound the time of a run from above: every try of every trial uses its whole limit, pauses apart.

    Workers take the next trial as soon as they are free, so no plan takes longer than its share for each worker plus
    what the longest trial may stick out.

    Source: Graham 1966, bound of list scheduling.
    """
    limits = [trial.timeout_ms / 1000 * (1 + trial.retries(retries)) for trial in trials]
    if not limits:
        return 0.0
    return sum(limits) / concurrency + max(limits) * (1 - 1 / concurrency)
