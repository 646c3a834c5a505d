"""The example skills, run as the programs they are."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.benchmarks import read_benchmark
from skilleval.catalog.skill_json import read_skill
from skilleval.domain import Task

ROOT = Path(__file__).parents[2]
SKILLS = ROOT / "examples" / "skills"
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
        timeout=20,
    )
    reply: dict[str, Any] = json.loads(done.stdout)
    return reply


def request_of(params: object, method: str = "invoke", request_id: int = 1) -> str:
    """Write a JSON-RPC request."""
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": request_id})


def answer_of(skill: str, params: object, seed: int = 0) -> Any:
    """Give what a skill says to the params."""
    return reply_to(skill, request_of(params), seed)["result"]["result"]


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
    count = (
        "import os, skill\n"
        "n = 0\n"
        "for seed in range(1000):\n"
        "    os.environ['SKILLEVAL_SEED'] = str(seed * 7919)\n"
        "    n += skill.is_wrong_turn()\n"
        "print(n)"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", count], cwd=SKILLS / "flaky-calculator", capture_output=True, check=True
    )
    assert 270 <= int(done.stdout) <= 330


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


@pytest.mark.parametrize("skill", ["calculator", "flaky-calculator", "wrong-calculator"])
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
