from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from samples import skill

from skilleval.adapters.base import Call, isolation
from skilleval.adapters.langchain import LangchainAdapter, LangchainOptions
from skilleval.adapters.langchain_child import plain
from skilleval.domain.attempts import NO_USAGE, Reply, Status, Usage
from skilleval.errors import SetupError
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

CHAIN = """
import os
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

def answers(**members):
    usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    while True:
        yield AIMessage("hello", usage_metadata=usage, **members)

named = GenericFakeChatModel(messages=answers(response_metadata={"model_name": "m"}))
nameless = GenericFakeChatModel(messages=answers())
query = RunnableLambda(lambda given: given["query"])
parsed = query | named | StrOutputParser() | named | StrOutputParser()
message = query | nameless
agent = RunnableLambda(lambda given: {"messages": [HumanMessage("a"), next(answers()), AIMessage("done")]})
told = RunnableLambda(lambda given, config: [given, config["tags"], os.environ["SKILLEVAL_SEED"]])

@tool
def add(a: int, b: int) -> int:
    "Adds."
    print("adding")
    return a + b

@tool
async def add_later(a: int, b: int) -> int:
    "Adds."
    return a + b

def build():
    return RunnableLambda(lambda given: {"made": True})

nothing = 3
"""
SUM = {"a": 1, "b": 2}
QUERY = {"query": "hi"}

Ask = Callable[..., list[Reply]]


def _options(**changes: Any) -> LangchainOptions:
    values: dict[str, Any] = {
        "input_key": "",
        "asynchronous": False,
        "config": {},
        "max_output_bytes": 100_000,
    }
    return LangchainOptions(**(values | changes))


def _adapter(worker_trials: int | None = None, **changes: Any) -> LangchainAdapter:
    sandbox = NoSandbox(NoSandboxOptions(pass_env=()))
    return LangchainAdapter(_options(**changes), sandbox, worker_trials=worker_trials)


@pytest.fixture
def ask(tmp_path: Path, call: Callable[..., Call]) -> Ask:
    """Give what invokes attributes of a module, each with an input, in processes that serve many trials."""
    (tmp_path / "chain.py").write_text(CHAIN, encoding="utf-8")

    def replies(*asked: tuple[str, dict[str, Any]], worker_trials: int | None = 100, **options: Any) -> Any:
        async def answers() -> list[Reply]:
            adapter = _adapter(worker_trials, **options)
            try:
                made = (call(entrypoint, input=given, seed=7) for entrypoint, given in asked)
                return list(await asyncio.gather(*map(adapter.invoke, made)))
            finally:
                await adapter.aclose()

        return asyncio.run(answers())

    return replies


def test_runnables_and_tools_are_invoked(ask: Ask) -> None:
    """Text, messages, what agents return, tools sync and async, and what a function makes."""
    replies = ask(
        ("chain:parsed", QUERY),
        ("chain:message", QUERY),
        ("chain:agent", QUERY),
        ("chain:add", SUM),
        ("chain:add_later", SUM),
        ("chain:build", QUERY),
    )
    assert [reply.output for reply in replies] == ['"hello"', '"hello"', '"done"', "3", "3", '{"made":true}']
    assert [reply.usage.total_tokens for reply in replies] == [10, 5, 5, None, None, None]
    assert replies[0].usage == Usage(input_tokens=6, output_tokens=4, total_tokens=10)
    assert (replies[3].usage, replies[3].stderr) == (NO_USAGE, "adding\n")


def test_options_reach_the_runnable(ask: Ask) -> None:
    """One member of the input alone, a configuration, and `ainvoke` on request."""
    (reply,) = ask(
        ("chain:told", QUERY),
        worker_trials=None,
        input_key="query",
        asynchronous=True,
        config={"tags": ["x"]},
    )
    assert (reply.status, reply.output) == (Status.COMPLETED, '["hi",["x"],"7"]')


def test_what_raises_is_a_failure_of_the_skill(ask: Ask) -> None:
    """With the last line of its traceback."""
    nothing, absent, wrong = ask(("chain:nothing", QUERY), ("chain:absent", QUERY), ("chain:add", {"a": "x"}))
    assert [reply.failure_kind for reply in (nothing, absent, wrong)] == ["exception"] * 3
    assert nothing.message == "TypeError: chain:nothing is no Runnable or tool, but int"
    assert absent.message == "AttributeError: module 'chain' has no attribute 'absent'"
    assert "validation error" in (wrong.message or "")


def test_a_missing_library_is_not_the_skill_s_fault(ask: Ask, tmp_path: Path) -> None:
    """Where the interpreter of the sandbox lacks it, the reply says what to install."""
    absent = "No module named 'langchain_core'"
    (tmp_path / "bare.py").write_text(f'raise ModuleNotFoundError("{absent}")')
    (reply,) = ask(("bare:chain", QUERY), worker_trials=None)
    assert (reply.status, reply.failure_kind) == (Status.UNSUPPORTED, "library_missing")
    assert (reply.message or "").endswith("pip install 'skilleval[langchain]'")


def test_an_entrypoint_of_another_form_is_refused_before_the_first_trial(ask: Ask) -> None:
    """And in the trial, where nobody checked."""
    assert importlib.util.find_spec("langchain_core") is not None
    with pytest.raises(SetupError) as caught:
        _adapter().check(skill(entrypoint="python3 chain.py"))
    assert "expected module:attribute" in str(caught.value)
    _adapter().check(skill(entrypoint="chain:chain"))
    (reply,) = ask(("python3 chain.py", QUERY))
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "bad_entrypoint")


def test_results_of_several_shapes_become_json() -> None:
    """Mappings, tuples and texts in parts; a list that holds more than messages stays one."""
    from langchain_core.messages import AIMessage

    parts = AIMessage([{"type": "text", "text": "two "}, "parts"])
    image = AIMessage([{"type": "image_url", "image_url": "a"}])
    assert plain({"a": (1, parts), "b": None}) == {"a": [1, "two parts"], "b": None}
    assert plain(image) == [{"type": "image_url", "image_url": "a"}]
    assert plain([AIMessage("one"), AIMessage("two")]) == "two"
    assert plain({"messages": [AIMessage("one")], "n": 1}) == {"messages": "one", "n": 1}
    assert json.dumps(plain([])) == "[]"


def test_the_isolation_is_that_of_its_process() -> None:
    """As for python skills."""
    assert [isolation(_adapter()), isolation(_adapter(3))] == ["trial", "worker"]
