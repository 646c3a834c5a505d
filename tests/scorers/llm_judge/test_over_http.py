"""The judge over real sockets: the scripted model server, asked by the provider that runs use."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from model_servers import ModelServer, model_server
from scripted_judges import OPTIONS, asserting, graded

from skilleval.chat.meter import Meter, Role
from skilleval.chat.model import ChatModel
from skilleval.chat.openai_client import OpenAIProvider
from skilleval.chat.openai_options import OpenAIOptions
from skilleval.chat.options import Price
from skilleval.chat.pricing import PriceTable
from skilleval.clock import Clock
from skilleval.domain.scores import Verdict
from skilleval.scorers.base import Finding, ScoringRecord
from skilleval.scorers.llm_judge import Judges, LlmJudgeScorer

RECORD = asserting('Names "Lisbon"', 'Does not mention "Porto"', 'Gives "metres"')
P, F, U = Verdict.PASSED, Verdict.FAILED, Verdict.UNGRADED


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """One server for all tests here."""
    with model_server(tmp_path_factory.mktemp("judge")) as running:
        yield running


def judged(
    server: ModelServer,
    model: str,
    seen: ScoringRecord,
    *,
    timeout_ms: float = 5000,
    meter: Meter | None = None,
) -> Sequence[Finding]:
    """Judge an attempt by a model of the server."""
    options = OpenAIOptions(
        name=model,
        params={},
        requests_per_minute=None,
        tokens_per_minute=None,
        retries=0,
        price=Price(input=1.0, output=2.0),
        base_url=server.base_url,
        base_url_env="",
        api_key_env="JUDGE_KEY",
        seed_param=True,
        system_role="auto",
        headers={},
        max_output_bytes=1_000_000,
        max_retry_after_s=60,
        use_proxy_env=False,
    )

    async def judging() -> Sequence[Finding]:
        judge = ChatModel(
            OpenAIProvider(options, environ={"JUDGE_KEY": "not-a-secret"}),
            options,
            PriceTable(table="none", overrides={}),
            meter or Meter(usd=None, tokens=None),
            Clock(),
            role=Role.JUDGE,
        )
        try:
            scorer = LlmJudgeScorer(
                OPTIONS.model_copy(update={"timeout_ms": timeout_ms}), Judges(first=judge)
            )
            return await scorer.findings(seen)
        finally:
            await judge.aclose()

    return asyncio.run(judging())


@pytest.mark.parametrize(
    "model",
    [
        *(
            "scripted",
            "fault-judge-shuffled",
            "fault-judge-fenced",
            "fault-judge-prose",
            "fault-judge-strings",
        ),
        *("fault-refuse-system", "fault-refuse-schema", "fault-no-usage"),
    ],
)
def test_the_verdicts_are_the_same_however_they_are_sent(server: ModelServer, model: str) -> None:
    """Order, fences, prose, texts for truth values, and what a provider does not support change no verdict."""
    findings = judged(server, model, RECORD)
    assert [one.verdict for one in findings] == [P, P, F]
    assert findings[0].evidence == "Lisbon"
    assert [call.purpose for call in findings[0].judgements] == ["assertions"]


@pytest.mark.parametrize(
    ("model", "n_graded", "n_calls"),
    [
        ("fault-judge-missing", 2, 2),
        ("fault-judge-garbage", 0, 2),
        ("fault-empty", 0, 2),
        ("fault-500", 0, 1),
        ("fault-429", 0, 1),
        ("fault-malformed", 0, 1),
        ("fault-garbage-json", 0, 1),
        ("fault-no-choices", 0, 1),
        ("fault-reset", 0, 1),
    ],
)
def test_c07_what_the_judge_does_not_say_is_ungraded(
    server: ModelServer, model: str, n_graded: int, n_calls: int
) -> None:
    """Outages and useless replies leave assertions ungraded with a cause; a useless reply is asked about once more."""
    findings = judged(server, model, RECORD)
    lost = findings[n_graded:]
    assert len(findings) == 3
    assert [one.verdict for one in lost] == [U] * (3 - n_graded)
    assert all(one.failure_kind == "judge_error" and one.reason for one in lost)
    assert len(findings[0].judgements) == n_calls
    assert all(call.request for call in findings[0].judgements)


@pytest.mark.parametrize("model", ["fault-hang", "fault-drip"])
def test_a_judge_that_hangs_has_a_time_limit(server: ModelServer, model: str) -> None:
    """After `timeout_ms` the assertions are ungraded, and the call is kept with its cause."""
    findings = judged(server, model, RECORD, timeout_ms=200)
    assert {one.verdict for one in findings} == {U}
    (call,) = findings[0].judgements
    assert call.failure_kind == "timeout"


def test_what_a_judge_costs_is_counted_apart(server: ModelServer) -> None:
    """Tokens and price stand with the call, and the meter of the run counts them as the judge's."""
    meter = Meter(usd=None, tokens=None)
    (call,) = judged(server, "scripted", RECORD, meter=meter)[0].judgements
    assert call.usage.input_tokens
    assert call.usage.cost_usd == pytest.approx(
        (call.usage.input_tokens + 2 * (call.usage.output_tokens or 0)) / 1_000_000
    )
    assert meter.of(Role.JUDGE).tokens == call.usage.total_tokens
    assert meter.of(Role.SUBJECT).tokens == 0


def test_a_rubric_is_graded(server: ModelServer) -> None:
    """A number on the scale comes back, or the check is ungraded."""
    (one,) = judged(server, "scripted", graded({"judgePrompt": 'It names "Lisbon" and "Porto".'}))
    assert (one.verdict, one.score) == (P, 0.5)
    (other,) = judged(server, "fault-judge-garbage", graded({"judgePrompt": "It is kind."}))
    assert (other.verdict, other.failure_kind) == (U, "judge_error")
