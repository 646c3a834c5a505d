"""The whole plan behind a run, and the share of it that runs here: equal on every machine, at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.analytics.durations import CALL, call_durations
from skilleval.app.analyse import settled
from skilleval.config.settings import Settings
from skilleval.domain.tasks import Benchmark
from skilleval.domain.trials import Trial
from skilleval.errors import ConfigError, Problem, ResultsError
from skilleval.results.find import LATEST, find_run
from skilleval.results.places import local_place
from skilleval.results.schema import TRIALS
from skilleval.results.store import scan_table
from skilleval.scorers.base import Scorer
from skilleval.sharding import Durations, plan_hash, planned_ids, shards_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All trials of a plan, over all its shards.

    `asked` gives for each condition what was asked for, without what this machine offers. `more` is what else decides
    which rows come of it. Two plans with the same digest have the same shards if `durations` are the same too.
    """

    trials: tuple[Trial, ...]
    asked: Mapping[str, str]
    more: tuple[object, ...]
    n_shards: int = 1
    shard: int = 0
    durations: Durations | None = None

    @property
    def ids(self) -> list[str]:
        """The trials by what was asked for: names that are equal on every machine."""
        return planned_ids(self.trials, self.asked)

    def shards(self, ids: Sequence[str]) -> list[int]:
        """Say to which shard each trial belongs; `ids` are those of this plan."""
        weights = None if self.durations is None else self.durations.expected_us(self.trials)
        return shards_of(ids, self.n_shards, weights)

    def digest(self, ids: Sequence[str]) -> str:
        """Hash the whole plan, equal on every machine."""
        return plan_hash(ids, *self.more)

    @property
    def share(self) -> tuple[Trial, ...]:
        """The trials that run here, in the order of the plan; none where there are more shards than trials."""
        if self.n_shards == 1:
            return self.trials
        shards = self.shards(self.ids)
        return tuple(one for one, at in zip(self.trials, shards, strict=True) if at == self.shard)

    @property
    def place(self) -> dict[str, int]:
        """Which shard runs here, of how many, and how many trials all of them have."""
        return {"n_trials": len(self.trials), "shards": self.n_shards, "shard": self.shard}

    def facts(self) -> dict[str, Any]:
        """Describe the plan as a manifest tells it: which shard of which plan a run is."""
        balanced = None
        if self.durations is not None:
            balanced = {"run_id": self.durations.source, "digest": self.durations.digest}
        return {"digest": self.digest(self.ids), **self.place, "durations": balanced}


def build_plan(
    trials: tuple[Trial, ...],
    asked: Mapping[str, str],
    settings: Settings,
    scorers: Mapping[str, Scorer],
    benchmark: Benchmark,
) -> Plan:
    """Put a plan together, with the shards that the settings ask for.

    Raises:
        SkillevalError: the run whose latencies balance the shards cannot be used.
    """
    return Plan(
        trials=trials,
        asked=asked,
        more=(
            [[name, *judging(scorers[name])] for name in sorted(scorers)],
            settings.runner.latency,
            list(settings.privacy.redact),
            judged_by(benchmark),
        ),
        n_shards=settings.plan.shards,
        shard=settings.plan.shard,
        durations=_durations(settings),
    )


def judged_by(benchmark: Benchmark) -> list[Any]:
    """Name all that makes another judgement of the same outputs; the digest covers files that tasks name."""
    return [benchmark.digest, benchmark.scoring_method, [[task.id, task.weight] for task in benchmark.tasks]]


def judging(scorer: Scorer) -> tuple[str, str, dict[str, Any]]:
    """Name all that makes a scorer judge otherwise: its kind, its version, its options."""
    info = scorer.info
    return info.kind, info.version, without_places(scorer, info.options)


def without_places(part: object, options: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce the paths among the options of a part to their last name: where a file lies makes nothing else of it."""
    places = getattr(part, "places", ())
    return {key: Path(value).name if key in places else value for key, value in options.items()}


def _durations(settings: Settings) -> Durations | None:
    """Read what the shards are balanced by; null where all trials count the same."""
    named = settings.plan.durations
    if named is None or settings.plan.shards == 1:
        return None
    if named == LATEST:
        problem = Problem(where="config", key="plan.durations", expected="one certain run", found=LATEST)
        hint = "name the run: shards that start at different times would find different ones"
        raise ConfigError("shards must agree on their durations", problems=(problem,), hint=hint)
    folder = find_run(named, local_place(settings.paths.store or settings.paths.output_dir))
    manifest = settled(folder)
    rows = call_durations(scan_table(folder, TRIALS)).select(*CALL, "mean_us").collect()
    if rows.is_empty():
        msg = f"{folder} cannot balance shards: no call of it has a known duration"
        raise ResultsError(msg, hint="name another run with plan.durations, or leave it out")
    means = {(task, skill, mode): mean for task, skill, mode, mean in rows.iter_rows()}
    return Durations(source=str(manifest["run_id"]), mean_us=means)
