"""The runner: trials in, finished records out to a sink, by a bounded number of workers.

It knows protocols only. Each record is durable (the sink has returned) before it is counted.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Protocol, TypeVar, cast, runtime_checkable

from skilleval.adapters.base import Adapter, Admitting, Call, Recalling
from skilleval.clock import Clock
from skilleval.domain.attempts import Reply, Status, Try
from skilleval.domain.records import TrialRecord
from skilleval.domain.scores import Score
from skilleval.domain.trials import Trial

_T = TypeVar("_T")

GRACE_S = 10.0
"""What an adapter gets beyond the limit of the call, to end processes and report; then the runner gives up on it."""

MOMENT_S = 0.25
"""How long a program that was ended by a signal waits for our own end before it counts as an answer."""

_ENDED_BY_OTHERS = {"signal", "server_died"}

BREATH_S = 0.01
"""How long a worker whose adapter never waits may keep the event loop from Ctrl-C and the other workers."""


class Sink(Protocol):
    """Takes finished trials; durable on return."""

    def write(self, record: TrialRecord) -> None:
        """Keep one finished trial."""


class Hearing(Protocol):
    """One attempt before its judge."""

    async def waiting(self) -> tuple[Score, ...]:
        """Give scores that stand for those to come, where judging costs so much that the attempt is kept before."""

    async def scores(self, known: Sequence[Score] = ()) -> tuple[Score, ...]:
        """Give at least one score a scorer; those among `known` that would come out the same are not made again."""


class Judge(Protocol):
    """Scores attempts, or says that judging broke."""

    def hearing(self, trial: Trial, reply: Reply) -> Hearing:
        """Take up an attempt; nothing is looked at yet."""

    def ungraded(self, reason: str) -> tuple[Score, ...]:
        """Give one ungraded score a scorer."""


class Past(Protocol):
    """Remembers finished trials."""

    def record(self, trial: Trial) -> TrialRecord | None:
        """Give the finished trial whose attempt this one takes over; null where the skill is to be called.

        Trials are asked for in the order of the plan. `reused_from` of the record and of its scores names the run that
        made them.
        """


Observer = Callable[[TrialRecord], None]
"""Called for each trial after it is durable."""


@runtime_checkable
class Watching(Protocol):
    """An observer that is told of each trial that is begun, too."""

    def begun(self, trial: Trial) -> None:
        """A trial is taken up: its skill is going to be called, or an earlier attempt taken over."""


@runtime_checkable
class Staged(Protocol):
    """An observer that tells one pass over the trials from the next."""

    def begin(self, title: str, total: int) -> None:
        """A further pass begins, over so many trials."""


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


class _Flights:
    """Counts the calls that are under way."""

    def __init__(self) -> None:
        self.n = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Runs trials. `adapters` maps an adapter kind (`trial.condition.adapter`) to what drives it.

    A trial that `past` remembers is scored without a call. Once `is_over` says so, e.g. because a budget is spent, no
    further trial is begun.
    """

    adapters: Mapping[str, Adapter]
    judge: Judge
    sink: Sink
    options: RunnerOptions
    clock: Clock
    observe: Observer
    past: Past | None = None
    is_over: Callable[[], bool] = lambda: False
    _flights: _Flights = field(default_factory=_Flights, init=False)

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

    async def measure(self, records: Iterable[tuple[Trial, TrialRecord]]) -> None:
        """Call each of these trials once more, one at a time, and write it again with the latency of that call.

        Only status and time count: what the skill answers is not kept. A time-out has the time until it was cut off,
        or its limit; an error has none. `records` come beside the trials that are called: what is stored of a trial
        may be redacted.
        """
        for trial, record in records:
            reply = (await self._try(trial, 0, 0.0)).reply
            measured = replace(
                record, serial_latency_ms=_measured_ms(trial, reply), serial_status=reply.status
            )
            self.sink.write(measured)
            self.observe(measured)
            await asyncio.sleep(0)  # an adapter that never waits must not keep Ctrl-C from being heard

    async def _work(self, pending: Iterator[Trial], started: float) -> None:
        breath = started
        for trial in pending:
            if self.is_over():
                return
            queue_ms = self.clock.elapsed_ms(started)
            if _offers(self.observe, Watching):
                cast("Watching", self.observe).begun(trial)
            record = await self._record(trial, queue_ms)
            self.sink.write(record)
            self.observe(record)
            if self.clock.monotonic() - breath > BREATH_S:
                await asyncio.sleep(0)
                breath = self.clock.monotonic()

    async def _record(self, trial: Trial, queue_ms: float) -> TrialRecord:
        remembered = self.past.record(trial) if self.past is not None else None
        if remembered is not None:
            reply, known = remembered.attempt, remembered.scores
            record = partial(replace, remembered, trial=trial, queue_ms=queue_ms)
        else:
            tries, in_flight = await self._tries(trial)
            reply, known = tries[-1].reply, ()
            record = self._recording(trial, tries, queue_ms, in_flight)
        hearing = self.judge.hearing(trial, reply)
        if remembered is None and (waiting := await _guarded(hearing.waiting(), _nothing)):
            self.sink.write(record(scores=waiting, scoring_ms=0.0))
        scoring_started = self.clock.monotonic()
        scores = await _guarded(
            hearing.scores(known), lambda reason: self.judge.ungraded(f"scorer broke: {reason}")
        )
        return record(scores=scores, scoring_ms=self.clock.elapsed_ms(scoring_started))

    def _recording(
        self, trial: Trial, tries: tuple[Try, ...], queue_ms: float, in_flight: int
    ) -> partial[TrialRecord]:
        """Give the record of a trial but for what comes after its tries: its scores."""
        return partial(
            TrialRecord,
            trial=trial,
            tries=tries,
            ended_at=self.clock.utc(),
            queue_ms=queue_ms,
            concurrency=self.options.concurrency,
            in_flight=in_flight,
        )

    async def _tries(self, trial: Trial) -> tuple[tuple[Try, ...], int]:
        """Call the skill until it is done; say beside it how many calls were under way when the last one began."""
        in_flight = self._flights.n + 1
        done = [await self._try(trial, 0, 0.0)]
        retries = trial.retries(self.options.retries)
        if not (done[-1].reply.retryable and retries):
            return tuple(done), in_flight
        rng = random.Random(trial.seed)  # noqa: S311 - spreads retries; no secret
        while done[-1].reply.retryable and len(done) <= retries:
            pause_s = self.options.pause_s(len(done), done[-1].reply, rng)
            await self.clock.sleep(pause_s)
            in_flight = self._flights.n + 1
            done.append(await self._try(trial, len(done), pause_s * 1000))
        return tuple(done), in_flight

    async def _try(self, trial: Trial, try_index: int, backoff_ms: float) -> Try:
        adapter, call = self.adapters[trial.condition.adapter], _call(trial, try_index)
        if _offers(adapter, Admitting):
            await cast("Admitting", adapter).admit(call)
        started_at = self.clock.utc()
        self._flights.n += 1
        try:
            reply = await _guarded(_reply(adapter, call), _adapter_broke)
        finally:
            self._flights.n -= 1
        if reply.failure_kind in _ENDED_BY_OTHERS:
            # Who ends a job, as Slurm does, signals all its programs: a stop that comes now says that nobody answered.
            await self.clock.sleep(MOMENT_S)
        return Try(try_index=try_index, started_at=started_at, backoff_ms=backoff_ms, reply=reply)


def _offers(thing: object, more: type) -> bool:
    """Say whether something can do more than it has to; `isinstance` alone would cost as much as writing the row."""
    kind: type = type(thing)
    return _is_kind_of(kind, more)


_is_kind_of = lru_cache(maxsize=64)(issubclass)


def _call(trial: Trial, try_index: int) -> Call:
    return Call(
        skill=trial.skill,
        task_id=trial.task.id,
        input=trial.task.input,
        repeat=trial.repeat,
        seed=trial.seed,
        try_index=try_index,
        timeout_s=trial.timeout_ms / 1000,
        trial_id=trial.trial_id,
        mode=trial.condition.mode,
        files=trial.task.files,
    )


async def _reply(adapter: Adapter, call: Call) -> Reply:
    if _offers(adapter, Recalling):
        return cast("Recalling", adapter).recall(call)
    try:
        async with asyncio.timeout(call.timeout_s + GRACE_S) as limit:
            return await adapter.invoke(call)
    except TimeoutError:
        if not limit.expired():
            raise
        return Reply(
            status=Status.SANDBOX_ERROR,
            failure_kind="adapter_hang",
            message=f"the adapter did not return within {GRACE_S:g} s of the limit",
        )


def _measured_ms(trial: Trial, reply: Reply) -> float | None:
    if reply.status is Status.TIMEOUT:
        return trial.timeout_ms if reply.latency_ms is None else reply.latency_ms
    return reply.latency_ms if reply.status is Status.COMPLETED else None


def _nothing(_: str) -> tuple[Score, ...]:
    """Keep nothing before: what broke here breaks again where the scores are asked for, and is told there."""
    return ()


def _adapter_broke(reason: str) -> Reply:
    return Reply(status=Status.SANDBOX_ERROR, failure_kind="adapter_crash", message=reason, retryable=True)


async def _guarded(step: Awaitable[_T], fallback: Callable[[str], _T]) -> _T:
    """Take a step; what breaks in it becomes a row with its reason, not the end of the run."""
    try:
        return await step
    except Exception as error:  # noqa: BLE001 - the only one: a trial must not take the others down
        return fallback(f"{type(error).__name__}: {error}")
