"""The runner turns trials into durable records; no mishap of one trial reaches another."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence

import pytest
from samples import DONE, planned, skill, task, trials

from skilleval.adapters.base import Call
from skilleval.clock import Clock
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.records import TrialRecord
from skilleval.domain.scores import Score, Verdict
from skilleval.domain.trials import Trial
from skilleval.runner import MOMENT_S, Past, Runner, RunnerOptions

CRASH = Reply(status=Status.SKILL_ERROR, failure_kind="exit_code", retryable=True)
OPTIONS = RunnerOptions(
    concurrency=2, retries=0, backoff_base_s=1.0, backoff_factor=2.0, backoff_max_s=3.0, jitter=0.0
)


class Scripted:
    """An adapter that answers by a function of the call."""

    kind = "replay"

    def __init__(self, answer: Callable[[Call], Reply]) -> None:
        self._answer = answer
        self.active = self.most = 0

    async def invoke(self, call: Call) -> Reply:
        """Answer after letting others run."""
        self.active += 1
        self.most = max(self.most, self.active)
        try:
            await asyncio.sleep(0)
        finally:
            self.active -= 1
        return self._answer(call)

    async def aclose(self) -> None:
        """Hold nothing."""


class Kept:
    """A sink in memory."""

    def __init__(self) -> None:
        self.records: list[TrialRecord] = []

    def write(self, record: TrialRecord) -> None:
        """Keep it."""
        self.records.append(record)


class Hearing:
    """One attempt before the judge below."""

    def __init__(self, judge: Judge, trial: Trial, reply: Reply) -> None:
        self._judge, self._trial, self._reply = judge, trial, reply

    async def waiting(self) -> tuple[Score, ...]:
        """Judge at once, or break."""
        return () if not self._judge.broken else await self.scores()

    async def scores(self, known: Sequence[Score] = ()) -> tuple[Score, ...]:
        """Give one score, made anew whatever is known."""
        del known
        if self._judge.broken:
            message = f"cannot judge {self._trial.task.id}"
            raise ValueError(message)
        passed = self._reply.status is Status.COMPLETED
        return (_score(Verdict.PASSED if passed else Verdict.FAILED, float(passed)),)


class Judge:
    """Passes what completed; breaks on request."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken

    def hearing(self, trial: Trial, reply: Reply) -> Hearing:
        """Take up an attempt."""
        return Hearing(self, trial, reply)

    def ungraded(self, reason: str) -> tuple[Score, ...]:
        """Give no score."""
        return (_score(Verdict.UNGRADED, None, reason),)


class QuickClock(Clock):
    """A clock whose pauses are noted instead of waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Note the pause."""
        self.pauses.append(seconds)


def _score(verdict: Verdict, score: float | None, reason: str = "") -> Score:
    return Score(
        scorer="judge",
        rule="judge",
        scorer_version="1",
        check_id="0",
        check="",
        verdict=verdict,
        score=score,
        reason=reason,
    )


def run(  # noqa: PLR0913 - keywords: each test changes one part
    laid_out: Sequence[Trial],
    answer: Callable[[Call], Reply],
    *,
    options: RunnerOptions = OPTIONS,
    judge: Judge | None = None,
    clock: Clock | None = None,
    past: Past | None = None,
) -> tuple[list[TrialRecord], Scripted]:
    """Run trials by a scripted adapter."""
    sink, adapter = Kept(), Scripted(answer)
    runner = Runner(
        adapters={"replay": adapter},
        judge=judge or Judge(),
        sink=sink,
        options=options,
        clock=clock or QuickClock(),
        observe=lambda record: None,
        past=past,
    )
    asyncio.run(runner.run(laid_out))
    return sink.records, adapter


def replaced(**changes: float) -> RunnerOptions:
    """Give the usual options with some changed."""
    from dataclasses import replace

    return replace(OPTIONS, **changes)  # type: ignore[arg-type]


def test_every_trial_becomes_one_record() -> None:
    """Nothing is lost and nothing is doubled."""
    laid_out = trials(task("t1"), task("t2"), repeats=5)
    records, _ = run(laid_out, lambda call: DONE)
    assert sorted(record.trial.trial_id for record in records) == sorted(one.trial_id for one in laid_out)


def test_workers_are_bounded() -> None:
    """Never more trials at once than the concurrency, and as many as that."""
    _, adapter = run(trials(task(), repeats=9), lambda call: DONE, options=replaced(concurrency=3))
    assert adapter.most == 3


def test_the_seed_reaches_the_skill() -> None:
    """Each call carries the seed of its trial."""
    seen: list[int] = []
    laid_out = trials(task(), repeats=3)
    run(laid_out, lambda call: seen.append(call.seed) or DONE)  # type: ignore[func-returns-value]
    assert sorted(seen) == sorted(trial.seed for trial in laid_out)


def test_a_crashing_adapter_is_an_infrastructure_error() -> None:
    """What breaks around a skill is a row with its reason; the other trials go on."""

    def answer(call: Call) -> Reply:
        if call.task_id == "bad":
            message = "boom"
            raise RuntimeError(message)
        return DONE

    records, _ = run(trials(task("bad"), task("good")), answer)
    by_task = {record.trial.task.id: record.attempt for record in records}
    assert by_task["good"].status is Status.COMPLETED
    assert (by_task["bad"].status, by_task["bad"].message) == (Status.SANDBOX_ERROR, "RuntimeError: boom")


def test_es19_a_broken_scorer_leaves_the_trial_ungraded() -> None:
    """The attempt is kept and its score is null, not 0."""
    (record,), _ = run(trials(), lambda call: DONE, judge=Judge(broken=True))
    assert record.attempt.status is Status.COMPLETED
    (score,) = record.scores
    assert (score.verdict, score.score) == (Verdict.UNGRADED, None)
    assert "cannot judge t1" in score.reason


def test_an_adapter_that_knows_its_answers_is_asked_for_them_at_once() -> None:
    """It need not be watched over; should it break all the same, that is its own trial's affair."""

    class Knowing(Scripted):
        def recall(self, call: Call) -> Reply:
            if call.repeat == 1:
                message = "no such page"
                raise LookupError(message)
            return DONE

    sink, adapter = Kept(), Knowing(lambda call: CRASH)
    runner = Runner(
        adapters={"replay": adapter},
        judge=Judge(),
        sink=sink,
        options=replaced(retries=0),
        clock=QuickClock(),
        observe=lambda record: None,
    )
    asyncio.run(runner.run(trials(task(), repeats=2)))
    done, broken = (record.attempt for record in sink.records)
    assert (done, adapter.most) == (DONE, 0)
    assert (broken.failure_kind, broken.message) == ("adapter_crash", "LookupError: no such page")


def test_es20_retries_are_kept_as_tries() -> None:
    """Each execution is a try with the pause before it; the last one is the attempt."""
    clock = QuickClock()
    (record,), _ = run(
        trials(),
        lambda call: DONE if call.try_index == 2 else CRASH,
        options=replaced(retries=3),
        clock=clock,
    )
    assert [one.reply.status for one in record.tries] == [
        Status.SKILL_ERROR,
        Status.SKILL_ERROR,
        Status.COMPLETED,
    ]
    assert [one.backoff_ms for one in record.tries] == [0.0, 1000.0, 2000.0]
    assert clock.pauses == [1.0, 2.0]
    assert record.attempt is record.tries[-1].reply


def test_retries_end() -> None:
    """After the allowed retries the last failure stands."""
    (record,), _ = run(trials(), lambda call: CRASH, options=replaced(retries=2))
    assert len(record.tries) == 3
    assert record.attempt.status is Status.SKILL_ERROR


def test_a_skill_may_ask_for_more_retries_than_the_run() -> None:
    """`retries` of its adapter.config.json counts where it is more."""
    stubborn = (planned(skill(adapter_options={"retries": 2})),)
    (record,), _ = run(trials(skills=stubborn), lambda call: CRASH, options=replaced(retries=1))
    assert len(record.tries) == 3


def test_what_cannot_help_is_not_retried() -> None:
    """A wrong request is wrong again."""
    final = Reply(status=Status.SKILL_ERROR, retryable=False)
    (record,), _ = run(trials(), lambda call: final, options=replaced(retries=5))
    assert len(record.tries) == 1


def test_pauses_are_capped_and_jittered() -> None:
    """A pause is at most the maximum, jitter shortens it, a provider's own pause wins where it is longer."""
    from random import Random

    late = Reply(status=Status.PROVIDER_ERROR, retry_after_s=60.0)
    assert OPTIONS.pause_s(5, CRASH, Random(0)) == 3.0
    assert OPTIONS.pause_s(1, late, Random(0)) == 60.0
    jittered = [replaced(jitter=0.5).pause_s(1, CRASH, Random(seed)) for seed in range(50)]
    assert all(0.5 <= pause <= 1.0 for pause in jittered)
    assert len(set(jittered)) == 50


def test_calls_under_way_are_counted() -> None:
    """A trial knows how many calls ran when its own began; fewer than allowed where there are fewer."""
    records, _ = run(trials(task(), repeats=6), lambda call: DONE, options=replaced(concurrency=3))
    assert sorted(record.in_flight or 0 for record in records)[:3] == [1, 2, 3]
    assert max(record.in_flight or 0 for record in records) == 3
    (alone,), _ = run(trials(), lambda call: DONE, options=replaced(concurrency=3))
    assert (alone.in_flight, alone.concurrency) == (1, 3)


def test_a_pause_before_a_retry_is_no_call_under_way() -> None:
    """What waits for its next try does not load the machine; the last try counts anew."""

    class Late(QuickClock):
        async def sleep(self, seconds: float) -> None:
            del seconds
            for _ in range(5):
                await asyncio.sleep(0)

    records, _ = run(
        trials(task(), repeats=2),
        lambda call: DONE if call.repeat or call.try_index else CRASH,
        options=replaced(retries=1),
        clock=Late(),
    )
    by_repeat = {record.trial.repeat: record for record in records}
    assert (len(by_repeat[0].tries), by_repeat[0].in_flight) == (2, 1)


class Remembered:
    """A past that knows the trials of some repeats."""

    def __init__(self, records: Sequence[TrialRecord]) -> None:
        self._records = {record.trial.trial_id: record for record in records}

    def record(self, trial: Trial) -> TrialRecord | None:
        """Give the record under the name of its run."""
        found = self._records.get(trial.trial_id)
        return None if found is None else dataclasses.replace(found, reused_from="earlier")


def test_what_is_remembered_calls_no_skill() -> None:
    """The attempt is taken over as it was, and judged in this run; other trials are run."""
    laid_out = trials(task(), repeats=3)
    slow = Reply(status=Status.COMPLETED, output="1", latency_ms=77.0)
    before, _ = run(laid_out[:2], lambda call: slow, options=replaced(concurrency=1))
    called: list[int] = []
    records, _ = run(
        laid_out,
        lambda call: called.append(call.repeat) or DONE,  # type: ignore[func-returns-value]
        past=Remembered(before),
    )
    by_repeat = {record.trial.repeat: record for record in records}
    assert called == [2]
    assert [by_repeat[repeat].reused_from for repeat in range(3)] == ["earlier", "earlier", None]
    assert (by_repeat[0].attempt.latency_ms, by_repeat[0].concurrency) == (77.0, 1)
    assert all(record.scores[0].passed for record in records)


def test_the_second_pass_calls_one_at_a_time_and_keeps_only_the_time() -> None:
    """Each record comes again as it was, with time and status of its further call; of an error there is no time."""
    laid_out = trials(task("good"), task("slow"), task("stuck"), task("bad"))
    records, _ = run(laid_out, lambda call: DONE)

    def again(call: Call) -> Reply:
        return {
            "good": Reply(status=Status.COMPLETED, output="9", latency_ms=4.0),
            "slow": Reply(status=Status.TIMEOUT, latency_ms=1000.0),
            "stuck": Reply(status=Status.TIMEOUT),
            "bad": Reply(status=Status.SKILL_ERROR, latency_ms=2.0),
        }[call.task_id]

    sink, adapter = Kept(), Scripted(again)
    runner = Runner(
        adapters={"replay": adapter},
        judge=Judge(broken=True),
        sink=sink,
        options=OPTIONS,
        clock=QuickClock(),
        observe=lambda record: None,
    )
    asyncio.run(runner.measure((one.trial, one) for one in records))
    assert adapter.most == 1
    found = {one.trial.task.id: (one.serial_latency_ms, one.serial_status) for one in sink.records}
    assert found == {
        "good": (4.0, Status.COMPLETED),
        "slow": (1000.0, Status.TIMEOUT),
        "stuck": (records[0].trial.timeout_ms, Status.TIMEOUT),
        "bad": (None, Status.SKILL_ERROR),
    }
    unmeasured = [
        dataclasses.replace(one, serial_latency_ms=None, serial_status=None) for one in sink.records
    ]
    assert unmeasured == records


def test_a_full_disk_ends_the_run_with_its_error() -> None:
    """A record that cannot be kept is not counted and not passed over."""

    class Full(Kept):
        def write(self, record: TrialRecord) -> None:
            if self.records:
                message = "disk full"
                raise OSError(message)
            super().write(record)

    seen: list[TrialRecord] = []
    runner = Runner(
        adapters={"replay": Scripted(lambda call: DONE)},
        judge=Judge(),
        sink=Full(),
        options=OPTIONS,
        clock=QuickClock(),
        observe=seen.append,
    )
    with pytest.raises(OSError, match="disk full"):
        asyncio.run(runner.run(trials(task(), repeats=10)))
    assert len(seen) == 1


def test_cancelling_keeps_what_is_done() -> None:
    """Trials that are finished stay in the sink; no worker goes on."""
    sink = Kept()
    adapter = Scripted(lambda call: DONE)

    async def cancelled_after_three() -> None:
        def observe(record: TrialRecord) -> None:
            assert record in sink.records
            if len(sink.records) == 3:
                work.cancel()

        runner = Runner(
            adapters={"replay": adapter},
            judge=Judge(),
            sink=sink,
            options=OPTIONS,
            clock=QuickClock(),
            observe=observe,
        )
        work = asyncio.ensure_future(runner.run(trials(task(), repeats=100)))
        await work

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled_after_three())
    assert 3 <= len(sink.records) <= 5
    assert adapter.active == 0


def test_a_program_that_was_ended_together_with_the_run_gave_no_answer() -> None:
    """Its signal may be seen before our own: a stop a moment later leaves its trial to be run again."""
    sink = Kept()
    killed = Reply(status=Status.SKILL_ERROR, failure_kind="signal", retryable=True)

    class Stopping(Clock):
        async def sleep(self, seconds: float) -> None:
            """Be stopped meanwhile."""
            assert seconds == MOMENT_S
            for task_of_run in asyncio.all_tasks():
                task_of_run.cancel()
            await asyncio.sleep(0)

    runner = Runner(
        adapters={"replay": Scripted(lambda call: killed if call.repeat == 1 else DONE)},
        judge=Judge(),
        sink=sink,
        options=replaced(concurrency=1),
        clock=Stopping(),
        observe=lambda record: None,
    )
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(runner.run(trials(task(), repeats=3)))
    assert [record.trial.repeat for record in sink.records] == [0]


def test_c35_durations_survive_a_step_of_the_wall_clock() -> None:
    """Stamps never run backwards and durations come from the monotonic clock."""
    from cases import case_input

    case = case_input("C35")
    wall, monotonic = iter(case["fake_time"]), iter([*case["monotonic"], case["monotonic"][1]])
    clock = Clock(monotonic=lambda: next(monotonic), wall=lambda: next(wall))
    assert clock.elapsed_ms(10.0) == pytest.approx(250.0)
    assert clock.utc().isoformat() == "1970-01-01T00:16:40.250000+00:00"
