from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from mcp_servers import PYTHON, write_scripted
from samples import skill
from scripted_judges import ScriptedJudge

from skilleval.adapters import ADAPTERS
from skilleval.adapters.base import Adapter, Call
from skilleval.config.compose import compose_settings
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Instructions
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions
from skilleval.strict import StrictModel

ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"sum": 3}}
INSTRUCTIONS = "SKILL.md"
GIVEN = {
    "custom": ["adapter.adapter_class=custom_adapters:Sums"],
    "replay": ["adapter.path=recorded.jsonl"],
}
"""What only a user can give."""

SAID = '{"sum":3}'
"""What is answered; of a model it is a text like any other."""

WRONG = {
    "chat": ("no instructions", Status.UNSUPPORTED),
    "custom": ("nothing", Status.UNSUPPORTED),
    "http": ("ftp://127.0.0.1/", Status.UNSUPPORTED),
    "langchain": ("skill:surely_no_such_chain", Status.SKILL_ERROR),
    "mcp": ("surely-no-such-program", Status.UNSUPPORTED),
    "python": ("skill:surely_no_such_function", Status.SKILL_ERROR),
    "replay": ("none", Status.UNSUPPORTED),
    "subprocess": ("surely-no-such-program", Status.UNSUPPORTED),
}
"""Kind → an entrypoint behind which there is no answer, and the status that says so."""


class Summing(BaseHTTPRequestHandler):
    """Answers every request with the sum 3."""

    def answer(self) -> None:
        """Read the request to its end and answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"sum": 3}')

    do_POST = answer  # noqa: N815 - the name that http.server calls

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    """Give the address of a server that answers with the sum 3."""
    server = HTTPServer(("127.0.0.1", 0), Summing)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def entrypoints(tmp_path: Path, address: str) -> dict[str, str]:
    """Give for each kind an entrypoint behind which the sum 3 is answered to any task `t1`."""
    (tmp_path / "recorded.jsonl").write_text('{"task_id":"t1","output":{"sum":3}}\n')
    (tmp_path / "answer.json").write_text(json.dumps(ANSWER))
    (tmp_path / "skill.py").write_text('def answer(value):\n    return {"sum": 3}\n')
    (tmp_path / "chain.py").write_text(
        "from langchain_core.runnables import RunnableLambda\n"
        'chain = RunnableLambda(lambda given: {"sum": 3})\n'
    )
    write_scripted(tmp_path, 'say(id=id, result=text("", structuredContent={"sum": 3}))')
    return {
        "chat": INSTRUCTIONS,
        "custom": "1 + 2",
        "http": address,
        "langchain": "chain:chain",
        "mcp": PYTHON,
        "python": "skill:answer",
        "replay": "none",
        "subprocess": "cat answer.json",
    }


def _call(folder: Path, entrypoint: str, task_id: str = "t1") -> Call:
    told = Instructions(body="Add them.") if entrypoint == INSTRUCTIONS else None
    return Call(
        skill=replace(skill(entrypoint=entrypoint, folder=folder), instructions=told),
        task_id=task_id,
        input={},
        repeat=0,
        seed=0,
        try_index=0,
        timeout_s=20.0,
        trial_id="0" * 32,
    )


def _built(kind: str, folder: Path) -> Adapter:
    """Build an adapter from its file in `conf/`, as a run does."""
    composed = compose_settings(
        ["skill_set=examples", f"adapter={kind}", *GIVEN.get(kind, [])],
        project=folder,
        user_file=folder / "none.yaml",
    )
    options = dict(composed.settings.adapter.options)
    if kind == "replay":
        options["path"] = str(folder / "recorded.jsonl")
    part = ADAPTERS[kind]
    needs_model = getattr(part, "needs_model", False)
    around = ScriptedJudge(SAID) if needs_model else NoSandbox(NoSandboxOptions(pass_env=()))
    adapter: Adapter = part(part.Options.parse(options, where="test"), around)
    return adapter


def _reply(kind: str, call: Call) -> Reply:
    async def reply() -> Reply:
        adapter = _built(kind, call.skill.folder)
        assert adapter.kind == kind
        answer = await adapter.invoke(call)
        await adapter.aclose()
        return answer

    return asyncio.run(reply())


@pytest.mark.parametrize("kind", ADAPTERS)
def test_an_adapter_has_strict_options_without_defaults(kind: str) -> None:
    """Defaults live in `conf/`: every option must be given."""
    options = ADAPTERS[kind].Options
    assert issubclass(options, StrictModel)
    assert all(field.is_required() for field in options.model_fields.values())


@pytest.mark.parametrize("kind", ADAPTERS)
def test_an_adapter_answers_with_compact_json(kind: str, tmp_path: Path, entrypoints: dict[str, str]) -> None:
    """Driven by its shipped options and a sandbox, an adapter gives the output of the skill."""
    answer = _reply(kind, _call(tmp_path, entrypoints[kind]))
    said = json.dumps(SAID) if kind == "chat" else SAID
    assert (answer.status, answer.output, answer.failure_kind) == (Status.COMPLETED, said, None)


@pytest.mark.parametrize("kind", ADAPTERS)
def test_an_adapter_reports_failure_as_a_reply(
    kind: str, tmp_path: Path, entrypoints: dict[str, str]
) -> None:
    """What cannot be answered is a reply with a cause and a sentence, not an exception."""
    assert entrypoints
    entrypoint, status = WRONG[kind]
    answer = _reply(kind, _call(tmp_path, entrypoint, task_id="t2"))
    assert answer.status is status
    assert answer.output is None
    assert answer.failure_kind
    assert answer.message


def test_auto_has_a_block_for_every_adapter_that_calls_something(tmp_path: Path) -> None:
    """Under `adapter=auto` each kind finds the options of its own file; only recordings must be asked for."""
    composed = compose_settings(["skill_set=examples"], project=tmp_path, user_file=tmp_path / "none.yaml")
    blocks: dict[str, Any] = dict(composed.settings.adapter.options)
    assert set(blocks) == set(ADAPTERS) - {"replay"}
    for kind, options in blocks.items():
        assert ADAPTERS[kind].Options.parse(options, where="test")
