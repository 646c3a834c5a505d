from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from samples import planned, skill, task, trials
from simulated_clock import SimulatedClock

from skilleval.adapters.chat import ChatAdapter, ChatOptions
from skilleval.chat import PROVIDERS
from skilleval.chat.base import Asked, ChatRequest, Completion
from skilleval.chat.meter import Meter, Role
from skilleval.chat.model import ChatModel
from skilleval.chat.openai_client import OpenAIProvider
from skilleval.chat.pricing import PriceTable
from skilleval.clock import Clock
from skilleval.domain.attempts import Reply, Status, Usage
from skilleval.domain.records import TrialRecord
from skilleval.domain.scores import Score, Verdict
from skilleval.domain.skills import Instructions
from skilleval.domain.trials import Trial
from skilleval.errors import AdapterError, ConfigError
from skilleval.registry import part
from skilleval.runner import Runner, RunnerOptions

Make = Callable[..., Any]
QUESTION = ChatRequest(user="x" * 40, seed=7)
PRICE = {"input": 1.0, "output": 2.0}
BUSY = Completion(
    status=Status.PROVIDER_ERROR, model="m", request="{}", failure_kind="rate_limited", retryable=True
)
GOOD = Completion(
    status=Status.COMPLETED,
    model="m",
    request="{}",
    text="Yes.",
    usage=Usage(input_tokens=10, output_tokens=2),
)


@dataclass
class Scripted:
    """A provider that gives its completions in turn, then the last one again; each takes a second."""

    clock: Clock
    completions: Sequence[Completion] = (GOOD,)
    asked: list[ChatRequest] = field(default_factory=list)
    model: str = "m"
    n_closed: int = 0

    async def complete(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Answer after a second."""
        del timeout_s
        self.asked.append(request)
        await self.clock.sleep(1)
        return self.completions[min(len(self.asked), len(self.completions)) - 1]

    async def aclose(self) -> None:
        """Count."""
        self.n_closed += 1


def _model(
    provider: Any, make_options: Make, clock: Clock, meter: Meter | None = None, **options: Any
) -> Any:
    return ChatModel(
        provider,
        make_options(**options),
        prices=PriceTable(table="none", overrides={}),
        meter=meter or Meter(usd=None, tokens=None),
        clock=clock,
    )


def _consulted(model: Asked, clock: SimulatedClock) -> tuple[Completion, float]:
    done: list[Completion] = []

    async def consulting() -> None:
        done.append(await model.consult(QUESTION, timeout_s=9))

    clock.run(consulting())
    return done[0], clock.now


def test_parameters_of_a_request_win_over_the_models(simulated: SimulatedClock, make_options: Make) -> None:
    """Both reach the provider; the nearer one decides."""
    provider = Scripted(simulated)
    model = _model(provider, make_options, simulated, params={"temperature": 0, "top_p": 1})
    simulated.run(_ask(model, replace(QUESTION, params={"temperature": 0.7})))
    assert provider.asked[0].params == {"temperature": 0.7, "top_p": 1}


async def _ask(model: Asked, request: ChatRequest = QUESTION) -> None:
    await model.ask(request, timeout_s=9)


def test_a_completion_is_priced_and_counted(simulated: SimulatedClock, make_options: Make) -> None:
    """Cost and total are added where the provider has not told them; the meter has counted them."""
    meter = Meter(usd=None, tokens=None)
    model = _model(Scripted(simulated), make_options, simulated, meter, price=PRICE)
    done, _ = _consulted(model, simulated)
    assert done.usage == Usage(input_tokens=10, output_tokens=2, total_tokens=12, cost_usd=14e-6)
    assert meter.of(Role.SUBJECT).cost_usd == pytest.approx(14e-6)


def test_what_the_provider_says_it_costs_is_believed(simulated: SimulatedClock, make_options: Make) -> None:
    """Nobody knows it better."""
    told = replace(GOOD, usage=replace(GOOD.usage, cost_usd=0.5))
    model = _model(Scripted(simulated, (told,)), make_options, simulated, price=PRICE)
    assert _consulted(model, simulated)[0].usage.cost_usd == 0.5


def test_an_unknown_price_is_no_cost_at_all(simulated: SimulatedClock, make_options: Make) -> None:
    """Null, never 0."""
    model = _model(Scripted(simulated), make_options, simulated)
    assert _consulted(model, simulated)[0].usage.cost_usd is None


def test_a_failure_that_may_pass_is_asked_again(simulated: SimulatedClock, make_options: Make) -> None:
    """As often as the options say, with pauses between; each call is counted."""
    meter, provider = Meter(usd=None, tokens=None), Scripted(simulated, (BUSY, BUSY, GOOD))
    done, seconds = _consulted(_model(provider, make_options, simulated, meter, retries=2), simulated)
    assert (done.text, len(provider.asked), meter.of(Role.SUBJECT).n_calls) == ("Yes.", 3, 3)
    assert 3 + 0.5 + 1 <= seconds <= 3 + 1 + 2


def test_retries_come_to_an_end(simulated: SimulatedClock, make_options: Make) -> None:
    """The last failure is the outcome."""
    provider = Scripted(simulated, (BUSY,))
    done, _ = _consulted(_model(provider, make_options, simulated, retries=1), simulated)
    assert (done.failure_kind, len(provider.asked)) == ("rate_limited", 2)


def test_a_failure_that_will_not_pass_is_asked_once(simulated: SimulatedClock, make_options: Make) -> None:
    """A wrong key does not get better."""
    provider = Scripted(simulated, (replace(BUSY, retryable=False),))
    _consulted(_model(provider, make_options, simulated, retries=5), simulated)
    assert len(provider.asked) == 1


def test_a_pause_the_provider_asks_for_is_kept(simulated: SimulatedClock, make_options: Make) -> None:
    """Retry-After wins where it is longer than ours."""
    provider = Scripted(simulated, (replace(BUSY, retry_after_s=40.0), GOOD))
    _, seconds = _consulted(_model(provider, make_options, simulated), simulated)
    assert seconds == 42.0


@pytest.mark.parametrize(("params", "seconds"), [({}, 2.0), ({"max_tokens": 90}, 3.5)])
def test_tokens_are_estimated_before_and_known_after(
    params: Any, seconds: float, simulated: SimulatedClock, make_options: Make
) -> None:
    """40 characters are about 10 tokens, and an answer may take what it is allowed: 100 of 150, until it is known."""
    model = _model(Scripted(simulated), make_options, simulated, tokens_per_minute=150, params=params)

    async def two() -> None:
        await asyncio.gather(*(model.consult(QUESTION, timeout_s=9) for _ in range(2)))

    simulated.run(two())
    assert simulated.now <= seconds
    assert (simulated.now > 1.0) == bool(params)


def test_another_role_shares_limits_and_is_counted_apart(
    simulated: SimulatedClock, make_options: Make
) -> None:
    """A judge that is the subject's own model has no limit of its own."""
    meter, provider = Meter(usd=None, tokens=None), Scripted(simulated)
    subject = _model(provider, make_options, simulated, meter, requests_per_minute=1)
    judge = subject.for_role(Role.JUDGE)

    async def both() -> None:
        await subject.consult(QUESTION, timeout_s=9)
        await judge.consult(QUESTION, timeout_s=9)
        await judge.aclose()

    simulated.run(both())
    assert simulated.now == 61.0
    assert (meter.of(Role.SUBJECT).n_calls, meter.of(Role.JUDGE).n_calls) == (1, 1)
    assert provider.n_closed == 1


def test_what_is_missing_is_an_error_before_the_first_trial(make_options: Make) -> None:
    """The key of the provider, and under a budget of money the price."""
    keyless = OpenAIProvider(make_options(api_key_env="TEA_KEY"), environ={})
    with pytest.raises(AdapterError, match="TEA_KEY"):
        _model(keyless, make_options, Clock()).check()
    local = OpenAIProvider(make_options(base_url="http://127.0.0.1:9/v1"), environ={})
    with pytest.raises(ConfigError, match=r"budget\.usd"):
        _model(local, make_options, Clock(), Meter(usd=1.0, tokens=None)).check()
    _model(local, make_options, Clock(), Meter(usd=1.0, tokens=None), price=PRICE).check()
    asyncio.run(local.aclose())


def test_a_model_that_cannot_be_asked_says_so_as_an_outcome(make_options: Make) -> None:
    """Asked without a check, it is no exception either."""
    keyless = OpenAIProvider(make_options(api_key_env="TEA_KEY"), environ={})
    done = asyncio.run(_model(keyless, make_options, Clock()).consult(QUESTION, timeout_s=1))
    assert (done.status, done.failure_kind) == (Status.UNSUPPORTED, "not_configured")


class _Consulting:
    """A judge that asks a model about every attempt."""

    def __init__(self, model: Asked) -> None:
        self._model = model

    def hearing(self, trial: Trial, reply: Reply) -> _Consulting:
        """Judge every attempt alike."""
        del trial, reply
        return self

    async def scores(self, known: Sequence[Score] = ()) -> tuple[Score, ...]:
        """Ask."""
        del known
        done = await self._model.consult(QUESTION, timeout_s=9)
        verdict = Verdict.PASSED if done.status is Status.COMPLETED else Verdict.UNGRADED
        passed = 1.0 if verdict is Verdict.PASSED else None
        return (
            Score(
                scorer="j",
                rule="j",
                scorer_version="1",
                check_id="0",
                check="",
                verdict=verdict,
                score=passed,
            ),
        )

    async def waiting(self) -> tuple[Score, ...]:
        """Let nothing wait."""
        return ()

    def ungraded(self, reason: str) -> tuple[Score, ...]:
        """Say that judging broke."""
        raise AssertionError(reason)


class _Kept:
    """Keeps records in memory."""

    def __init__(self) -> None:
        self.records: list[TrialRecord] = []

    def write(self, record: TrialRecord) -> None:
        """Keep one."""
        self.records.append(record)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_trial_never_waits_for_its_own_judge(
    concurrency: int, simulated: SimulatedClock, make_options: Make
) -> None:
    """One request a minute, shared by subject and judge: three trials are six calls, and end after five minutes."""
    subject = _model(Scripted(simulated), make_options, simulated, requests_per_minute=1)
    one = skill("s", adapter="chat", instructions=Instructions(body="Be kind."))
    sink = _Kept()
    runner = Runner(
        adapters={"chat": ChatAdapter(ChatOptions(max_file_bytes=100), subject)},
        judge=_Consulting(subject.for_role(Role.JUDGE)),
        sink=sink,
        options=RunnerOptions(
            concurrency=concurrency,
            retries=0,
            backoff_base_s=0,
            backoff_factor=1,
            backoff_max_s=0,
            jitter=0,
        ),
        clock=simulated,
        observe=lambda _: None,
    )
    tasks = [task(f"t{n}", input={"prompt": f"p{n}"}) for n in range(3)]
    simulated.run(runner.run(trials(*tasks, skills=(planned(one),))))
    assert [record.attempt.output for record in sink.records] == ['"Yes."'] * 3
    assert [record.scores[0].verdict for record in sink.records] == [Verdict.PASSED] * 3
    assert simulated.now == 301.0


def test_a_provider_can_come_from_python(tmp_path: Path, simulated: SimulatedClock) -> None:
    """`kind: module:Class` is built from its own options, which have at least those of every model."""
    (tmp_path / "tea_provider.py").write_text(
        "from skilleval.chat.base import Completion\n"
        "from skilleval.chat.options import ModelOptions\n"
        "from skilleval.domain.attempts import Status, Usage\n"
        "class TeaOptions(ModelOptions):\n    leaf: str\n"
        "class Tea:\n"
        "    Options = TeaOptions\n"
        "    def __init__(self, options):\n        self.options = options\n"
        "    @property\n    def model(self):\n        return self.options.name\n"
        "    async def complete(self, request, *, timeout_s):\n"
        "        text = f'{self.options.leaf}: {request.user} {request.params}'\n"
        "        return Completion(status=Status.COMPLETED, model=self.model, request='{}', text=text)\n"
        "    async def aclose(self):\n        pass\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        kind = part(PROVIDERS, "tea_provider:Tea", key="model.kind", group="providers")
    finally:
        sys.path.remove(str(tmp_path))
    values: dict[str, Any] = {
        "name": "oolong",
        "params": {"hot": True},
        "requests_per_minute": None,
        "tokens_per_minute": None,
        "retries": 0,
        "price": PRICE,
    }
    with pytest.raises(ConfigError, match="leaf"):
        kind.Options.parse(values, where="test")
    options = kind.Options.parse({**values, "leaf": "green"}, where="test")
    meter = Meter(usd=1.0, tokens=None)
    prices = PriceTable(table="none", overrides={})
    model = ChatModel(kind(options), options, prices=prices, meter=meter, clock=simulated)
    model.check()
    done, _ = _consulted(model, simulated)
    assert done.text == f"green: {QUESTION.user} {{'hot': True}}"
    assert (model.model, done.usage.cost_usd) == ("oolong", None)
    assert meter.of(Role.SUBJECT).n_unknown_cost == 1


def test_a_provider_that_breaks_its_contract_ends_no_run(
    simulated: SimulatedClock, make_options: Make
) -> None:
    """What it counts wrongly is unknown to the price and to the meter; its answer stays."""
    meter = Meter(usd=1.0, tokens=None)
    lying = replace(GOOD, usage=Usage(input_tokens=-5, output_tokens=3, cost_usd=float("nan")))
    model = _model(Scripted(simulated, (lying,)), make_options, simulated, meter, price=PRICE)
    done, _ = _consulted(model, simulated)
    assert (done.text, done.usage.cost_usd) == ("Yes.", None)
    assert (meter.of(Role.SUBJECT).cost_usd, meter.of(Role.SUBJECT).n_unknown_cost) == (0.0, 1)
