"""The chat adapter against a real model on this machine: small and often wrong, but nothing about it is scripted."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilleval.adapters.base import Call
from skilleval.adapters.chat import ChatAdapter
from skilleval.app.models import build_models
from skilleval.catalog.skill_md import read_instruction_skill
from skilleval.chat.base import Asked, ChatRequest, Completion
from skilleval.config.compose import compose_settings
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.trials import Mode

pytestmark = pytest.mark.llm

ROOT = Path(__file__).parents[2]
SKILL = read_instruction_skill(ROOT / "examples" / "instruction_skills" / "harbour-codes").skill
CALL = Call(
    skill=SKILL,
    task_id="harbour-codes/berth-code",
    input={"prompt": "Which code does berth 7 have?", "params": {"max_tokens": 24}},
    repeat=0,
    seed=1,
    try_index=0,
    timeout_s=60.0,
    trial_id="0" * 32,
    mode=Mode.WITH_SKILL,
)


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """Give the address of the small model's server."""
    command = [sys.executable, "-B", str(ROOT / "scripts" / "small_llm_server.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            word, url = process.stdout.readline().split()
            assert word == "ready"
            yield url
        finally:
            process.terminate()


@contextmanager
def asked_model(base_url: str) -> Iterator[tuple[asyncio.Runner, Asked]]:
    """Build the model as a run does; the runner is for asking it."""
    settings = ["model=local", f"model.base_url={base_url}", "skill_set.paths=[none]"]
    composed = compose_settings(settings, project=ROOT / "examples", user_file=ROOT / "none.yaml")
    model = build_models(composed.settings).subject
    assert model is not None
    with asyncio.Runner() as runner:
        try:
            yield runner, model
        finally:
            runner.run(model.aclose())


def replies(base_url: str, *calls: Call) -> list[Reply]:
    """Make some calls of a skill, one after another."""
    with asked_model(base_url) as (runner, model):
        adapter = ChatAdapter(ChatAdapter.Options(max_file_bytes=65536), model)
        adapter.check(SKILL)
        return [runner.run(adapter.invoke(call)) for call in calls]


def completion(base_url: str, request: ChatRequest, timeout_s: float = 60.0) -> Completion:
    """Ask the model itself."""
    with asked_model(base_url) as (runner, model):
        return runner.run(model.ask(request, timeout_s=timeout_s))


def changed(call: Call, **params: Any) -> Call:
    """Give the call with other parameters of its request."""
    return replace(call, input={**call.input, "params": {**call.input["params"], **params}})


def test_a_real_model_is_given_the_skill(base_url: str) -> None:
    """With the skill the model reads more than without it, for the prompt is the same and the skill comes first."""
    with_skill, without = replies(base_url, CALL, replace(CALL, mode=Mode.WITHOUT_SKILL))
    assert (with_skill.status, without.status) == (Status.COMPLETED, Status.COMPLETED)
    assert json.loads(with_skill.output or "null")
    sent, bare = (json.loads(reply.request or "")["messages"] for reply in (with_skill, without))
    assert "PE-07-N" in sent[0]["content"]
    assert sent[1:] == bare
    assert (with_skill.usage.input_tokens or 0) > (without.usage.input_tokens or 0) + 200
    assert with_skill.response_model is not None


def test_usage_and_cost_are_known(base_url: str) -> None:
    """Tokens come from the server; the cost follows from them and the price of the model."""
    (reply,) = replies(base_url, CALL)
    usage = reply.usage
    assert usage.input_tokens is not None
    assert usage.cached_tokens is not None
    assert usage.output_tokens is not None
    assert 1 <= usage.output_tokens <= 24
    fresh = usage.input_tokens - usage.cached_tokens
    paid = 0.5 * fresh + 0.05 * usage.cached_tokens + 1.5 * usage.output_tokens
    assert usage.cost_usd == pytest.approx(paid / 1e6)


def test_the_seed_decides(base_url: str) -> None:
    """The same seed says the same at any temperature; over several seeds not all is the same."""
    calls = [replace(changed(CALL, temperature=1.5), seed=seed) for seed in (1, 1, 2, 3, 4)]
    said = [reply.output for reply in replies(base_url, *calls)]
    assert said[0] == said[1]
    assert len(set(said)) > 1


def test_an_answer_keeps_the_schema(base_url: str) -> None:
    """A model that cannot judge still answers in the form that is asked for."""
    result = {
        "type": "object",
        "properties": {"id": {"enum": ["a1"]}, "passed": {"type": "boolean"}},
        "required": ["id", "passed"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"assertion_results": {"type": "array", "items": result, "minItems": 1, "maxItems": 1}},
        "required": ["assertion_results"],
        "additionalProperties": False,
    }
    request = ChatRequest(
        user="Is the sea salty?", params={"max_tokens": 100}, response_schema=schema, seed=1
    )
    answer = completion(base_url, request)
    assert (answer.status, answer.notes) == (Status.COMPLETED, ())
    (verdict,) = json.loads(answer.text or "")["assertion_results"]
    assert verdict["id"] == "a1"
    assert verdict["passed"] in {True, False}


def test_a_cut_answer_is_noted(base_url: str) -> None:
    """An answer that ends at the limit of tokens is completed, and says that it was cut."""
    (reply,) = replies(base_url, changed(CALL, max_tokens=3))
    assert (reply.status, reply.usage.output_tokens) == (Status.COMPLETED, 3)
    assert "length" in reply.notes


def test_a_slow_answer_is_a_timeout(base_url: str) -> None:
    """A call that takes longer than its limit is cut off there, and the server is free for the next one."""
    request = ChatRequest(user="Tell me a long story.", params={"max_tokens": 2000, "min_p": 0.0}, seed=1)
    slow = completion(base_url, request, timeout_s=0.3)
    assert (slow.status, slow.text) == (Status.TIMEOUT, None)
    assert slow.latency_ms == pytest.approx(300, abs=250)
    assert completion(base_url, ChatRequest(user="Hi", params={"max_tokens": 2})).status is Status.COMPLETED
