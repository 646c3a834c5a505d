"""The example skills, run as the programs they are."""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skilleval.adapters.base import Call
from skilleval.adapters.http import HttpAdapter
from skilleval.catalog.benchmarks import read_benchmark
from skilleval.catalog.skill_json import read_skill
from skilleval.config.compose import compose_settings
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.tasks import Task
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

ROOT = Path(__file__).parents[2]
SKILLS = ROOT / "examples" / "skills"
PYTHON_SKILLS = ["calculator", "flaky-calculator", "slow-calculator", "text-tools", "wrong-calculator"]
TASKS = read_benchmark(ROOT / "benchmarks" / "coding-easy").benchmark.tasks


def reply_to(skill: str, request: str, seed: int = 0) -> dict[str, Any]:
    """Send one request to a skill's program and read its one reply."""
    done = subprocess.run(
        [sys.executable, "skill.py"],
        input=request.encode(),
        cwd=SKILLS / skill,
        env={**os.environ, "SKILLEVAL_SEED": str(seed), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=True,
        timeout=120,
    )
    reply: dict[str, Any] = json.loads(done.stdout)
    return reply


def request_of(params: object, method: str = "invoke", request_id: int = 1) -> str:
    """Write a JSON-RPC request."""
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": request_id})


def answer_of(skill: str, params: object, seed: int = 0) -> Any:
    """Give what a skill says to the params."""
    return reply_to(skill, request_of(params), seed)["result"]["result"]


def replies_over_http(*inputs: Mapping[str, Any]) -> list[Reply]:
    """Ask the HTTP skill through the adapter that starts its server, with the shipped options."""
    skill = read_skill(SKILLS / "http-calculator")

    async def replies() -> list[Reply]:
        composed = compose_settings(["skill_set=examples"], project=SKILLS, user_file=SKILLS / "none.yaml")
        options = HttpAdapter.Options.parse(composed.settings.adapter.options["http"], where="test")
        adapter = HttpAdapter(options, NoSandbox(NoSandboxOptions(pass_env=())))
        calls = [
            Call(
                skill=skill,
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
        try:
            return list(await asyncio.gather(*(adapter.invoke(call) for call in calls)))
        finally:
            await adapter.aclose()

    return asyncio.run(replies())


def counted(skill: str, expression: str) -> int:
    """Count over a thousand seeds how often something is true within a skill's program."""
    count = (
        "import os, skill\n"
        "n = 0\n"
        "for seed in range(1000):\n"
        "    os.environ['SKILLEVAL_SEED'] = str(seed * 7919)\n"
        f"    n += {expression}\n"
        "print(n)"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", count], cwd=SKILLS / skill, capture_output=True, check=True
    )
    return int(done.stdout)


def is_right(answer: object, task: Task) -> bool:
    """Compare as a typed exact scorer does: numbers by value, never a number with a boolean."""
    expected = task.expected["value"]
    if isinstance(expected, bool) or isinstance(answer, bool):
        return answer is expected
    if isinstance(expected, int | float):
        return isinstance(answer, int | float) and math.isclose(answer, expected)
    return bool(answer == expected)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_calculator_answers_coding_easy(task: Task) -> None:
    """The calculator answers each task of coding-easy with the right value of the right type."""
    assert is_right(answer_of("calculator", task.input), task)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_wrong_calculator_is_always_wrong(task: Task) -> None:
    """The wrong calculator answers each task, with a value of the right type that is wrong."""
    answer = answer_of("wrong-calculator", task.input)
    assert not is_right(answer, task)
    assert isinstance(answer, bool) == isinstance(task.expected["value"], bool)
    assert isinstance(answer, str) == isinstance(task.expected["value"], str)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_flaky_calculator_follows_its_seed(task: Task) -> None:
    """The flaky calculator is right with seed 0, wrong with seed 6, and says the same again for a seed."""
    right, wrong = answer_of("flaky-calculator", task.input, 0), answer_of("flaky-calculator", task.input, 6)
    assert (is_right(right, task), is_right(wrong, task)) == (True, False)


def test_flaky_calculator_is_wrong_in_three_of_ten_calls() -> None:
    """Over a thousand seeds the flaky calculator is wrong in 27 to 33 % of calls."""
    assert 270 <= counted("flaky-calculator", "skill.is_wrong_turn()") <= 330


def test_slow_calculator_is_slow_in_one_of_ten_calls() -> None:
    """Over a thousand seeds 7 to 13 % of the pauses exceed the limit the skill sets itself; the others are short."""
    limit_ms = read_skill(SKILLS / "slow-calculator").adapter_options["timeout_ms"]
    assert 70 <= counted("slow-calculator", f"skill.pause_s() * 1000 > {limit_ms}") <= 130
    assert counted("slow-calculator", "0.02 <= skill.pause_s() <= 0.12 or skill.pause_s() == 1.5") == 1000


@pytest.mark.parametrize("task", TASKS[::3], ids=lambda task: task.id)
def test_slow_calculator_answers_coding_easy(task: Task) -> None:
    """It takes its time and is right."""
    assert is_right(answer_of("slow-calculator", task.input), task)


def test_http_calculator_answers_coding_easy() -> None:
    """All tasks at once are answered right by one server."""
    replies = replies_over_http(*(task.input for task in TASKS))
    assert [reply.status for reply in replies] == [Status.COMPLETED] * len(TASKS)
    answers = [json.loads(reply.output or "null")["result"] for reply in replies]
    assert all(is_right(answer, task) for answer, task in zip(answers, TASKS, strict=True))


@pytest.mark.parametrize("params", [{}, {"expression": "2 3"}, {"expression": "1 / 0"}, {"expression": "9 ** 9 ** 9"},
                                    {"expression": "open('x')"}, {"operation": "shout", "text": "a"}])  # fmt: skip
def test_http_calculator_refuses_what_it_cannot_do(params: Mapping[str, Any]) -> None:
    """What cannot be answered is a 422 that says why, not a crash and not a guess."""
    (reply,) = replies_over_http(params)
    assert (reply.status, reply.failure_kind, reply.retryable) == (Status.SKILL_ERROR, "http_4xx", False)
    assert (reply.message or "").startswith("HTTP 422 ")


@pytest.mark.parametrize(
    ("operation", "text", "result"),
    [
        ("word_count", " one  two\nthree ", 3),
        ("word_count", "", 0),
        ("slug", "  Crème brûlée: it's 100 % straße! ", "creme-brulee-its-100-strasse"),
        ("slug", "…", ""),
        ("title_case", "the wind in the willows", "The Wind in the Willows"),
        ("title_case", "what is it for", "What Is It For"),
        ("title_case", "the NASA of old", "The NASA of Old"),
        ("initials", "Ada  lovelace", "AL"),
        ("longest_word", "so, (harbour) harvest!", "harbour"),
        ("longest_word", "", ""),
        ("reverse", "low tide", "edit wol"),
        ("is_palindrome", "Never odd or even", True),
        ("is_palindrome", "Never odd", False),
    ],
)
def test_text_tools_work_on_texts(operation: str, text: str, result: object) -> None:
    """Each operation gives what its name says."""
    assert answer_of("text-tools", {"operation": operation, "text": text}) == result


@pytest.mark.parametrize(
    "params",
    [{}, [], {"expression": "1 + 1"}, {"operation": "slug"}, {"operation": [], "text": "a"}],
)
def test_text_tools_refuse_everything_else(params: object) -> None:
    """What is no operation on a text is a JSON-RPC error."""
    assert reply_to("text-tools", request_of(params))["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("2 ** 3 ** 2", 512),
        ("2 ^ 10", 1024),
        ("-3!", -6),
        ("3!!", 720),
        ("2 ** 3!", 64),
        ("(1 + 2)! ^ 2", 36),
        ("4 ! + 1", 25),
        ("7 // 2 + 7 % 2", 4),
        (" 1.5 * 2", 3.0),
        ("0!", 1),
    ],
)
def test_calculator_keeps_the_rules_of_arithmetic(expression: str, value: float) -> None:
    """Precedence, signs, powers and factorials are worked out as mathematics has it."""
    assert answer_of("calculator", {"expression": expression}) == value


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, -32602),
        ([], -32602),
        ({"expression": "2 3"}, -32602),
        ({"expression": "5! = 120"}, -32602),
        ({"expression": "!"}, -32602),
        ({"expression": "True + 1"}, -32602),
        ({"expression": "1j * 1j"}, -32602),
        ({"expression": "__import__('os').getcwd()"}, -32602),
        ({"expression": "(" * 900}, -32602),
        ({"expression": "1" * 1001}, -32602),
        ({"operation": "shout", "text": "a"}, -32602),
        ({"operation": "reverse"}, -32602),
        ({"expression": "1 / 0"}, -32000),
        ({"expression": "9 ** 9 ** 9"}, -32000),
        ({"expression": "(-8) ** 0.5"}, -32000),
        ({"expression": "1e308 * 10"}, -32000),
        ({"expression": "9**3000 * 9**3000"}, -32000),
        ({"expression": "501!"}, -32000),
        ({"expression": "1.5!"}, -32000),
    ],
)
def test_calculator_refuses_what_it_cannot_do(params: object, code: int) -> None:
    """What cannot be answered is a JSON-RPC error with the right code, not a crash and not a guess."""
    assert reply_to("calculator", request_of(params))["error"]["code"] == code


def test_calculator_reports_bad_requests() -> None:
    """Text that is no JSON, a list and an unknown method have the error codes of JSON-RPC."""
    assert reply_to("calculator", "{")["error"]["code"] == -32700
    assert reply_to("calculator", "[]")["error"]["code"] == -32600
    assert reply_to("calculator", request_of({}, "sing"))["error"]["code"] == -32601


@pytest.mark.parametrize("skill", PYTHON_SKILLS)
def test_every_example_can_be_read_and_is_healthy(skill: str) -> None:
    """Each example is a valid subprocess skill whose program answers `healthcheck` with the id it was sent."""
    read = read_skill(SKILLS / skill)
    assert (read.id, read.adapter, read.entrypoint) == (skill, "subprocess", "python3 skill.py")
    assert reply_to(skill, request_of({}, "healthcheck", 7)) == {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {"status": "ok"},
    }


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("", True), ("x", True), ("Madam, I'm Adam!", True), ("ab", False), ("Straße", False)],
)
def test_palindromes_ignore_case_and_punctuation(text: str, *, verdict: bool) -> None:
    """Only letters and digits count, in either case."""
    assert answer_of("calculator", {"operation": "is_palindrome", "text": text}) is verdict


def test_readme_names_every_shipped_example_and_benchmark() -> None:
    """Each skill and each benchmark has its line in the README beside it."""
    for folder, marker in ((SKILLS, "skill.json"), (ROOT / "benchmarks", "benchmark.json")):
        readme = (folder / "README.md").read_text(encoding="utf-8")
        names = [path.parent.name for path in folder.glob(f"*/{marker}")]
        assert names
        assert all(f"| `{name}` |" in readme for name in names)
