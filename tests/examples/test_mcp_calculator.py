"""The example skill that is an MCP server, called as a run calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from examples.test_skills import SKILLS, TASKS, is_right
from mcp_servers import replies_of

from skilleval.adapters.base import Call
from skilleval.catalog.skill_json import read_skill
from skilleval.domain.attempts import Reply, Status

SKILL = read_skill(SKILLS / "mcp-calculator")


def _replies(*inputs: Any) -> list[Reply]:
    calls = [
        Call(
            skill=SKILL,
            task_id=str(index),
            input=given,
            repeat=0,
            seed=0,
            try_index=0,
            timeout_s=20.0,
            trial_id="",
        )
        for index, given in enumerate(inputs)
    ]
    return replies_of(calls, worker_trials=len(calls))


def test_mcp_calculator_answers_coding_easy() -> None:
    """One server answers each task of coding-easy with the right value of the right type."""
    for task, reply in zip(TASKS, _replies(*(task.input for task in TASKS)), strict=True):
        assert is_right(json.loads(reply.output or "null")["result"], task), task.id


def test_mcp_calculator_says_what_it_cannot_do() -> None:
    """A wrong input is an error of the tool; the server lives on."""
    wrong, unknown, right = _replies({"expression": "2 +"}, {"query": "hi"}, {"expression": "1 + 2"})
    assert [reply.failure_kind for reply in (wrong, unknown)] == ["tool_error", "tool_error"]
    assert unknown.message == "give an expression, or an operation (reverse, is_palindrome) and a text"
    assert (right.status, right.output) == (Status.COMPLETED, '{"result":3}')


def test_the_server_stands_alone() -> None:
    """It imports nothing that is not part of Python."""
    program = Path(SKILL.folder, "server.py").read_text(encoding="utf-8")
    imported = {line.split()[1] for line in program.splitlines() if line.startswith(("import ", "from "))}
    assert imported == {"__future__", "ast", "json", "math", "operator", "re", "sys"}
