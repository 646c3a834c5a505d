"""The example skill in JavaScript, run by Node.js for real."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest

from skilleval.adapters.base import Call
from skilleval.adapters.subprocess_rpc import SubprocessAdapter, SubprocessOptions
from skilleval.catalog.benchmarks import read_benchmark
from skilleval.catalog.skill_json import read_skill
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.tasks import Task
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

pytestmark = pytest.mark.node

ROOT = Path(__file__).parents[2]
TASKS = read_benchmark(ROOT / "benchmarks" / "coding-easy").benchmark.tasks


def reply_to(params: Any) -> Reply:
    """Ask the skill as a run does."""
    call = Call(
        skill=read_skill(ROOT / "examples" / "skills" / "node-tools"),
        task_id="t1",
        input=params,
        repeat=0,
        seed=0,
        try_index=0,
        timeout_s=20.0,
        trial_id="",
    )
    sandbox = NoSandbox(NoSandboxOptions(pass_env=()))
    return asyncio.run(SubprocessAdapter(SubprocessOptions(max_output_bytes=100_000), sandbox).invoke(call))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_node_tools_answer_coding_easy(task: Task) -> None:
    """Each task of coding-easy is answered with the right value of the right type."""
    reply = reply_to(task.input)
    assert reply.status is Status.COMPLETED, reply
    answer, expected = json.loads(reply.output or "null")["result"], task.expected["value"]
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        assert math.isclose(answer, expected)
    else:
        assert answer == expected
        assert type(answer) is type(expected)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 ** 3 ** 2", 512),
        ("-3!", -6),
        ("2 ** -1", 0.5),
        ("-2 ** 2", -4),
        ("7 % 4 * 2", 6),
        (" 1.5*2 ", 3),
        ("2--3", 5),
    ],
)
def test_node_tools_keep_the_rules_of_arithmetic(expression: str, value: float) -> None:
    """Precedence, signs, powers and factorials are worked out as mathematics has it."""
    assert json.loads(reply_to({"expression": expression}).output or "null") == {"result": value}


@pytest.mark.parametrize(
    "params",
    [{}, {"expression": "2 3"}, {"expression": "1 / 0"}, {"expression": "(1"}, {"expression": "process.exit(3)"},
     {"expression": "101!"}, {"operation": "shout", "text": "a"}, {"operation": "reverse"}],
)  # fmt: skip
def test_node_tools_refuse_what_they_cannot_do(params: dict[str, str]) -> None:
    """What cannot be answered is a JSON-RPC error with its reason, not a crash and not a guess."""
    reply = reply_to(params)
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "rpc_error")
    assert (reply.message or "").startswith("JSON-RPC error -32602: ")
