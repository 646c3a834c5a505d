"""A finished trial with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from skilleval.domain.attempts import Reply, Status, Try
from skilleval.domain.scores import Score
from skilleval.domain.trials import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """A finished trial: its tries (the last one is the attempt), its scores and the times around it.

    `queue_ms` runs from the start of the run until a worker took the trial; `scoring_ms` covers all scorers.
    None of them is part of the skill's latency. `concurrency` trials were allowed at once; `in_flight` calls were
    running when the last try began, itself included (null where an old run did not count them). `serial_latency_ms` is
    the latency of a further call that had the machine to itself, `serial_status` how that call ended. `reused_from` is
    the run that made the attempt, where it is an earlier one.
    """

    trial: Trial
    tries: tuple[Try, ...]
    scores: tuple[Score, ...]
    ended_at: datetime | None
    queue_ms: float | None
    scoring_ms: float
    concurrency: int | None
    in_flight: int | None = 1
    serial_latency_ms: float | None = None
    serial_status: Status | None = None
    reused_from: str | None = None

    @property
    def attempt(self) -> Reply:
        """What the trial produced."""
        return self.tries[-1].reply
