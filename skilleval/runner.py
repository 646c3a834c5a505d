"""The runner: trials in, finished records out to a sink, by a bounded number of workers.

It knows protocols only. Each record is durable (the sink has returned) before it is counted.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from skilleval.adapters.base import Adapter, Call
from skilleval.clock import Clock
from skilleval.domain import Reply, Score, Status, Trial, TrialRecord, Try

_T = TypeVar("_T")

GRACE_S = 10.0
"""What an adapter gets beyond the limit of the call, to end processes and report; then the runner gives up on it."""

BREATH_S = 0.01
"""How long a worker whose adapter never waits may keep the event loop from Ctrl-C and the other workers."""


class Sink(Protocol):
    """Takes finished trials; durable on return."""

    def write(self, record: TrialRecord) -> None:
        """Keep one finished trial."""


class Judge(Protocol):
    """Scores an attempt, or says that judging broke."""

    async def scores(self, trial: Trial, reply: Reply) -> tuple[Score, ...]:
        """Give at least one score a scorer."""

    def ungraded(self, reason: str) -> tuple[Score, ...]:
        """Give one ungraded score a scorer."""


Observer = Callable[[TrialRecord], None]
"""Called for each trial after it is durable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerOptions:
    """Workers and retries. The pause before try i ≥ 1 is `base · factor^(i−1)`, at most `max`.

    `jitter` is the share of the pause that is random.
    """

    concurrency: int
    retries: int
    backoff_base_s: float
    backoff_factor: float
    backoff_max_s: float
    jitter: float

    def pause_s(self, try_index: int, reply: Reply, rng: random.Random) -> float:
        """Give the pause before a try; a provider's own `retry_after_s` wins where it is longer."""
        full = min(self.backoff_base_s * self.backoff_factor ** (try_index - 1), self.backoff_max_s)
        pause = full * (1 - self.jitter * rng.random())
        return max(pause, reply.retry_after_s or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Runs trials. `adapters` maps an adapter kind (`trial.condition.adapter`) to what drives it."""

    adapters: Mapping[str, Adapter]
    judge: Judge
    sink: Sink
    options: RunnerOptions
    clock: Clock
    observe: Observer

    async def run(self, trials: Sequence[Trial]) -> None:
        """Run all trials. Cancelling ends the children of running trials and leaves what is done in the sink."""
        started = self.clock.monotonic()
        pending = iter(trials)
        n_workers = min(self.options.concurrency, len(trials))
        workers = [asyncio.create_task(self._work(pending, started)) for _ in range(n_workers)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, pending: Iterator[Trial], started: float) -> None:
        breath = started
        for trial in pending:
            queue_ms = self.clock.elapsed_ms(started)
            record = await self._record(trial, queue_ms)
            self.sink.write(record)
            self.observe(record)
            if self.clock.monotonic() - breath > BREATH_S:
                await asyncio.sleep(0)
                breath = self.clock.monotonic()

    async def _record(self, trial: Trial, queue_ms: float) -> TrialRecord:
        tries = await self._tries(trial)
        ended_at = self.clock.utc()
        scoring_started = self.clock.monotonic()
        scores = await _guarded(
            self.judge.scores(trial, tries[-1].reply),
            lambda reason: self.judge.ungraded(f"scorer broke: {reason}"),
        )
        return TrialRecord(
            trial=trial,
            tries=tries,
            scores=scores,
            ended_at=ended_at,
            queue_ms=queue_ms,
            scoring_ms=self.clock.elapsed_ms(scoring_started),
            concurrency=self.options.concurrency,
        )

    async def _tries(self, trial: Trial) -> tuple[Try, ...]:
        done = [await self._try(trial, 0, 0.0)]
        retries = trial.retries(self.options.retries)
        if not (done[-1].reply.retryable and retries):
            return tuple(done)
        rng = random.Random(trial.seed)  # noqa: S311 - spreads retries; no secret
        while done[-1].reply.retryable and len(done) <= retries:
            pause_s = self.options.pause_s(len(done), done[-1].reply, rng)
            await self.clock.sleep(pause_s)
            done.append(await self._try(trial, len(done), pause_s * 1000))
        return tuple(done)

    async def _try(self, trial: Trial, try_index: int, backoff_ms: float) -> Try:
        started_at = self.clock.utc()
        reply = await _guarded(self._reply(trial, try_index), _adapter_broke)
        return Try(try_index=try_index, started_at=started_at, backoff_ms=backoff_ms, reply=reply)

    async def _reply(self, trial: Trial, try_index: int) -> Reply:
        adapter = self.adapters[trial.condition.adapter]
        timeout_s = trial.timeout_ms / 1000
        call = Call(
            skill=trial.skill,
            task_id=trial.task.id,
            input=trial.task.input,
            repeat=trial.repeat,
            seed=trial.seed,
            try_index=try_index,
            timeout_s=timeout_s,
            trial_id=trial.trial_id,
        )
        try:
            async with asyncio.timeout(timeout_s + GRACE_S) as limit:
                return await adapter.invoke(call)
        except TimeoutError:
            if not limit.expired():
                raise
            return Reply(
                status=Status.SANDBOX_ERROR,
                failure_kind="adapter_hang",
                message=f"the adapter did not return within {GRACE_S:g} s of the limit",
            )


def _adapter_broke(reason: str) -> Reply:
    return Reply(status=Status.SANDBOX_ERROR, failure_kind="adapter_crash", message=reason, retryable=True)


async def _guarded(step: Awaitable[_T], fallback: Callable[[str], _T]) -> _T:
    """Take a step; what breaks in it becomes a row with its reason, not the end of the run."""
    try:
        return await step
    except Exception as error:  # noqa: BLE001 - the only one: a trial must not take the others down
        return fallback(f"{type(error).__name__}: {error}")
