"""What is compared, and what one run of it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skilleval.domain.hashes import content_hash
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Benchmark, Task


class Mode(StrEnum):
    """How the skill takes part in a condition."""

    DIRECT = "direct"
    WITH_SKILL = "with_skill"
    WITHOUT_SKILL = "without_skill"
    OLD_SKILL = "old_skill"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What is compared: skill × adapter × model × sandbox × mode.

    `options_digest` covers the adapter and sandbox options, so two settings never share an id. `isolation` says
    whether each trial has a process of its own (`trial`) or many share one (`worker`). Without the skill it does not
    matter which edition of it there would be: such a condition stays the same when the skill is edited.
    """

    skill_id: str
    skill_version: str
    skill_digest: str
    adapter: str
    sandbox: str
    model: str | None = None
    mode: Mode = Mode.DIRECT
    options_digest: str = ""
    isolation: str = "trial"

    @property
    def condition_id(self) -> str:
        """Content hash of all parts."""
        edition = (self.skill_version, self.skill_digest)
        return content_hash(
            self.skill_id,
            *(("", "") if self.mode is Mode.WITHOUT_SKILL else edition),
            self.adapter,
            self.sandbox,
            self.model,
            self.mode,
            self.options_digest,
            self.isolation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One repeat of one task under one condition. `trial_id` is a content hash, equal in every run.

    `timeout_ms` is the task's own where it has one, else the run's. `call_key` is a content hash of what is asked of
    the skill and how: equal keys may share an attempt. Unlike `trial_id` it names neither benchmark nor task, for
    neither reaches the skill; it is empty where an old run did not keep it.
    """

    trial_id: str
    condition_id: str
    condition: Condition
    skill: Skill
    benchmark: Benchmark
    task: Task
    repeat: int
    seed: int
    timeout_ms: float
    call_key: str

    def retries(self, of_run: int) -> int:
        """Give the retries allowed: a skill's own file may ask for more patience than the run, not for less."""
        return max(of_run, int(self.skill.adapter_options.get("retries", 0)))
