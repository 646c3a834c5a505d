"""What Hydra calls in each job: composes the last step, runs the job, and notes how it ended."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hydra.conf import HydraConf
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from skilleval.config.compose.composing import Composed, SweepJob, build_composed, choices_of
from skilleval.config.compose.launching import Origin, at_home
from skilleval.config.compose.ledger import Ledger, Outcome
from skilleval.config.compose.session import Sources
from skilleval.errors import ConfigError, InterruptionsKept, SkillevalError

log = logging.getLogger(__name__)

INTERRUPTED = 130
_BROKEN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What Hydra calls in each job. It is plain data, so that launchers can carry it to other processes."""

    job: Callable[[Composed], Mapping[str, Any]]
    sources: Sources
    ledger: Ledger | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    origin: Origin = field(default_factory=Origin)

    def __call__(self, config: DictConfig) -> Outcome:
        """Run the job on its composed config; a user's mistake ends this job and no other one."""
        with at_home(self.origin):
            return self._run(config)

    def _run(self, config: DictConfig) -> Outcome:
        node = HydraConfig.get()
        overrides = tuple(str(text) for text in node.overrides.task)
        if self.ledger is None:
            self.outcomes[:] = [self._outcome(config, node, overrides, None)]
            return self.outcomes[0]
        place = self.ledger.place(overrides, int(node.job.num))
        done = None if self.origin.is_here else self.ledger.done(place)
        if done is not None:
            return done  # a queue outlives whoever filled it: another session was faster
        # Written first, so that a job that is killed is known to have been there.
        self.ledger.begin(place, overrides)
        outcome: Outcome | None = None
        try:
            with InterruptionsKept():
                outcome = self._outcome(config, node, overrides, place)
        finally:
            self.ledger.end(place, outcome or _broken())
        if outcome["exit_code"] == INTERRUPTED:
            raise KeyboardInterrupt  # the user stopped the sweep, not this one job
        return outcome

    def _outcome(
        self, config: DictConfig, node: HydraConf, overrides: tuple[str, ...], place: SweepJob | None
    ) -> Outcome:
        start: Outcome = {"job": place.job_num if place else 0, "overrides": list(overrides)}
        sources = replace(self.sources, request=replace(self.sources.request, overrides=overrides))
        try:
            composed = build_composed(config, choices_of(node), sources, sweep=place)
            return {**start, **self.job(composed)}
        except SkillevalError as error:
            is_refused = isinstance(error, ConfigError)
            return {**start, "exit_code": error.exit_code, "error": str(error), "is_refused": is_refused}


def _broken() -> Outcome:
    """Tell of the exception that is on its way out of a job: the user's stop, or a fault of ours."""
    error = sys.exc_info()[1]
    if isinstance(error, KeyboardInterrupt):
        return {"exit_code": INTERRUPTED, "error": "the job was stopped"}
    log.info("traceback", exc_info=error)
    return {"exit_code": _BROKEN, "error": f"the job broke: {type(error).__name__}: {error}"}
