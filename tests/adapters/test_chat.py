from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from samples import skill

from skilleval.adapters.base import Admitting, Call, Checking
from skilleval.adapters.chat import ChatAdapter, ChatOptions
from skilleval.chat.base import ChatRequest, Completion, ToolCall
from skilleval.domain.attempts import Reply, Status, Usage
from skilleval.domain.files import FileKind, TaskFile
from skilleval.domain.skills import Instructions
from skilleval.domain.trials import Mode
from skilleval.errors import AdapterError, Problem

Calls = Callable[..., Call]
TEA = skill("tea", adapter="chat", description="Makes tea", instructions=Instructions(body="Be kind."))
FILE = TaskFile(name="a.csv", source=Path("a.csv"), n_bytes=3, digest="0", kind=FileKind.TEXT, text="1,2")
ARMS = (Mode.WITH_SKILL, Mode.OLD_SKILL, Mode.WITHOUT_SKILL, Mode.DIRECT)


def _completed(**changes: Any) -> Completion:
    values: dict[str, Any] = {
        "status": Status.COMPLETED,
        "model": "m",
        "request": '{"model":"m"}',
        "text": "Yes.",
        "usage": Usage(input_tokens=10, output_tokens=2, total_tokens=12, cached_tokens=4, cost_usd=0.5),
        "response_model": "m-2",
        "latency_ms": 12.5,
    }
    return Completion(**(values | changes))


@dataclass
class Scripted:
    """A model that always says the same, and keeps what it was asked."""

    completion: Completion = field(default_factory=_completed)
    broken: str = ""
    model: str = "m"
    identity: str = "m"
    asked: list[ChatRequest] = field(default_factory=list)
    admitted: list[ChatRequest] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)
    is_closed: bool = False

    def check(self) -> None:
        """Refuse where it is broken."""
        if self.broken:
            problem = Problem(where="config", key="model.api_key_env", hint=self.broken)
            raise AdapterError("the model cannot be asked", problems=(problem,))

    async def admit(self, request: ChatRequest) -> None:
        """Let through."""
        self.admitted.append(request)

    async def ask(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Answer."""
        self.asked.append(request)
        self.timeouts.append(timeout_s)
        return self.completion

    async def consult(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Refuse: retries of the subject are the runner's."""
        raise AssertionError((request, timeout_s))

    async def aclose(self) -> None:
        """Close."""
        self.is_closed = True


def _adapter(model: Scripted, max_file_bytes: int = 1000) -> ChatAdapter:
    return ChatAdapter(ChatOptions(max_file_bytes=max_file_bytes), model)


def _reply(model: Scripted, call: Call, max_file_bytes: int = 1000) -> Reply:
    return asyncio.run(_adapter(model, max_file_bytes).invoke(call))


def _call(call: Calls, **changes: Any) -> Call:
    return call(**({"skill": TEA, "input": {"prompt": "Green?"}, "mode": Mode.WITH_SKILL} | changes))


def test_ae01_every_arm_is_asked_the_same(call: Calls) -> None:
    """Prompt, files, parameters and seed are equal in all arms; only the system message is not, and one has none."""
    model = Scripted()
    given = {"prompt": "Green?", "params": {"top_p": 1}}
    for mode in ARMS:
        _reply(model, _call(call, mode=mode, files=(FILE,), input=given, seed=5))
    assert {request.user for request in model.asked} == {
        '<file path="a.csv" kind="text" bytes="3">\n1,2\n</file>\n\n---USER PROMPT---\n\nGreen?'
    }
    assert [(request.params, request.seed) for request in model.asked] == [({"top_p": 1}, 5)] * 4
    systems = [request.system for request in model.asked]
    assert systems[2] is None
    assert systems[0] == systems[1] == systems[3]
    assert "<instructions>\nBe kind.\n</instructions>" in (systems[0] or "")


def test_tools_are_offered_as_the_task_says(call: Calls) -> None:
    """In every arm."""
    tools = [{"type": "function", "function": {"name": "boil"}}]
    given = {"prompt": "Green?", "tools": tools, "tool_choice": "required"}
    for mode in ARMS:
        model = Scripted()
        _reply(model, _call(call, mode=mode, input=given))
        assert (model.asked[0].tools, model.asked[0].tool_choice) == (tuple(tools), "required")


def test_a_completion_becomes_a_reply(call: Calls) -> None:
    """Text, calls of tools, tokens, money, time, request and notes stand where rows are made of them."""
    calls = (ToolCall(id="1", name="boil", arguments='{"c": '),)
    model = Scripted(_completed(text='a "b"\n', tool_calls=calls, notes=("system_as_user",)))
    reply = _reply(model, _call(call, files=(FILE,), timeout_s=3.0), max_file_bytes=2)
    assert (reply.status, reply.output, reply.output_bytes) == (Status.COMPLETED, '"a \\"b\\"\\n"', 6)
    assert json.loads(reply.tool_calls or "") == [{"id": "1", "name": "boil", "arguments": '{"c": '}]
    assert reply.usage == Usage(
        input_tokens=10, output_tokens=2, total_tokens=12, cached_tokens=4, cost_usd=0.5
    )
    assert (reply.latency_ms, reply.request, reply.response_model) == (12.5, '{"model":"m"}', "m-2")
    assert reply.notes == ("cut: a.csv", "system_as_user")
    assert model.timeouts == [3.0]


def test_a_model_that_only_calls_tools_has_said_nothing(call: Calls) -> None:
    """The empty text is an output: there was an answer."""
    reply = _reply(Scripted(_completed(text=None)), _call(call))
    assert (reply.status, reply.output, reply.tool_calls) == (Status.COMPLETED, '""', "[]")


@pytest.mark.parametrize("status", [Status.PROVIDER_ERROR, Status.TIMEOUT, Status.UNSUPPORTED])
def test_c60_a_failure_is_never_an_output(status: Status, call: Calls) -> None:
    """AE-02, AE-03: there is neither text nor a list of calls that an assertion could pass on."""
    failed = _completed(
        status=status,
        text=None,
        failure_kind="http_5xx",
        message="HTTP 503",
        retryable=True,
        retry_after_s=7.0,
        usage=Usage(),
    )
    reply = _reply(Scripted(failed), _call(call))
    assert (reply.status, reply.output, reply.tool_calls, reply.output_bytes) == (status, None, None, None)
    assert (reply.failure_kind, reply.message) == ("http_5xx", "HTTP 503")
    assert (reply.retryable, reply.retry_after_s) == (True, 7.0)
    assert reply.request == '{"model":"m"}'


def test_a_text_that_cannot_be_stored_is_mended_and_counted(call: Calls) -> None:
    """Lone surrogates become replacement characters."""
    reply = _reply(Scripted(_completed(text="a\ud800b")), _call(call))
    assert (reply.output, reply.output_encoding_errors) == ('"a\ufffdb"', 1)


def test_the_limits_see_what_will_be_asked(call: Calls) -> None:
    """The request that is let through is the one that is made."""
    model = Scripted()
    adapter = _adapter(model)

    async def both() -> None:
        await adapter.admit(_call(call))
        await adapter.invoke(_call(call))

    asyncio.run(both())
    assert model.admitted == model.asked


def test_a_callable_skill_is_refused_before_the_first_trial() -> None:
    """There is nothing to tell a model; the way out is named."""
    with pytest.raises(AdapterError, match="adapter=auto"):
        _adapter(Scripted()).check(skill("adder"))


def test_a_model_that_cannot_be_asked_is_an_error_before_the_first_trial() -> None:
    """The check of a skill is that of its model, too."""
    _adapter(Scripted()).check(TEA)
    with pytest.raises(AdapterError, match="export TEA_KEY"):
        _adapter(Scripted(broken="export TEA_KEY")).check(TEA)


def test_a_callable_skill_that_is_asked_all_the_same_is_unsupported(call: Calls) -> None:
    """Without a check it is an outcome, and no model is asked."""
    model = Scripted()
    wrong = _call(call, skill=skill("adder"))
    asyncio.run(_adapter(model).admit(wrong))
    reply = _reply(model, wrong)
    assert (reply.status, reply.failure_kind, model.asked) == (Status.UNSUPPORTED, "no_instructions", [])


def test_an_edited_skill_is_told_anew(call: Calls) -> None:
    """What is remembered of a skill is that of its content."""
    model = Scripted()
    adapter = _adapter(model)
    old = skill("tea", digest="1" * 64, instructions=Instructions(body="Be strict."))

    async def both() -> None:
        await adapter.invoke(_call(call))
        await adapter.invoke(_call(call, skill=old))

    asyncio.run(both())
    assert "Be kind." in (model.asked[0].system or "")
    assert "Be strict." in (model.asked[1].system or "")


def test_the_adapter_keeps_its_promises() -> None:
    """It can check and admit, asks for a model, and closes it."""
    model = Scripted()
    adapter = _adapter(model)
    assert isinstance(adapter, Admitting)
    assert isinstance(adapter, Checking)
    assert ChatAdapter.needs_model
    asyncio.run(adapter.aclose())
    assert model.is_closed
