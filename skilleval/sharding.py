"""Splitting a plan into shards: every machine that is given the same plan makes the same shards, at any time.

Nothing here looks at what a machine offers: a trial is known by what was asked for, so that two nodes whose sandboxes
enforce different things still agree on who runs it.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skilleval.domain.hashes import content_hash, short_hash
from skilleval.domain.trials import Trial

Call = tuple[str, str, str]
"""Which calls take how long: task, skill, mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """How long calls took in an earlier run: the mean of each task × skill × mode in whole microseconds.

    Whole numbers add up to the same on every machine. `source` is the id of that run.
    """

    source: str
    mean_us: Mapping[Call, int]

    @property
    def digest(self) -> str:
        """A hash of all that the balance depends on."""
        return content_hash([[*call, mean] for call, mean in sorted(self.mean_us.items())])

    def expected_us(self, trials: Iterable[Trial]) -> list[int]:
        """Give how long each trial is expected to take.

        A call that the run does not know takes as long as the same task in others, else as long as the mean call.
        """
        by_task: dict[str, list[int]] = {}
        for (task_id, _, _), mean in self.mean_us.items():
            by_task.setdefault(task_id, []).append(mean)
        of_task = {task_id: _mean(means) for task_id, means in by_task.items()}
        of_all = _mean(list(self.mean_us.values()))
        return [
            max(1, self.mean_us.get(_call(trial), of_task.get(trial.task.id, of_all))) for trial in trials
        ]


def _mean(numbers: Sequence[int]) -> int:
    return sum(numbers) // len(numbers) if numbers else 0


def _call(trial: Trial) -> Call:
    return trial.task.id, trial.skill.id, trial.condition.mode.value


def planned_ids(trials: Iterable[Trial], asked: Mapping[str, str]) -> list[str]:
    """Name each trial by what was asked for, so that its name is equal on every machine.

    `asked` gives for each condition a hash of it without what this machine offers; `trial_id` covers that too.
    """
    return [_planned_id(trial, asked.get(trial.condition_id, trial.condition_id)) for trial in trials]


def _planned_id(trial: Trial, asked: str) -> str:
    place = f"{asked}\0{trial.benchmark.id}\0{trial.task.id}"
    return short_hash(f"{place}\0{trial.timeout_ms!r}\0{trial.repeat}\0{trial.seed}")


def ids_digest(ids: Iterable[str]) -> str:
    """Hash ids in any order."""
    digest = hashlib.sha256()
    for one in sorted(ids):
        digest.update(one.encode())
    return digest.hexdigest()[:32]


def plan_hash(ids: Iterable[str], *more: object) -> str:
    """Hash a plan: its trials in any order, and what else decides which rows come of it."""
    return content_hash(ids_digest(ids), *more)


def shards_of(ids: Sequence[str], n_shards: int, weights: Sequence[int] | None = None) -> list[int]:
    """Say to which shard each trial belongs.

    Longest first, each trial goes to the shard that has the least to do; among equals the order is that of their
    ids, which are hashes. Without weights all trials are equal, so that shards differ by one trial at most.

    Source: Graham 1969, longest processing time first.
    """
    if n_shards == 1:
        return [0] * len(ids)
    heavy = [1] * len(ids) if weights is None else weights
    loads = [(0, shard) for shard in range(n_shards)]
    shards = [0] * len(ids)
    for at in sorted(range(len(ids)), key=lambda at: (-heavy[at], ids[at])):
        load, shard = loads[0]
        shards[at] = shard
        heapq.heapreplace(loads, (load + heavy[at], shard))
    return shards


def is_shard(manifest: Mapping[str, Any]) -> bool:
    """Say whether a run is one shard of several, so that nothing can be said of the whole by it alone."""
    plan = manifest.get("plan")
    shards = plan.get("shards") if isinstance(plan, Mapping) else None
    return isinstance(shards, int) and shards > 1


def shard_remark(plan: Mapping[str, Any], n_here: int) -> str:
    """Say which part of a plan runs here; `plan` is what the manifest says of it."""
    place = f"shard {plan['shard']} of {plan['shards']} (the first is 0)"
    if not n_here:
        return f"{place}: none of the {plan['n_trials']:,} trials of the plan falls to it"
    return f"{place}: {n_here:,} of {plan['n_trials']:,} trials; `skilleval merge` joins all shards"
