from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from samples import skill

from skilleval.adapters import ADAPTERS
from skilleval.adapters.base import Adapter, Call
from skilleval.domain import Reply, Status
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions
from skilleval.strict import StrictModel

ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"sum": 3}}


def _prepared(kind: str, folder: Path) -> tuple[dict[str, Any], str]:
    """Give the options of an adapter and an entrypoint behind which the sum 3 is answered to any task `t1`."""
    if kind == "replay":
        (folder / "recorded.jsonl").write_text('{"task_id":"t1","output":{"sum":3}}\n')
        return {"path": str(folder / "recorded.jsonl")}, "none"
    (folder / "answer.json").write_text(json.dumps(ANSWER))
    return {"max_output_bytes": 1000}, "cat answer.json"


def _call(folder: Path, entrypoint: str, task_id: str = "t1") -> Call:
    return Call(
        skill=skill(entrypoint=entrypoint, folder=folder),
        task_id=task_id,
        input={},
        repeat=0,
        seed=0,
        try_index=0,
        timeout_s=20.0,
        trial_id="0" * 32,
    )


def _built(kind: str, options: dict[str, Any]) -> Adapter:
    part = ADAPTERS[kind]
    sandbox = NoSandbox(NoSandboxOptions(pass_env=()))
    adapter: Adapter = part(part.Options.parse(options, where="test"), sandbox)
    return adapter


@pytest.mark.parametrize("kind", ADAPTERS)
def test_an_adapter_has_strict_options_without_defaults(kind: str) -> None:
    """Defaults live in `conf/`: every option must be given."""
    options = ADAPTERS[kind].Options
    assert issubclass(options, StrictModel)
    assert all(field.is_required() for field in options.model_fields.values())


@pytest.mark.parametrize("kind", ADAPTERS)
def test_an_adapter_answers_with_compact_json(kind: str, tmp_path: Path) -> None:
    """Driven by options and a sandbox, an adapter gives the output of the skill and calls itself by its kind."""
    options, entrypoint = _prepared(kind, tmp_path)

    async def reply() -> Reply:
        adapter = _built(kind, options)
        assert adapter.kind == kind
        answer = await adapter.invoke(_call(tmp_path, entrypoint))
        await adapter.aclose()
        return answer

    answer = asyncio.run(reply())
    assert (answer.status, answer.output, answer.failure_kind) == (Status.COMPLETED, '{"sum":3}', None)


@pytest.mark.parametrize("kind", ADAPTERS)
def test_an_adapter_reports_failure_as_a_reply(kind: str, tmp_path: Path) -> None:
    """What cannot be answered is a reply with a cause and a sentence, not an exception."""
    options, _ = _prepared(kind, tmp_path)
    call = _call(tmp_path, "surely-no-such-program", task_id="t2")
    answer = asyncio.run(_built(kind, options).invoke(call))
    assert answer.status is Status.UNSUPPORTED
    assert answer.output is None
    assert answer.failure_kind
    assert answer.message
